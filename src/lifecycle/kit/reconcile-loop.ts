import { setMaxListeners } from 'node:events';
import { append } from '../../base/collections/append.ts';
import { StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { linkSignals } from '../../base/time/abort.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { defaultControllerRateLimiter } from '../../workqueue/rate-limiters.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { reportDelayedKeys } from './delayed-keys.ts';

/** The source that a controller reads: an `Informer`, as far as the loop is concerned. */
export interface Cache extends Service {
  /** Resolves when the first list is in; rejects with an AbortError when `signal` is aborted before. */
  waitForSync(signal: AbortSignal): Promise<void>;
}

export type SyncOutcome =
  /** Nothing to do until the key is triggered again. */
  | { readonly next: 'settled' }
  /** All well, but not at the goal: once more after this time. */
  | { readonly next: 'later'; readonly afterMs: number }
  /** It failed in part and said so; again when the back-off allows. */
  | { readonly next: 'back-off' };

export interface ReconcileLoopOptions {
  /** Names the queue in the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Run by the loop; no sync begins before all have their first list (LIFE-001). */
  readonly caches: readonly Cache[];
  /** Keys synced at once. */
  readonly workers: number;
  /** Longest wait of a key that fails; 1000 s in general (LIFE-003). There is no last attempt: only the pace is bounded. */
  readonly backOffCapMs?: number;
  /** Failures in a row after which a key is dropped until its next event. Unless given there is no last attempt. */
  readonly maxRetries?: number;
  /** Brings one key to its goal. An error is logged and retried, like `back-off`. The signal is the loop's own. */
  readonly sync: (key: string, signal: AbortSignal) => Promise<SyncOutcome>;
  /** Keys to process again periodically, whatever the events were. */
  readonly resync?: { readonly everyMs: number; readonly keys: () => Iterable<string> };
}

/** Caches in front, a rate-limited queue, and workers behind it: how the controllers of this room run. Runs once. */
export class ReconcileLoop implements Service {
  readonly #options: ReconcileLoopOptions;
  readonly #queue: RateLimitingQueue<string>;

  constructor(options: ReconcileLoopOptions) {
    const { name, clock, metrics, backOffCapMs } = options;
    this.#options = options;
    const cap = backOffCapMs === undefined ? {} : { capMs: backOffCapMs };
    const rateLimiter = defaultControllerRateLimiter<string>({ clock, ...cap });
    this.#queue = new RateLimitingQueue({ name, clock, metrics, rateLimiter });
    reportDelayedKeys(this.#queue, metrics);
  }

  /** Something changed about this key. It is synced after `delayMs`; without one at once, also if it waits for a retry. */
  trigger(key: string, delayMs = 0): void {
    if (delayMs > 0) this.#queue.addAfter(key, delayMs);
    else if (!this.#queue.wake(key)) this.#queue.add(key);
  }

  async run(outerSignal: AbortSignal): Promise<void> {
    const { caches, workers, resync } = this.#options;
    using own = linkSignals(outerSignal);
    const { signal } = own;
    // Every request in flight listens to it; how many those are is bounded by the workers and what one sync does at once.
    setMaxListeners(0, signal);
    const stop = (): void => this.#queue.shutDown();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const running = caches.map((cache) => cache.run(signal));
    try {
      await Promise.all(caches.map((cache) => cache.waitForSync(signal)));
      if (resync !== undefined) running.push(this.#resync(resync, signal));
      append(
        running,
        Array.from({ length: workers }, () => this.#work(signal)),
      );
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
    await Promise.all(running);
  }

  async #resync({ everyMs, keys }: NonNullable<ReconcileLoopOptions['resync']>, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await sleep(this.#options.clock, everyMs, signal);
        for (const key of keys()) this.#queue.add(key);
      }
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
  }

  /** Ends with the queue: what still waits in it when the loop is stopped is taken and dropped. */
  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const got = await this.#queue.get();
      if (got.shutdown) return;
      if (!signal.aborted) await this.#syncOne(got.item, signal);
      this.#queue.done(got.item);
    }
  }

  async #syncOne(key: string, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.#options.sync(key, signal);
      if (outcome.next === 'back-off') {
        this.#queue.addRateLimited(key);
        return;
      }
      this.#queue.forget(key);
      if (outcome.next === 'later') this.#queue.addAfter(key, outcome.afterMs);
    } catch (error) {
      if (signal.aborted) return;
      const retries = this.#queue.numRequeues(key);
      const dropped = retries >= (this.#options.maxRetries ?? Number.POSITIVE_INFINITY);
      this.#options.logger.warn(dropped ? 'sync failed, will not retry before the next event' : 'sync failed', {
        key,
        retries,
        error: StatusError.from(error).message,
      });
      if (dropped) this.#queue.forget(key);
      else this.#queue.addRateLimited(key);
    }
  }
}
