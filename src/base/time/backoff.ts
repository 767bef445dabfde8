import type { Clock } from './clock.ts';
import type { Random } from '../random/random.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  /** The largest step before jitter. */
  readonly capMs: number;
  readonly factor?: number;
  /** Each delay is stretched by a random part of itself up to this fraction; 0 = none, 1 = up to double. */
  readonly jitter?: number;
  /** Needed when jitter is not 0. */
  readonly random?: Random;
  /** Start over when the last delay was asked for longer ago than this. */
  readonly resetAfter?: { readonly clock: Clock; readonly ms: number };
}

export interface Backoff {
  /** Milliseconds to wait before the next attempt; grows with every call. */
  next(): number;
  reset(): void;
  /** Calls of `next` since the start or the last reset. */
  readonly attempts: number;
}

/** base, base*factor, base*factor^2, ... up to the cap, each with jitter. */
export function exponentialBackoff(options: BackoffOptions): Backoff {
  const { baseMs, capMs, factor = 2, jitter = 0, random, resetAfter } = options;
  let attempts = 0;
  let step = baseMs;
  let last: number | undefined;
  const reset = (): void => {
    attempts = 0;
    step = baseMs;
  };
  return {
    next() {
      if (resetAfter !== undefined) {
        const now = resetAfter.clock.monotonic();
        if (last !== undefined && now - last > resetAfter.ms) reset();
        last = now;
      }
      const delay = Math.min(step, capMs);
      step = Math.min(step * factor, capMs);
      attempts++;
      return jitter > 0 && random !== undefined ? delay * (1 + random.float() * jitter) : delay;
    },
    reset,
    get attempts() {
      return attempts;
    },
  };
}
