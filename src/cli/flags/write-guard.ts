import type { Interceptor } from '../../client/rest/interceptor.ts';
import { TransportError } from '../../client/http/transport.ts';
import { withRefusal } from '../../client/rest/with-refusal.ts';

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Blocks writes while this process may not act: an observer may never write, a leader only while it certainly holds its lease. Checks
 * immediately, and again directly before sending, because a request may have waited for its connection and the process may have been
 * suspended.
 */
export function writeGuard(mayWrite: () => boolean): Interceptor {
  return (request, next) => {
    const { method } = request;
    if (reading.has(method)) return next(request);
    const guarded = withRefusal(request, () =>
      mayWrite() ? undefined : new TransportError('aborted', `${method} was not sent: this process does not lead`),
    );
    const refused = guarded.refusal();
    return refused === undefined ? next(guarded) : Promise.reject(refused);
  };
}
