import type { AbortNotice } from '../../../base/time/abort-notice.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { CacheWatch, WatchStep } from '../../storage/cache/cache-watch.ts';

export type WatchMoment =
  | WatchStep
  /** Only a bookmark is due. */
  | { readonly kind: 'bookmark' }
  /** The watch has timed out. */
  | { readonly kind: 'timeout' };

export interface WatchStreamOptions {
  readonly watch: CacheWatch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Times from the start at which a bookmark is due, ascending; empty if the client wants none. */
  readonly bookmarks: Iterable<number>;
  /** The bytes for an event; undefined for none. Those for `closed` and `timeout` are the last. */
  encode(moment: WatchMoment): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Aborted when the client goes away. */
  readonly signal: AbortNotice | undefined;
}

/**
 * The body of a watch. It waits for the cache, a bookmark or the end of the watch, whichever comes first. One reader pulls it. Events that
 * are not pulled stay in the cache's shared ring, so a slow reader has no buffer here.
 */
export class WatchStream implements AsyncIterableIterator<Uint8Array> {
  readonly #options: WatchStreamOptions;
  readonly #started: number;
  readonly #deadline: Timer;
  readonly #bookmarks: Iterator<number>;
  #bookmarkTimer: Timer | undefined;
  /** Events that the reader has not received yet. */
  #due: { step?: WatchStep; bookmark: boolean; timeout: boolean } = { bookmark: false, timeout: false };
  #asking = false;
  #wake: (() => void) | undefined;
  #ended = false;
  readonly #onAbort = (): void => this.close();

  constructor(options: WatchStreamOptions) {
    const { clock } = options;
    this.#options = options;
    this.#started = clock.monotonic();
    this.#deadline = clock.setTimer(options.timeoutMs, () => {
      this.#due.timeout = true;
      this.#wake?.();
    });
    this.#bookmarks = options.bookmarks[Symbol.iterator]();
    this.#armBookmark();
    if (options.signal?.aborted === true) this.close();
    else options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.#ended) {
      const moment = await this.#moment();
      const encoded = this.#encode(moment);
      const bytes = encoded instanceof Promise ? await encoded : encoded;
      if (moment.kind === 'closed' || moment.kind === 'timeout') this.close();
      if (bytes !== undefined && bytes.length > 0) return { done: false, value: bytes };
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** The client or the server closes the watch. A pending `next` ends. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    // The signal may outlive many watches, so its listener is removed.
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#deadline.cancel();
    this.#bookmarkTimer?.cancel();
    this.#options.watch.close();
    this.#wake?.();
  }

  #encode(moment: WatchMoment): ReturnType<WatchStreamOptions['encode']> {
    try {
      return this.#options.encode(moment);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The next event: events of the cache come before the timeout, bookmarks come last. */
  async #moment(): Promise<WatchMoment> {
    for (;;) {
      const due = this.#due;
      if (this.#ended) return { kind: 'closed', reason: 'cancelled' };
      if (due.step !== undefined) {
        const { step } = due;
        delete due.step;
        return step;
      }
      this.#ask();
      // Waits one turn of the microtask queue, because the step may already be resolved.
      if (due.timeout || due.bookmark) {
        await Promise.resolve();
        if (this.#due.step !== undefined) continue;
        if (due.timeout) return { kind: 'timeout' };
        due.bookmark = false;
        this.#armBookmark();
        return { kind: 'bookmark' };
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    void this.#options.watch.next().then((step) => {
      this.#asking = false;
      this.#due.step = step;
      this.#wake?.();
    });
  }

  #armBookmark(): void {
    const at = this.#bookmarks.next();
    if (at.done === true) return;
    const { clock } = this.#options;
    const delay = Math.max(0, at.value - (clock.monotonic() - this.#started));
    this.#bookmarkTimer = clock.setTimer(delay, () => {
      this.#due.bookmark = true;
      this.#wake?.();
    });
  }
}
