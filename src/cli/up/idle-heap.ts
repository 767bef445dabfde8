import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock, Timer } from '../../base/time/clock.ts';

/** The memory of this process that the JavaScript engine manages. */
export interface EngineHeap {
  /** CPU time of all threads so far, ms. */
  cpuMs(): number;
  /** The memory that the engine holds from the system, in use or not, in bytes. */
  committedBytes(): number;
  /**
   * With `speed`, a full collection begins when the heap has grown to three times the size after the last one, instead of one and a half
   * times. With `small`, due collections happen sooner, in small steps, and release unused memory.
   */
  prefer(what: 'speed' | 'small'): void;
  /** Whether the young generation may grow beyond its first size of 1 MiB. It never becomes smaller. */
  letYoungGrow(allowed: boolean): void;
}

/**
 * V8 has a memory reducer for idle programs, but treats a program that allocates nothing like one that continues to allocate, and waits for
 * 100 s. With the preference for size, it starts at its next check, 8 s after the previous one.
 */
export const engineHeap: EngineHeap = {
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  committedBytes: () => getHeapStatistics().total_heap_size,
  prefer(what) {
    setFlagsFromString(what === 'small' ? '--optimize-for-size' : '--no-optimize-for-size');
    setFlagsFromString(`--heap-growing-percent=${what === 'small' ? ENGINES_CHOICE : GROWING_PERCENT}`);
  },
  letYoungGrow(allowed) {
    setFlagsFromString(`--semi-space-growth-factor=${allowed ? 2 : 1}`);
  },
};

/**
 * A server creates garbage that lives for some thousand writes (events that watches may still need), so a full collection finds little, and
 * takes 30 ms in steps that delay requests: every 3 s at 1,200 writes per second by the engine's default, every 10 s and more with this
 * setting.
 */
const GROWING_PERCENT = 200;
const ENGINES_CHOICE = 0;

const LOOK_MS = 1000;

/** Number of first checks that do not count as work, because the program is still starting. */
const LOOKS_AT_START = 3;

/** Number of consecutive checks with work before the young generation may grow. Work that the start defers is done within one. */
const LOOKS_AT_WORK = 2;

/** Number of consecutive idle checks before memory is released. */
const LOOKS_AT_REST = 5;

/** CPU share below which the program is idle; above it, there is work beyond the collection itself. */
const RESTS_BELOW = 0.1;
const WORKS_ABOVE = 0.5;

/** Duration of the preference: the reducer's 8 s, and its collections. */
const SMALL_MS = 12_000;

/** Minimum growth of the heap that is worth a release, because the engine must then learn the heap's size again. */
const WORTH_BYTES = 64 << 20;

/**
 * Returns memory to the system after a burst of work, in which garbage grows the heap to several times the live size. It is requested once
 * after each burst, after five idle seconds, and withdrawn when work begins, because under load the preference costs 50 % more CPU.
 *
 * The young generation keeps its first size until there is work beyond the start: a start alone would let it grow by 9 MiB, which an idle
 * server would then hold for ever.
 */
export class IdleHeap {
  readonly #clock: Clock;
  readonly #heap: EngineHeap;
  #state: 'stopped' | 'looking' | 'giving back' = 'stopped';
  #timer: Timer | undefined;
  #cpuMs = 0;
  #lookedAt = 0;
  #looksAtRest = 0;
  #looksSoFar = 0;
  #looksAtWork = 0;
  #youngMayGrow = false;
  #until = 0;
  /** Committed bytes when memory was last returned. */
  #floor = 0;

  constructor({ clock, heap }: { readonly clock: Clock; readonly heap: EngineHeap }) {
    this.#clock = clock;
    this.#heap = heap;
  }

  /** Begins with the start of the program. */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'looking';
    this.#heap.prefer('speed');
    this.#heap.letYoungGrow(false);
    this.#youngMayGrow = false;
    this.#looksSoFar = 0;
    this.#looksAtWork = 0;
    this.#cpuMs = this.#heap.cpuMs();
    this.#lookedAt = this.#clock.monotonic();
    this.#lookLater();
  }

  stop(): void {
    if (this.#state === 'giving back') this.#heap.prefer('speed');
    if (this.#state !== 'stopped') this.#heap.letYoungGrow(true);
    this.#state = 'stopped';
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer = this.#clock.setTimer(LOOK_MS, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const now = this.#clock.monotonic();
    const cpuMs = this.#heap.cpuMs();
    const load = (cpuMs - this.#cpuMs) / (now - this.#lookedAt);
    this.#cpuMs = cpuMs;
    this.#lookedAt = now;
    this.#looksSoFar++;
    this.#looksAtWork = load >= RESTS_BELOW && this.#looksSoFar > LOOKS_AT_START ? this.#looksAtWork + 1 : 0;
    if (!this.#youngMayGrow && this.#looksAtWork === LOOKS_AT_WORK) {
      this.#youngMayGrow = true;
      this.#heap.letYoungGrow(true);
    }
    if (this.#state === 'giving back') {
      if (load > WORKS_ABOVE || now >= this.#until) this.#endGivingBack();
      return;
    }
    this.#looksAtRest = load < RESTS_BELOW ? this.#looksAtRest + 1 : 0;
    if (this.#looksAtRest < LOOKS_AT_REST || this.#heap.committedBytes() < this.#floor + WORTH_BYTES) return;
    this.#state = 'giving back';
    this.#until = now + SMALL_MS;
    this.#heap.prefer('small');
  }

  #endGivingBack(): void {
    this.#state = 'looking';
    this.#looksAtRest = 0;
    this.#heap.prefer('speed');
    this.#floor = this.#heap.committedBytes();
  }
}
