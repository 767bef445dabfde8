import type { TransportError } from './transport.ts';

/** Maximum unread bytes before the connection is paused. */
const AHEAD_BYTES = 128 * 1024;

/** The controls of a body over its connection. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The reader stopped, and the remaining bytes are not worth reading. */
  cancel(): void;
}

interface Reader {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: TransportError) => void;
}

const DONE: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/**
 * A streamed body for one reader. It buffers {@link AHEAD_BYTES} and the excess of one socket read. An incomplete body never ends like a
 * complete one: the reader gets the error at once.
 */
export class Http1Body implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #ahead = 0;
  #end: 'open' | 'complete' | 'cancelled' | TransportError = 'open';
  #reader: Reader | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(chunk: Uint8Array): void {
    if (this.#end !== 'open') return;
    if (this.#reader !== undefined) {
      this.#takeReader()?.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#ahead += chunk.length;
    if (this.#ahead > AHEAD_BYTES) this.#source.pause();
  }

  complete(): void {
    if (this.#end !== 'open') return;
    this.#end = 'complete';
    this.#takeReader()?.resolve(DONE);
  }

  fail(error: TransportError): void {
    if (this.#end !== 'open') return;
    this.#end = error;
    this.#chunks = [];
    this.#takeReader()?.reject(error);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      const before = this.#ahead;
      this.#ahead -= chunk.length;
      if (this.#end === 'open' && before > AHEAD_BYTES && this.#ahead <= AHEAD_BYTES) this.#source.resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end === 'complete' || this.#end === 'cancelled') return Promise.resolve(DONE);
    if (this.#end !== 'open') return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#end === 'open') {
      this.#end = 'cancelled';
      this.#source.cancel();
    }
    this.#chunks = [];
    this.#takeReader()?.resolve(DONE);
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader(): Reader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
