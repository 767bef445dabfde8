import type { Interceptor } from '../../client/rest/interceptor.ts';
import { TransportError } from '../../client/http/transport.ts';
import { withRefusal } from '../../client/rest/with-refusal.ts';

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Lets no write out of the process while it may not act, whatever the code above believes: observers never may, a leader may
 * only while its lease certainly holds. Asked at once, and by the transport once more when it sends: until then a request may have
 * waited for its connection, and the process may have been stopped.
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
