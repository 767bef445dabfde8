import type { Dispatcher } from 'undici';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { type BodySource, Http1Body } from './http1-body.ts';
import type { Http1Connection } from './http1-connections.ts';
import { abortedTransportError } from './transport-failure.ts';
import { TransportError } from './transport.ts';

/** Answers below this announced size are read at once, which is cheaper than a stream. */
const SMALL_BODY = 256 * 1024;

/** A reused connection ended without any answer. The sender repeats a repeatable request. */
export class StaleConnection extends TransportError {}

/** The connection was opened again before the request was sent, and the server's identity is not verified yet. Nothing was sent. */
export class UngreetedConnection extends TransportError {}

export interface Http1ExchangeOptions {
  readonly connection: Pick<Http1Connection, 'reused' | 'letGo'>;
  readonly signal: AbortNotice | undefined;
  readonly refusal: HttpRequest['refusal'];
  /** Called with the head of the answer, and for a small answer with all of it. */
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: TransportError) => void;
  readonly failureOf: (error: Error, signal: AbortNotice | undefined) => TransportError;
}

/**
 * One request on a connection, as a handler of undici. One object for each request and no closures, because every DELETE uses it. After the
 * head, errors reach the reader through the body.
 */
export class Http1Exchange implements Dispatcher.DispatchHandler, BodySource {
  readonly #options: Http1ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  /** The reason why nobody waits for the answer. */
  #givenUp: Error | undefined;
  #answer: 'none' | 'small' | Http1Body = 'none';
  #status = 0;
  #headers: HttpHeaders = {};
  #first: Uint8Array | undefined;
  #rest: Uint8Array[] | undefined;

  constructor(options: Http1ExchangeOptions) {
    this.#options = options;
    options.signal?.addEventListener('abort', this, { once: true });
  }

  /** Called when the signal is aborted, because its listener may be an object with this method. */
  handleEvent(): void {
    const { signal, reject } = this.#options;
    const error = abortedTransportError(signal!);
    // Reported at once, because undici may still be opening the connection.
    if (this.#answer instanceof Http1Body) this.#answer.fail(error);
    else reject(error);
    this.#giveUp(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The last check before undici writes: the request may have waited for a connection or a turn.
    const refused = this.#givenUp ?? this.#options.refusal?.();
    if (refused !== undefined) controller.abort(refused);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    // Statuses 100 to 199 only announce the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers as HttpHeaders;
    if (Number(headers['content-length'] ?? Number.NaN) <= SMALL_BODY) {
      this.#answer = 'small';
      return;
    }
    const body = new Http1Body(this);
    this.#answer = body;
    this.#options.resolve({ status, headers: this.#headers, body });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#answer instanceof Http1Body) this.#answer.push(chunk);
    else if (this.#first === undefined) this.#first = chunk;
    else (this.#rest ??= []).push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    if (this.#answer instanceof Http1Body) this.#answer.complete();
    else this.#options.resolve({ status: this.#status, headers: this.#headers, body: this.#bytes() });
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    const { connection, signal, reject, failureOf } = this.#options;
    const failure = failureOf(error, signal);
    const stale = connection.reused && failure.code === 'reset';
    this.#end();
    if (this.#answer instanceof Http1Body) this.#answer.fail(failure);
    else if (this.#answer === 'none' && stale) reject(new StaleConnection('reset', failure.message, { cause: error }));
    else reject(failure);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  cancel(): void {
    this.#giveUp(new Error('the reader stopped'));
  }

  #giveUp(error: Error): void {
    this.#givenUp = error;
    this.#controller?.abort(error);
  }

  #end(): void {
    this.#options.signal?.removeEventListener('abort', this);
    this.#options.connection.letGo();
  }

  #bytes(): Uint8Array {
    if (this.#first === undefined) return new Uint8Array(0);
    return this.#rest === undefined ? this.#first : Buffer.concat([this.#first, ...this.#rest]);
  }
}
