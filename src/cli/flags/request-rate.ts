import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { abortedTransportError } from '../../client/http/transport-failure.ts';
import { bucketRateLimiter } from '../../workqueue/rate-limiters.ts';

export interface RequestRate {
  /** Requests a second. */
  readonly qps: number;
  /** Requests that may go at once after a pause. */
  readonly burst: number;
}

/**
 * Holds requests back to a rate, in the order in which they come (COL-174). As many wait as the callers have under way: the
 * workers and the monitors.
 */
export function requestRate({ qps, burst }: RequestRate, clock: Clock): Interceptor {
  const bucket = bucketRateLimiter<void>({ ratePerSecond: qps, burst, clock });
  return async (request, next) => {
    const wait = bucket.when();
    if (wait > 0) {
      await sleep(clock, wait, request.signal).catch((error: unknown) => {
        // Nobody is to wait behind it.
        bucket.cancelled(1);
        throw request.signal === undefined ? error : abortedTransportError(request.signal);
      });
    }
    return next(request);
  };
}
