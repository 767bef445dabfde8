import { parseGoDuration } from '../../api/meta/duration.ts';
import { newBadRequest, newTimeout } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import type { InFlightKind } from './max-in-flight.ts';

/** The longest time of a request, and of a write (API-006). */
const MAX_REQUEST_MS = 60_000;
const MAX_WRITE_MS = 34_000;

/** Milliseconds the request has; undefined for those that stay open. 400 for a time that cannot be read. */
export function requestTimeout(context: RequestContext, kind: InFlightKind): number | undefined {
  if (kind === 'long') return undefined;
  const limit = kind === 'write' ? MAX_WRITE_MS : MAX_REQUEST_MS;
  const text = context.query.get('timeout');
  if (text === null || text === '') return limit;
  const asked = parseGoDuration(text);
  if (asked === undefined || asked < 0) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${JSON.stringify(text)}`);
  }
  return asked === 0 ? limit : Math.min(asked, limit);
}

/** Runs until it is done or the time is over; then the caller gets a 504, and the context says so to what still runs. */
export function withTimeout<T>(
  run: () => Promise<T> | T,
  {
    context,
    clock,
    timeoutMs,
  }: { readonly context: RequestContext; readonly clock: Clock; readonly timeoutMs: number },
): Promise<T> | T {
  context.deadline = clock.monotonic() + timeoutMs;
  const outcome = run();
  if (!(outcome instanceof Promise)) return outcome;
  return new Promise<T>((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => {
      context.expire();
      reject(newTimeout('request did not complete within the allotted timeout'));
    });
    outcome.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
