import type { HttpRequest, HttpResponse } from '../base/http-message.ts';
import type { Send } from '../client/rest/interceptor.ts';

/**
 * The moment from which controllers know what is there. A cluster that starts from a snapshot is handed out before it: reads go on at
 * once, and everything that changes something, or reads what controllers do, waits for it.
 */
export class StartUp {
  #done: Promise<void> | undefined;

  /** Begins the work; an error goes to the callers that wait for it. */
  begin(work: () => Promise<void>): void {
    this.#done = work().then(() => {
      this.#done = undefined;
    });
    this.#done.catch(() => undefined);
  }

  /** Rejects with what kept the controllers from it. Undefined when it has come, so that nobody waits a turn for nothing. */
  get done(): Promise<void> | undefined {
    return this.#done;
  }

  /** Holds writes back until then. */
  readonly intercept = (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    if (request.method === 'GET' || this.#done === undefined) return next(request);
    return this.#done.then(() => next(request));
  };
}
