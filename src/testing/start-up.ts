import type { HttpRequest, HttpResponse } from '../base/http-message.ts';
import type { Send } from '../client/rest/interceptor.ts';

/**
 * The moment from which controllers know the existing objects. A cluster that starts from a snapshot is returned before that moment: reads
 * go on at once, but writes, and reads of the controllers' work, wait for it.
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

  /**
   * Rejects with the error that kept the controllers from starting. Undefined after that moment, so that no caller waits a turn for
   * nothing.
   */
  get done(): Promise<void> | undefined {
    return this.#done;
  }

  /** Holds writes back until that moment. */
  readonly intercept = (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    if (request.method === 'GET' || this.#done === undefined) return next(request);
    return this.#done.then(() => next(request));
  };
}
