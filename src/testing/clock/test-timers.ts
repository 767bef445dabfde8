import { inspect } from 'node:util';
import { abortErrorOf } from '../../base/time/abort-error.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';

/** Maximum number of timers that wait. More of them come from a loop that sets timers without end. */
const MAX_TIMERS = 100_000;

/** A timer on the clock of a cluster, to be passed to `clearTimeout`. */
export interface TestTimer {
  /** Milliseconds since the epoch, on the clock of the cluster. */
  readonly dueAt: number;
}

/**
 * Timers of the test and of the operator under test. They end with the cluster: a timer that has not come due by then never does, and a
 * sleep that is under way never ends.
 */
export class TestTimers {
  readonly #clock: Clock;
  readonly #timers = new Map<TestTimer, Timer>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Timers that have not come due. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the first of them; undefined without any. */
  get nextInMs(): number | undefined {
    if (this.#timers.size === 0) return undefined;
    let first = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#timers.keys()) first = Math.min(first, dueAt);
    return Math.max(0, first - this.#clock.now());
  }

  readonly set = (fn: () => void, ms = 0): TestTimer => {
    if (typeof fn !== 'function') throw new TypeError(`a timer takes a function, not ${inspect(fn)}`);
    if (!Number.isFinite(ms)) throw new RangeError(`a delay is a finite number of milliseconds, not ${inspect(ms)}`);
    if (this.#timers.size >= MAX_TIMERS) throw new RangeError(`more than ${MAX_TIMERS} timers at once`);
    const delay = Math.max(0, ms);
    const timer: TestTimer = { dueAt: this.#clock.now() + delay };
    if (this.#closed) return timer;
    const due = (): void => {
      this.#timers.delete(timer);
      fn();
    };
    this.#timers.set(timer, this.#clock.setTimer(delay, due));
    return timer;
  };

  readonly clear = (timer: TestTimer | undefined): void => {
    if (timer === undefined) return;
    this.#timers.get(timer)?.cancel();
    this.#timers.delete(timer);
  };

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortErrorOf(signal));
        return;
      }
      const onAbort = (): void => {
        this.clear(timer);
        if (signal !== undefined) reject(abortErrorOf(signal));
      };
      const timer = this.set(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    });

  /** Cancels all timers, and each timer that is set from now on. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
