import { setMaxListeners } from 'node:events';
import type { BodyReader } from './request-body.ts';
import type { HttpHeaders, HttpRequest } from '../../base/http-message.ts';

interface IncomingRequestFields {
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  /** Absent if no body follows. */
  readonly reader: BodyReader | undefined;
  readonly peer: HttpRequest['peer'] | undefined;
}

/**
 * The head of a request from a connection; the body is read on demand. The signal is created only for handlers that use it, because most do
 * not.
 */
export class IncomingRequest implements HttpRequest {
  readonly remote = true;
  readonly method: string;
  readonly target: string;
  readonly headers: HttpHeaders;
  body?: Uint8Array;
  readonly load?: NonNullable<HttpRequest['load']>;
  readonly peer?: NonNullable<HttpRequest['peer']>;
  readonly #reader: BodyReader | undefined;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(fields: IncomingRequestFields) {
    this.method = fields.method;
    this.target = fields.target;
    this.headers = fields.headers;
    const { reader } = fields;
    this.#reader = reader;
    if (reader !== undefined) {
      this.load = async () => {
        const { outcome, bytes } = await reader.read();
        if (bytes !== undefined && bytes.length > 0) this.body = bytes;
        return outcome;
      };
    }
    if (fields.peer !== undefined) this.peer = fields.peer;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // A handler may send many requests of its own at once, and each of them listens to the signal.
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The client disconnected, or the server is closing. */
  abort(): void {
    this.#aborted = true;
    this.#reader?.cut();
    this.#controller?.abort();
  }
}
