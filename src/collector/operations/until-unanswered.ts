import { asError } from '../../base/errors/thrown.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { TransportError } from '../../client/http/transport.ts';
import { withRefusal } from '../../client/rest/with-refusal.ts';

/** The round of this request was over before the request was sent. The error says nothing about the server, which was not asked. */
export class NotSentError extends TransportError {
  constructor(method: string, cause: Error) {
    super('aborted', `${method} was not sent: another request got no answer`, { cause });
  }
}

/**
 * The requests of one round: once a request got no answer, no further one is sent. The server that answers the next request may be another
 * one, restored from a backup. Nobody has checked yet whether the round still makes sense there (designs/0011).
 *
 * This is checked when a request gets its place among those under way, and again when the transport sends it: until then the request may
 * have waited for a rate limit, or for its connection. Requests that were sent are waited for.
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
