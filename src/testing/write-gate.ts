import type { HttpRequest, HttpResponse } from '../base/http-message.ts';
import type { Send } from '../client/rest/interceptor.ts';
import { abortedTransportError } from '../client/http/transport-failure.ts';

const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Holds the writes of controllers while it is closed, so that a test can let them through one at a time, in their order. */
export class WriteGate {
  #closed = false;
  /** Bounded by the workers of the controllers: each waits for its own write. */
  readonly #held: { readonly request: HttpRequest; readonly pass: () => void }[] = [];

  get closed(): boolean {
    return this.#closed;
  }

  /** `METHOD path` of the waiting requests, the next one first. */
  get held(): string[] {
    return this.#held.map(({ request: { method, target } }) => `${method} ${target.split('?')[0]}`);
  }

  close(): void {
    this.#closed = true;
  }

  open(): void {
    this.#closed = false;
    for (const { pass } of this.#held.splice(0)) pass();
  }

  /** False when nothing waits. */
  letOneThrough(): boolean {
    const next = this.#held.shift();
    next?.pass();
    return next !== undefined;
  }

  readonly intercept = async (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    if (this.#closed && writes.has(request.method)) await this.#wait(request);
    return next(request);
  };

  #wait(request: HttpRequest): Promise<void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const entry = {
        request,
        pass: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        const index = this.#held.indexOf(entry);
        if (index >= 0) this.#held.splice(index, 1);
        if (signal) reject(abortedTransportError(signal));
      };
      if (signal?.aborted) {
        reject(abortedTransportError(signal));
        return;
      }
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#held.push(entry);
    });
  }
}
