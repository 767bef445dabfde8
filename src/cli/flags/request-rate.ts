import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { abortedTransportError } from '../../client/http/transport-failure.ts';
import { bucketRateLimiter } from '../../workqueue/rate-limiters.ts';

export interface RequestRate {
  /** Requests per second. */
  readonly qps: number;
  /** Maximum number of requests that need not wait after a pause. */
  readonly burst: number;
}

/**
 * Delays requests to a rate, in their order (COL-174). The number of waiting requests is bounded by the workers and the monitors that send
 * them.
 */
export function requestRate({ qps, burst }: RequestRate, clock: Clock): Interceptor {
  const bucket = bucketRateLimiter<void>({ ratePerSecond: qps, burst, clock });
  return async (request, next) => {
    const wait = bucket.when();
    if (wait > 0) {
      await sleep(clock, wait, request.signal).catch((error: unknown) => {
        // The cancelled request must not delay others.
        bucket.cancelled(1);
        throw request.signal === undefined ? error : abortedTransportError(request.signal);
      });
    }
    return next(request);
  };
}
