import { assert } from '../errors/assert.ts';
import type { Clock, Timer } from './clock.ts';
import { Heap } from '../collections/heap.ts';

/** The original function, taken when the program was loaded, see `clock.ts`. */
const { setImmediate: turn } = globalThis;

interface Due {
  readonly at: number;
  readonly fn: () => void;
}

/**
 * Time that moves only when a test moves it. Timers fire in order of their due time, equal ones in the order they were set;
 * deferred functions run before the next timer, as in Node's event loop.
 */
export class FakeClock implements Clock {
  readonly #start: number;
  #elapsed = 0;
  readonly #timers = new Heap<Due>((a, b) => a.at - b.at);
  #deferred: (() => void)[] = [];

  /** 2026-01-01T00:00:00Z unless given. */
  constructor(startMs = 1_767_225_600_000) {
    this.#start = startMs;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    const handle = this.#timers.push({ at: this.#elapsed + Math.max(0, delayMs), fn });
    return { cancel: () => void this.#timers.remove(handle) };
  }

  defer(fn: () => void): void {
    this.#deferred.push(fn);
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  get pendingDeferred(): number {
    return this.#deferred.length;
  }

  /** Milliseconds until the earliest timer, or undefined. */
  get nextTimerInMs(): number | undefined {
    const due = this.#timers.peek();
    return due === undefined ? undefined : due.at - this.#elapsed;
  }

  /** Runs the work that was deferred so far; work that this defers in turn waits for the next call. */
  runDeferred(): void {
    const now = this.#deferred;
    this.#deferred = [];
    for (const fn of now) fn();
  }

  /** Moves time forward and fires what comes due, including timers set meanwhile. Promises do not settle in between. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    this.#drain();
    for (;;) {
      if (!this.#fireNext(end)) break;
      this.#drain();
    }
    this.#elapsed = end;
  }

  /** Like {@link advance}, but lets promises settle after every timer, so that code that awaits can set its next one. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.settle();
    while (this.#fireNext(end)) await this.settle();
    this.#elapsed = end;
    await this.settle();
  }

  /** Lets promises and deferred functions run until nothing is left to do at this moment of fake time. */
  async settle(): Promise<void> {
    for (let quiet = 0, rounds = 0; quiet < 2; rounds++) {
      assert(rounds < 100_000, 'the program never comes to rest');
      await new Promise<void>((resolve) => {
        turn(resolve);
      });
      quiet = this.#deferred.length === 0 ? quiet + 1 : 0;
      this.runDeferred();
    }
  }

  #drain(): void {
    for (let rounds = 0; this.#deferred.length > 0; rounds++) {
      assert(rounds < 100_000, 'deferred functions defer without end');
      this.runDeferred();
    }
  }

  #fireNext(end: number): boolean {
    const due = this.#timers.peek();
    if (due === undefined || due.at > end) return false;
    this.#timers.pop();
    this.#elapsed = Math.max(this.#elapsed, due.at);
    due.fn();
    return true;
  }
}
