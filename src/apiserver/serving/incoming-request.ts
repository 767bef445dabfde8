import type { HttpHeaders, HttpRequest } from '../../base/http-message.ts';

interface IncomingRequestFields {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array | undefined;
  readonly peer: HttpRequest['peer'] | undefined;
}

/** A request read from a connection. The signal is made only for handlers that look at it: most never do. */
export class IncomingRequest implements HttpRequest {
  readonly remote = true;
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly body?: Uint8Array;
  readonly peer?: NonNullable<HttpRequest['peer']>;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(fields: IncomingRequestFields) {
    this.method = fields.method;
    this.target = fields.target;
    this.headers = fields.headers;
    if (fields.body !== undefined) this.body = fields.body;
    if (fields.peer !== undefined) this.peer = fields.peer;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The client went away, or the server is closing. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
