import { asError } from '../../base/thrown.ts';
import type { Interceptor } from '../../client/interceptor.ts';
import { TransportError } from '../../client/transport.ts';

/**
 * The requests of one round: once one of them got no answer, none is sent any more. The server that answers the next may be another one,
 * restored from a backup, of which nobody has asked yet whether the round still makes sense (designs/0011).
 *
 * To be asked last: a request that waits for its place must not be sent because it had been begun before.
 */
export class UntilUnanswered {
  #failure: Error | undefined;

  get isOver(): boolean {
    return this.#failure !== undefined;
  }

  readonly intercept: Interceptor = async (request, next) => {
    if (this.#failure !== undefined) {
      const message = `${request.method} was not sent: another request got no answer`;
      throw new TransportError('aborted', message, { cause: this.#failure });
    }
    try {
      return await next(request);
    } catch (error) {
      this.#failure ??= asError(error);
      throw error;
    }
  };
}
