import type { AbortNotice } from '../../../src/base/time/abort-notice.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { TransportError } from '../../../src/client/http/transport.ts';

type Result = IteratorResult<Uint8Array, undefined>;

const END: Result = { done: true, value: undefined };

interface Consumer {
  resolve(result: Result): void;
  reject(error: Error): void;
}

export interface WatchStreamOptions {
  readonly resource: string;
  readonly encoding: 'json' | 'protobuf';
  readonly clock: Clock;
  /** The signal of the consumer's request. */
  readonly signal: AbortNotice | undefined;
  /** How much later than the server sent it the next piece comes, ms. */
  readonly lag: () => number;
  readonly onEnd: () => void;
}

/** The answer of a watch on its way to the collector, read by one consumer. */
export class WatchStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly resource: string;
  readonly encoding: 'json' | 'protobuf';
  readonly #inner: AsyncIterator<Uint8Array, unknown>;
  readonly #options: WatchStreamOptions;
  #open = true;
  #heldUntil = 0;
  #holding = false;
  /** Waits for the consumer: a chunk that comes a second time, or an event that the server never sent. */
  readonly #extra: Uint8Array[] = [];
  #repeatNext = false;
  /** Settles the promise of the consumer that waits. */
  #settle: Consumer | undefined;
  /** How the stream ended while nobody waited. */
  #ending: 'cut' | 'end' | undefined;

  constructor(body: AsyncIterable<Uint8Array>, options: WatchStreamOptions) {
    this.resource = options.resource;
    this.encoding = options.encoding;
    this.#inner = body[Symbol.asyncIterator]();
    this.#options = options;
    // A consumer that gives up does not wait for the held pieces.
    options.signal?.addEventListener('abort', () => this.cut(), { once: true });
  }

  /** Something is on its way that the consumer has not got. */
  get holding(): boolean {
    return this.#holding && this.#open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (!this.#open) return this.#ending === 'cut' ? Promise.reject(broken()) : Promise.resolve(END);
    const extra = this.#extra.shift();
    if (extra !== undefined) return Promise.resolve({ done: false, value: extra });
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#inner.next().then(
        (result) => this.#arrived(result, this.#options.lag()),
        (error: unknown) => {
          this.#close('cut');
          this.#settled((consumer) => consumer.reject(error instanceof Error ? error : broken()));
        },
      );
    });
  }

  return(): Promise<Result> {
    this.#close('end');
    return Promise.resolve(END);
  }

  /** The connection breaks; what the server has sent and nobody has read is lost. */
  cut(): void {
    this.#close('cut');
    this.#settled((consumer) => consumer.reject(broken()));
  }

  /** The server ends the answer. */
  end(): void {
    this.#close('end');
    this.#settled((consumer) => consumer.resolve(END));
  }

  /** Holds each piece that comes within this time, and delivers it afterwards. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#options.clock.monotonic() + ms);
  }

  repeatNext(): void {
    this.#repeatNext = true;
  }

  /** The server says this next. */
  inject(chunk: Uint8Array): void {
    if (this.#settle === undefined) this.#extra.push(chunk);
    else this.#settled((consumer) => consumer.resolve({ done: false, value: chunk }));
  }

  #arrived(result: IteratorResult<Uint8Array, unknown>, lagMs: number): void {
    const { clock } = this.#options;
    const wait = Math.max(this.#heldUntil - clock.monotonic(), lagMs);
    this.#holding = wait > 0;
    if (wait > 0) return void clock.setTimer(wait, () => this.#arrived(result, 0));
    if (result.done === true) {
      this.#close('end');
      return this.#settled((consumer) => consumer.resolve(END));
    }
    const { value } = result;
    if (this.#repeatNext) this.#extra.push(value);
    this.#repeatNext = false;
    if (this.#settle === undefined) this.#extra.push(value);
    else this.#settled((consumer) => consumer.resolve({ done: false, value }));
  }

  #settled(how: (consumer: Consumer) => void): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle !== undefined) how(settle);
  }

  #close(ending: 'cut' | 'end'): void {
    if (!this.#open) return;
    this.#open = false;
    this.#ending = ending;
    this.#options.onEnd();
    // Not awaited: a generator that waits inside next() would only answer afterwards.
    void Promise.resolve(this.#inner.return?.()).catch(() => {});
  }
}

function broken(): TransportError {
  return new TransportError('reset', 'connection reset by peer');
}
