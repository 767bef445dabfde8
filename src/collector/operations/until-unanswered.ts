import { asError } from '../../base/errors/thrown.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { TransportError } from '../../client/http/transport.ts';
import { withRefusal } from '../../client/rest/with-refusal.ts';

/** A request of a round that was over before its turn came. It says nothing about the server, which was not asked. */
export class NotSentError extends TransportError {
  constructor(method: string, cause: Error) {
    super('aborted', `${method} was not sent: another request got no answer`, { cause });
  }
}

/**
 * The requests of one round: once one of them got no answer, none is sent any more. The server that answers the next may be another one,
 * restored from a backup, of which nobody has asked yet whether the round still makes sense (designs/0011).
 *
 * Asked when a request has its place among those under way, and once more by the transport when it sends: until then a request may have
 * waited for its turn of a rate, or for its connection. What was sent is waited for.
 */
export class UntilUnanswered {
  #failure: Error | undefined;

  get isOver(): boolean {
    return this.#failure !== undefined;
  }

  readonly intercept: Interceptor = async (request, next) => {
    const ofRound = withRefusal(request, () => this.#failure && new NotSentError(request.method, this.#failure));
    const refused = ofRound.refusal();
    if (refused !== undefined) throw refused;
    try {
      return await next(ofRound);
    } catch (error) {
      this.#failure ??= asError(error);
      throw error;
    }
  };
}
