import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock, Timer } from '../../base/time/clock.ts';

/** The memory of this process, as far as it is the engine's. */
export interface EngineHeap {
  /** Time all threads have computed so far, ms. */
  cpuMs(): number;
  /** The memory that the engine has taken from the system, in use or not, in bytes. */
  committedBytes(): number;
  /**
   * `speed`: whole collections begin when the heap has grown to three times of what the last one kept, instead of one and a half times.
   * `small`: those that are due anyway happen sooner, in small steps, and give unused memory back.
   */
  prefer(what: 'speed' | 'small'): void;
}

/**
 * V8 has a reducer of memory for programs at rest, but takes one that allocates nothing for one that goes on allocating as before, and
 * lets it wait for 100 s. With the preference for size, it begins at its next check, 8 s after the one before.
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
};

/**
 * A server makes garbage that lives for some thousand writes (events that watches may still want), so a whole collection finds little, and
 * takes 30 ms in steps that requests wait for: every 3 s under 1,200 writes a second by the engine's own choice, every 10 s and more by this.
 */
const GROWING_PERCENT = 200;
const ENGINES_CHOICE = 0;

const LOOK_MS = 1000;

/** Checks at rest in a row before anything happens. */
const LOOKS_AT_REST = 5;

/** Share of a processor: below it the program rests; above it there is work other than the collection itself. */
const RESTS_BELOW = 0.1;
const WORKS_ABOVE = 0.5;

/** The reducer's 8 s, and its collections. */
const SMALL_MS = 12_000;

/** By which the heap has to have grown to be worth it: the engine has to learn anew how large it may be, as after a start. */
const WORTH_BYTES = 64 << 20;

/**
 * Returns memory to the system after a burst of work: a heap grows with the garbage of the work to several times the kept size. It is requested
 * once after each burst, when the program has been at rest for five seconds, and taken back as soon as there is work again: under load the
 * preference costs half as much processor again.
 */
export class IdleHeap {
  readonly #clock: Clock;
  readonly #heap: EngineHeap;
  #state: 'stopped' | 'looking' | 'giving back' = 'stopped';
  #timer: Timer | undefined;
  #cpuMs = 0;
  #lookedAt = 0;
  #looksAtRest = 0;
  #until = 0;
  /** Committed bytes when memory was returned last. */
  #floor = 0;

  constructor({ clock, heap }: { readonly clock: Clock; readonly heap: EngineHeap }) {
    this.#clock = clock;
    this.#heap = heap;
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'looking';
    this.#heap.prefer('speed');
    this.#cpuMs = this.#heap.cpuMs();
    this.#lookedAt = this.#clock.monotonic();
    this.#lookLater();
  }

  stop(): void {
    if (this.#state === 'giving back') this.#heap.prefer('speed');
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
