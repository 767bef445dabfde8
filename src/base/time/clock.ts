import { abortErrorOf, isAbortError } from './abort-error.ts';
import type { AbortNotice } from './abort-notice.ts';

export interface Timer {
  /** Prevents the call of the function; has no effect after the call. */
  cancel(): void;
}

/** The time that all rooms use: that of the system is {@link systemClock}; tests and simulations have their own. */
export interface Clock {
  /** Milliseconds since the epoch; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since some moment, for durations; never goes back. */
  monotonic(): number;
  setTimer(delayMs: number, fn: () => void): Timer;
  /** Calls `fn` in the next turn of the event loop, after I/O that is ready had its chance. */
  defer(fn: () => void): void;
}

/** The original functions, taken when the program was loaded: a test that later replaces timers or Date must not replace these. */
const { setTimeout, clearTimeout, setImmediate, performance, Date } = globalThis;
const sinceStart = performance.now.bind(performance);
const sinceEpoch = Date.now.bind(Date);

/** Node turns longer delays into 1 ms. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout;

  constructor(delayMs: number, fn: () => void) {
    this.#handle = this.#arm(delayMs, fn);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(left: number, fn: () => void): NodeJS.Timeout {
    if (left <= LONGEST_TIMEOUT) return setTimeout(fn, left);
    return setTimeout(() => {
      this.#handle = this.#arm(left - LONGEST_TIMEOUT, fn);
    }, LONGEST_TIMEOUT);
  }
}

export const systemClock: Clock = {
  now: () => sinceEpoch(),
  monotonic: () => sinceStart(),
  setTimer: (delayMs, fn) => new SystemTimer(Math.max(0, delayMs), fn),
  defer(fn) {
    setImmediate(fn);
  },
};

/** Resolves after `ms`. Rejects with an AbortError as soon as `signal` is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortNotice): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortErrorOf(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      if (signal !== undefined) reject(abortErrorOf(signal));
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortNotice): Promise<void> {
  return sleep(clock, ms, signal).catch((error: unknown) => {
    if (!isAbortError(error)) throw error;
  });
}
