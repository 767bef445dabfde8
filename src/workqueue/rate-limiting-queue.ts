import { DelayingQueue } from './delaying-queue.ts';
import type { QueueKey, QueueOptions } from './queue.ts';
import { defaultControllerRateLimiter, type RateLimiter } from './rate-limiters.ts';

export interface RateLimitingQueueOptions<T extends QueueKey> extends QueueOptions<T> {
  /** Default: {@link defaultControllerRateLimiter}. */
  readonly rateLimiter?: RateLimiter<T>;
}

/** A queue for failing items: each failure increases the item's delay (client-go `rate_limiting_queue.go`). */
export class RateLimitingQueue<T extends QueueKey> extends DelayingQueue<T> {
  readonly #rateLimiter: RateLimiter<T>;

  constructor(options: RateLimitingQueueOptions<T>) {
    super(options);
    this.#rateLimiter = options.rateLimiter ?? defaultControllerRateLimiter<T>({ clock: options.clock });
  }

  /** Counts a failure of the item and adds it when its limiter allows (COL-082), but not before `leastMs` are over. */
  addRateLimited(item: T, leastMs = 0): void {
    if (this.shuttingDown) return;
    this.delay(item, Math.max(this.#rateLimiter.when(item), leastMs), 'limiter');
  }

  /** Called after a success, or a final outcome: the next failure counts as the first (COL-083). Does not end a delay. */
  forget(item: T): void {
    this.#rateLimiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#rateLimiter.numRequeues(item);
  }

  /** Otherwise the next failing item would wait behind those that were woken, and later failures behind that (BETTER-8). */
  protected override notWaitedOut(count: number): void {
    this.#rateLimiter.cancelled(count);
  }
}
