import type { Interceptor } from '../../src/client/interceptor.ts';
import { TransportError } from '../../src/client/transport.ts';

interface OpenStream {
  readonly target: string;
  readonly cut: () => void;
}

/** Knows the answers that are still coming, so that a test can break their connections. */
export class Streams {
  readonly #open = new Set<OpenStream>();

  get open(): number {
    return this.#open.size;
  }

  /** Breaks the connections of all open streams whose path and query match. Answers how many. */
  cut(target: RegExp): number {
    const cutting = [...this.#open].filter((stream) => target.test(stream.target));
    for (const { cut } of cutting) cut();
    return cutting.length;
  }

  readonly intercept: Interceptor = async (request, next) => {
    const response = await next(request);
    if (response.body instanceof Uint8Array) return response;
    let cut = (): void => {};
    const broken = new Promise<never>((_resolve, reject) => {
      cut = () => reject(new TransportError('reset', 'connection reset by peer'));
    });
    broken.catch(() => {});
    const stream: OpenStream = { target: request.target, cut };
    this.#open.add(stream);
    return { ...response, body: this.#through(response.body, stream, broken) };
  };

  async *#through(
    body: AsyncIterable<Uint8Array>,
    stream: OpenStream,
    broken: Promise<never>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const chunk = await Promise.race([chunks.next(), broken]);
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
