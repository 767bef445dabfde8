import { parseGoDuration } from '../../api/meta/duration.ts';
import { newBadRequest, newTimeout } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import type { InFlightKind } from './max-in-flight.ts';

/** Maximum duration of a request, and of a write (API-006). */
const MAX_REQUEST_MS = 60_000;
const MAX_WRITE_MS = 34_000;

/** Milliseconds that the request has; undefined for long-running ones. Throws a 400 for a malformed timeout. */
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

/** Runs work until it is done or the time is over. Then the caller gets a 504, and the signal of the context aborts the running work. */
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
