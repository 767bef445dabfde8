import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { TransportError } from '../../src/client/http/transport.ts';

interface OpenStream {
  readonly target: string;
  readonly cut: () => void;
  readonly end: () => void;
}

/** Knows the answers that are still coming, so that a test can break their connections or end them. */
export class Streams {
  readonly #open = new Set<OpenStream>();

  get open(): number {
    return this.#open.size;
  }

  /** Breaks the connections of all open streams whose path and query match. Answers how many. */
  cut(target: RegExp): number {
    return this.#each(target, ({ cut }) => cut());
  }

  /** Ends them as a server does that has no more to say. */
  end(target: RegExp): number {
    return this.#each(target, ({ end }) => end());
  }

  #each(target: RegExp, close: (stream: OpenStream) => void): number {
    const closing = [...this.#open].filter((stream) => target.test(stream.target));
    for (const stream of closing) close(stream);
    return closing.length;
  }

  readonly intercept: Interceptor = async (request, next) => {
    const response = await next(request);
    if (response.body instanceof Uint8Array) return response;
    let cut = (): void => {};
    let end = (): void => {};
    const closed = new Promise<IteratorReturnResult<void>>((resolve, reject) => {
      cut = () => reject(new TransportError('reset', 'connection reset by peer'));
      end = () => resolve({ done: true, value: undefined });
    });
    closed.catch(() => {});
    const stream: OpenStream = { target: request.target, cut, end };
    this.#open.add(stream);
    return { ...response, body: this.#through(response.body, stream, closed) };
  };

  async *#through(
    body: AsyncIterable<Uint8Array>,
    stream: OpenStream,
    closed: Promise<IteratorReturnResult<void>>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const chunk = await Promise.race([chunks.next(), closed]);
        if (chunk.done === true) return;
        yield chunk.value;
      }
    } finally {
      this.#open.delete(stream);
      // Not awaited: a generator that waits inside next() would only answer afterwards.
      void Promise.resolve(chunks.return?.()).catch(() => {});
    }
  }
}
