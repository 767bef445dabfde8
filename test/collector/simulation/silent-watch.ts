import type { HttpResponse } from '../../../src/base/http-message.ts';
import type { Clock, Timer } from '../../../src/base/time/clock.ts';
import type { Revision, Store, StoreWatch } from '../../../src/apiserver/storage/interface.ts';

type Chunk = IteratorResult<Uint8Array, undefined>;

const END: Chunk = { done: true, value: undefined };

export interface SilentWatchOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** From which it goes on, later than what the store has come to. */
  readonly from: Revision;
  /** ms. */
  readonly timeoutMs: number;
  /** The same watch, when the store has come to it. */
  readonly open: () => Promise<HttpResponse>;
}

/**
 * The answer of a watch from a version that the server has not reached yet, as kube-apiserver gives it: it is open, sends nothing until the
 * server has reached that version, and then the events after it (designs/0011).
 */
export class SilentWatch implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: SilentWatchOptions;
  readonly #silence: Promise<'come' | 'over'>;
  #endSilence: (how: 'come' | 'over') => void = () => {};
  #told: AsyncIterator<Uint8Array, unknown> | undefined;
  #isRead = false;
  #ended = false;

  private constructor(options: SilentWatchOptions) {
    this.#options = options;
    this.#silence = new Promise((resolve) => (this.#endSilence = resolve));
  }

  static async begin(options: SilentWatchOptions): Promise<SilentWatch> {
    const { store, clock, from, timeoutMs } = options;
    const self = new SilentWatch(options);
    const startRevision = (await store.currentRevision()) + 1;
    let timer: Timer | undefined;
    let watch: StoreWatch | undefined;
    const end = (how: 'come' | 'over'): void => {
      timer?.cancel();
      watch?.cancel();
      self.#endSilence(how);
    };
    timer = clock.setTimer(timeoutMs, () => end('over'));
    watch = await store.watch('/', {
      startRevision,
      onEvents: (events) => {
        if (events.some(({ revision }) => revision >= from)) end('come');
      },
      onClose: () => end('over'),
    });
    void self.#silence.then(end);
    return self;
  }

  /** A reader waits for an event that the watch does not send. */
  get isWaitedFor(): boolean {
    return this.#isRead && !this.#ended && this.#told === undefined;
  }

  async next(): Promise<Chunk> {
    this.#isRead = true;
    if (this.#told === undefined && !this.#ended) {
      if ((await this.#silence) === 'come') await this.#tell();
      else this.#ended = true;
    }
    if (this.#ended || this.#told === undefined) return END;
    const { done, value } = await this.#told.next();
    return done === true ? END : { done: false, value };
  }

  return(): Promise<Chunk> {
    this.#ended = true;
    this.#endSilence('over');
    void Promise.resolve(this.#told?.return?.()).catch(() => {});
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #tell(): Promise<void> {
    const { body } = await this.#options.open();
    if (body instanceof Uint8Array) {
      this.#told = one(body);
      return;
    }
    this.#told = body[Symbol.asyncIterator]();
    if (this.#ended) void Promise.resolve(this.#told.return?.()).catch(() => {});
  }
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield chunk;
}
