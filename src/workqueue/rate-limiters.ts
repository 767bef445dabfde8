import { assert } from '../base/errors/assert.ts';
import type { Clock } from '../base/time/clock.ts';

/** Determines the delay of a failed item (client-go `default_rate_limiters.go`). */
export interface RateLimiter<T> {
  /** Counts a failure and returns the delay in milliseconds. */
  when(item: T): number;
  /** Cancels this many delays, so that no later item waits behind them (x/time/rate `Reservation.Cancel`). The failures still count. */
  cancelled(count: number): void;
  /** The item succeeded: its failures no longer count. */
  forget(item: T): void;
  /** Failures counted since the item was last forgotten. */
  numRequeues(item: T): number;
}

export interface ItemExponentialOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /** Maximum number of items whose failures are remembered; beyond it, the item that failed first starts over. */
  readonly bound?: number;
}

/** A delay of base * 2^failures for each item separately, up to the cap. */
export function itemExponentialFailureRateLimiter<T>(options: ItemExponentialOptions): RateLimiter<T> {
  const { baseMs, capMs, bound = 1_000_000 } = options;
  assert(bound >= 1, 'room for one item');
  const failures = new Map<T, number>();
  return {
    when(item) {
      const n = failures.get(item) ?? 0;
      if (n === 0 && failures.size >= bound) failures.delete(failures.keys().next().value as T);
      failures.set(item, n + 1);
      return Math.min(baseMs * 2 ** n, capMs);
    },
    cancelled() {},
    forget: (item) => void failures.delete(item),
    numRequeues: (item) => failures.get(item) ?? 0,
  };
}

export interface BucketOptions {
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly clock: Clock;
}

/**
 * One token bucket for all items: the first `burst` items pass without delay, then `ratePerSecond`, one behind the other. Its delay is
 * limited only by their number: `waiting / ratePerSecond`, if items that do not wait are reported by `cancelled`.
 */
export function bucketRateLimiter<T>({ ratePerSecond, burst, clock }: BucketOptions): RateLimiter<T> {
  let tokens = burst;
  let last = clock.monotonic();
  return {
    when() {
      const now = clock.monotonic();
      tokens = Math.min(burst, tokens + ((now - last) * ratePerSecond) / 1000) - 1;
      last = now;
      return tokens >= 0 ? 0 : (-tokens * 1000) / ratePerSecond;
    },
    // Unlike x/time/rate it returns every cancelled token, even if others wait behind it. These keep their times, so more than the rate may
    // become due at one moment, but never more than the burst and the elapsed time allow.
    cancelled(count) {
      tokens = Math.min(burst, tokens + count);
    },
    forget() {},
    numRequeues: () => 0,
  };
}

/** The maximum of the limiters' delays. */
export function maxOfRateLimiter<T>(...limiters: readonly RateLimiter<T>[]): RateLimiter<T> {
  return {
    when: (item) => Math.max(...limiters.map((limiter) => limiter.when(item))),
    cancelled(count) {
      for (const limiter of limiters) limiter.cancelled(count);
    },
    forget(item) {
      for (const limiter of limiters) limiter.forget(item);
    },
    numRequeues: (item) => Math.max(...limiters.map((limiter) => limiter.numRequeues(item))),
  };
}

export interface ControllerRateLimiterOptions {
  readonly clock: Clock;
  /** Milliseconds; 5 in Kubernetes. */
  readonly baseMs?: number;
  /** Maximum of the item's own back-off, without the bucket. Milliseconds; 1,000,000 in Kubernetes (BETTER-8 asks for 60,000). */
  readonly capMs?: number;
  readonly ratePerSecond?: number;
  readonly burst?: number;
}

/** COL-082: the larger of 5 ms * 2^n for the item and a bucket of 10 a second, burst 100, for the whole queue. */
export function defaultControllerRateLimiter<T>(options: ControllerRateLimiterOptions): RateLimiter<T> {
  const { clock, baseMs = 5, capMs = 1_000_000, ratePerSecond = 10, burst = 100 } = options;
  return maxOfRateLimiter<T>(
    itemExponentialFailureRateLimiter<T>({ baseMs, capMs }),
    bucketRateLimiter<T>({ ratePerSecond, burst, clock }),
  );
}
