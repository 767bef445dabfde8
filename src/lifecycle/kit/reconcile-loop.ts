import { setMaxListeners } from 'node:events';
import { append } from '../../base/collections/append.ts';
import { StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { linkSignals } from '../../base/time/abort.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { retryAfterMs } from '../../client/rest/retry-after.ts';
import { defaultControllerRateLimiter } from '../../workqueue/rate-limiters.ts';
import { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import { reportDelayedKeys } from './delayed-keys.ts';

/** The part of an `Informer` that the loop uses: the source that a controller reads. */
export interface Cache extends Service {
  /** Resolves after the first list. Rejects with an AbortError if `signal` is aborted first. */
  waitForSync(signal: AbortSignal): Promise<void>;
}

export type SyncOutcome =
  /** Nothing is left to do until the next event of the key. */
  | { readonly next: 'settled' }
  /** Successful, but not at the goal: sync again after this time. */
  | { readonly next: 'later'; readonly afterMs: number }
  /** A part failed and was logged: sync again with back-off. */
  | { readonly next: 'back-off' };

export interface ReconcileLoopOptions {
  /** The name of the queue in the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The loop runs them, and begins no sync before all have their first list (LIFE-001). */
  readonly caches: readonly Cache[];
  /** Number of keys that are synced concurrently. */
  readonly workers: number;
  /** Maximum back-off of a key; 1000 s in general (LIFE-003). Retries never stop. */
  readonly backOffCapMs?: number;
  /** Number of consecutive failures after which a key is dropped until its next event. By default, retries never stop. */
  readonly maxRetries?: number;
  /** Brings one key to its goal. An error is logged and retried, like `back-off`. The signal belongs to the loop. */
  readonly sync: (key: string, signal: AbortSignal) => Promise<SyncOutcome>;
  /** Keys to sync periodically, without events. */
  readonly resync?: { readonly everyMs: number; readonly keys: () => Iterable<string> };
}

/** Caches, a rate-limited queue, and workers: the loop that the controllers of this room run in. Runs once. */
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

  /** Triggers the key. It is synced after `delayMs`; without a delay immediately, even if it waits for a retry. */
  trigger(key: string, delayMs = 0): void {
    if (delayMs > 0) this.#queue.addAfter(key, delayMs);
    else if (!this.#queue.wake(key)) this.#queue.add(key);
  }

  async run(outerSignal: AbortSignal): Promise<void> {
    const { caches, workers, resync } = this.#options;
    using own = linkSignals(outerSignal);
    const { signal } = own;
    // Every request in flight listens to it; the workers and the parallelism of one sync bound their number.
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

  /** Ends with the queue: keys that wait when the loop stops are taken and dropped. */
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
      else this.#queue.addRateLimited(key, retryAfterOf(error));
    }
  }
}

/** The wait that an overloaded server asks for, ms (LIFE-017). */
function retryAfterOf(error: unknown): number {
  return error instanceof StatusError && error.code === 429 ? retryAfterMs(error.retryAfterSeconds) : 0;
}
