import type { Interceptor } from '../client/interceptor.ts';
import { TransportError } from '../client/transport.ts';

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Lets no write out of the process while it may not act, whatever the code above believes: observers never may, a leader may
 * only while its lease certainly holds. Asked right before a request is sent.
 */
export function writeGuard(mayWrite: () => boolean): Interceptor {
  return (request, next) => {
    if (reading.has(request.method) || mayWrite()) return next(request);
    const refusal = `${request.method} was not sent: this process does not lead`;
    return Promise.reject(new TransportError('aborted', refusal));
  };
}
