import type { HttpHandler, HttpRequest, HttpResponse } from '../base/http-message.ts';
import { type Transport, TransportError } from './transport.ts';
import { abortedTransportError } from './transport-failure.ts';

export interface InProcessOptions {
  /** Added to every request, such as `authorization`. A request's own header wins. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who calls, as if a client certificate had said so. */
  readonly peer?: NonNullable<HttpRequest['peer']>;
}

/**
 * Calls a server in the same process: no sockets, nothing encoded twice, streams handed through. What is aborted rejects
 * at once, even when the handler does not care, as it would with a connection that is closed.
 */
export function inProcessTransport(handler: HttpHandler, options: InProcessOptions = {}): Transport {
  const { headers, peer } = options;
  const closing = new AbortController();
  return {
    async send(request) {
      if (closing.signal.aborted) throw new TransportError('aborted', 'the transport is closed');
      const { signal } = request;
      if (signal?.aborted === true) throw abortedTransportError(signal);
      const response = await orAborted(handler(decorated(request)), signal, closing.signal);
      return response.body instanceof Uint8Array
        ? response
        : { ...response, body: endedByAbort(response.body, signal, closing.signal) };
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };

  function decorated(request: HttpRequest): HttpRequest {
    if (headers === undefined && peer === undefined) return request;
    return {
      ...request,
      headers: headers === undefined ? request.headers : { ...headers, ...request.headers },
      ...(peer === undefined ? {} : { peer }),
    };
  }
}

/** The value, or a rejection as soon as one of the signals is aborted. A failing handler is a broken server. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, closing: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const settle = (): void => {
      signal?.removeEventListener('abort', onAbort);
      closing.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      settle();
      reject(abortedTransportError(signal?.aborted === true ? signal : closing));
    };
    signal?.addEventListener('abort', onAbort);
    closing.addEventListener('abort', onAbort);
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(new TransportError('protocol', 'the server failed without an answer', { cause: error }));
      },
    );
  });
}

async function* endedByAbort(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  closing: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = body[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      if (signal?.aborted === true || closing.aborted)
        throw abortedTransportError(signal?.aborted === true ? signal : closing);
      const next: IteratorResult<Uint8Array> = await orAborted(chunks.next(), signal, closing);
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    // Not awaited: a generator that waits inside next() would only answer afterwards.
    if (!ended) void Promise.resolve(chunks.return?.()).catch(() => {});
  }
}
