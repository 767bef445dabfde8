import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { Bag } from '../../base/collections/bag.ts';
import type { HttpHandler, HttpRequest, HttpResponse, PeerSubject } from '../../base/http-message.ts';
import { asError } from '../../base/errors/thrown.ts';
import { abortedTransportError, closedError } from './transport-failure.ts';
import { type Transport, TransportError } from './transport.ts';

export interface InProcessOptions {
  /** Headers for every request, such as `authorization`. A request's own header takes precedence. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The identity of the caller, as from a client certificate. */
  readonly peer?: PeerSubject;
}

/**
 * Calls a server in the same process, without sockets or another encoding; streams are passed through. An aborted request rejects at once,
 * even if the handler continues, like a closed connection.
 */
export function inProcessTransport(handler: HttpHandler, options: InProcessOptions = {}): Transport {
  const { headers, peer } = options;
  const underWay = new UnderWay();

  function decorated(request: HttpRequest): HttpRequest {
    if (headers === undefined && peer === undefined) return request;
    const { method, target, body, signal, refusal } = request;
    return {
      method,
      target,
      headers: headers === undefined ? request.headers : { ...headers, ...request.headers },
      body,
      signal,
      refusal,
      peer,
    };
  }

  return {
    send(request) {
      const { signal } = request;
      const refused = underWay.refusal(signal);
      if (refused !== undefined) return Promise.reject(refused);
      const handed = (response: HttpResponse): HttpResponse =>
        response.body instanceof Uint8Array
          ? response
          : { ...response, body: new EndedByAbort(response.body, underWay, signal) };
      return underWay.wait(handler(decorated(request)), signal, { take: handed, failure: serverFailure });
    },
    close() {
      underWay.close();
      return Promise.resolve();
    },
  };
}

type Reject = (error: TransportError) => void;

interface Outcome<T, R> {
  readonly take: (value: T) => R;
  readonly failure: (cause: unknown) => Error;
}

type Chunk = IteratorResult<Uint8Array, undefined>;

const PASSED_ON: Outcome<Chunk, Chunk> = { take: (chunk) => chunk, failure: asError };

/** The waits that one signal ends, or, with `signal` undefined, all waits without one. */
class Waits {
  readonly rejects = new Bag<Reject>();
  readonly signal: AbortNotice | undefined;

  constructor(signal: AbortNotice | undefined) {
    this.signal = signal;
    signal?.addEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    if (this.signal === undefined) return;
    for (const reject of this.rejects.items()) reject(abortedTransportError(this.signal));
  };

  letGo(): void {
    this.signal?.removeEventListener('abort', this.#abort);
  }
}

/**
 * The waits of one transport, so that closing it ends them. The callers' requests in progress bound their number. Each signal has one
 * listener for all waits, because callers share one signal and each listener added walks the signal's list.
 */
class UnderWay {
  readonly #bySignal = new Map<AbortNotice | undefined, Waits>();
  #closed = false;

  close(): void {
    this.#closed = true;
    for (const waits of this.#bySignal.values()) {
      for (const reject of waits.rejects.items()) reject(closedError());
    }
  }

  /** The reason why no request may begin. */
  refusal(signal: AbortNotice | undefined): TransportError | undefined {
    if (this.#closed) return closedError();
    return signal?.aborted === true ? abortedTransportError(signal) : undefined;
  }

  /** The converted result of the work, or a rejection once the signal is aborted or the transport closed. */
  wait<T, R>(work: Promise<T>, signal: AbortNotice | undefined, { take, failure }: Outcome<T, R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const waits = this.#waitsOf(signal);
      const slot = waits.rejects.add(reject);
      const leave = (): void => {
        waits.rejects.remove(slot);
        if (waits.rejects.size === 0) this.#letGo(waits);
      };
      work.then(
        (value) => {
          leave();
          resolve(take(value));
        },
        (error: unknown) => {
          leave();
          reject(failure(error));
        },
      );
    });
  }

  #waitsOf(signal: AbortNotice | undefined): Waits {
    let waits = this.#bySignal.get(signal);
    if (waits === undefined) {
      waits = new Waits(signal);
      this.#bySignal.set(signal, waits);
    }
    return waits;
  }

  #letGo(waits: Waits): void {
    waits.letGo();
    this.#bySignal.delete(waits.signal);
  }
}

function serverFailure(cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
  return new TransportError('protocol', 'the server failed without an answer', { cause });
}

const DONE: Chunk = { done: true, value: undefined };

/**
 * A body whose reader gets an abort at once. It is not a generator, because stopping an unread generator runs no code, so the server would
 * not learn of it.
 */
class EndedByAbort implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #chunks: AsyncIterator<Uint8Array, undefined>;
  readonly #underWay: UnderWay;
  readonly #signal: AbortNotice | undefined;
  #ended = false;

  constructor(body: AsyncIterable<Uint8Array>, underWay: UnderWay, signal: AbortNotice | undefined) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#underWay = underWay;
    this.#signal = signal;
  }

  async next(): Promise<Chunk> {
    if (this.#ended) return DONE;
    try {
      const refused = this.#underWay.refusal(this.#signal);
      if (refused !== undefined) throw refused;
      const next = await this.#underWay.wait(this.#chunks.next(), this.#signal, PASSED_ON);
      if (next.done !== true) return next;
      this.#ended = true;
      return DONE;
    } catch (error) {
      this.#stop();
      throw error instanceof TransportError
        ? error
        : new TransportError('reset', 'the server ended the stream with an error', { cause: error });
    }
  }

  return(): Promise<Chunk> {
    this.#stop();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    // Not awaited, because a generator that waits inside `next()` answers `return()` only afterwards.
    void Promise.resolve(this.#chunks.return?.()).catch(() => {});
  }
}
