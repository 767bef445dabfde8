import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { type Metrics, noMetrics } from '../base/metrics.ts';
import { Ring } from '../base/ring.ts';
import { type QueueMetrics, queueMetrics } from './metrics.ts';
import { TimeRing } from './time-ring.ts';

/** Items are keys: two are the same item when they are `===`. An object would never be de-duplicated. */
export type QueueKey = string | number;

export type QueueGet<T> = { readonly item: T; readonly shutdown: false } | { readonly shutdown: true };

export interface QueueOptions {
  /** Label of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  /** The most different items waiting or in work; one more is refused with {@link QueueFullError}. */
  readonly bound?: number;
}

/** A queue holds each key once, so this means more different keys than a `Map` can hold: a programming error. */
export class QueueFullError extends Error {
  constructor(name: string, bound: number) {
    super(`queue ${name} holds ${bound} items`);
    this.name = 'QueueFullError';
  }
}

/** V8 refuses to let a Map grow beyond 2^24 entries. */
const MAP_LIMIT = 2 ** 24 - 1;
/** Workers waiting at once. */
const MAX_WAITERS = 100_000;

/** An item in work. */
interface Work {
  readonly takenAt: number;
  /** When it was asked for again (processing-dirty). */
  addedAt: number | undefined;
}

/**
 * Hands out keys in the order they came, each key to one worker at a time, and forgets repetitions: client-go's
 * `util/workqueue` contract (COL-081). SPEC.md has the states of an item.
 */
export class Queue<T extends QueueKey> {
  readonly name: string;
  readonly bound: number;
  protected readonly clock: Clock;
  protected readonly metrics: QueueMetrics;
  /** Each item is in one of the two. Of those that wait nothing else is kept: at start-up there may be millions. */
  readonly #waiting = new Set<T>();
  readonly #work = new Map<T, Work>();
  /** Those that wait, in the order they came. */
  readonly #order: Ring<T>;
  /** When each of `#order` was added. */
  readonly #times = new TimeRing();
  readonly #waiters = new Ring<(got: QueueGet<T>) => void>({ bound: MAX_WAITERS });
  #drained: (() => void)[] = [];
  #shuttingDown = false;

  constructor({ name, clock, metrics = noMetrics, bound = MAP_LIMIT }: QueueOptions) {
    this.name = name;
    this.bound = bound;
    this.clock = clock;
    this.#order = new Ring({ bound });
    this.metrics = queueMetrics({ name, clock, metrics, startTimes: () => this.#startTimes() });
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Items ready to be taken. */
  len(): number {
    return this.#order.length;
  }

  /** Items taken and not done. */
  get processing(): number {
    return this.#work.size;
  }

  /** Nothing when the item already waits or the queue shuts down; processed again afterwards when it is in work. */
  add(item: T): void {
    if (this.#shuttingDown) return;
    const work = this.#work.get(item);
    if (work !== undefined) {
      if (work.addedAt !== undefined) return;
      work.addedAt = this.clock.monotonic();
      this.metrics.added();
      return;
    }
    const waiting = this.#waiting.size;
    // Its size tells whether the item was there, which saves looking for it.
    this.#waiting.add(item);
    if (this.#waiting.size === waiting) return;
    if (waiting + this.#work.size >= this.bound) {
      this.#waiting.delete(item);
      throw new QueueFullError(this.name, this.bound);
    }
    this.metrics.added();
    this.#enqueue(item, this.clock.monotonic());
  }

  /**
   * The next item, as soon as there is one. The caller owns it until it calls `done`. Items that waited when the queue
   * shut down are still handed out; after them everybody gets `shutdown`.
   */
  get(): Promise<QueueGet<T>> {
    const now = this.tryGet();
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((resolve) => {
      assert(this.#waiters.pushBack(resolve), `more than ${MAX_WAITERS} workers wait`);
    });
  }

  /** Like `get` but without waiting: undefined when nothing is ready. */
  tryGet(): QueueGet<T> | undefined {
    const item = this.#order.popFront();
    if (item !== undefined) return this.#take(item, this.#times.popFront());
    return this.#shuttingDown ? { shutdown: true } : undefined;
  }

  /** Work on an item taken by `get` ended, well or not. Must be called exactly once for each. */
  done(item: T): void {
    const work = this.#work.get(item);
    if (work === undefined) return;
    this.metrics.finished(work.takenAt);
    this.#work.delete(item);
    if (work.addedAt === undefined) return this.#tellDrained();
    this.#waiting.add(item);
    this.#enqueue(item, work.addedAt);
  }

  /** From now on additions are ignored; workers end when nothing waits any more. Ends a drain too. */
  shutDown(): void {
    this.#shuttingDown = true;
    this.#releaseWaiters();
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Like `shutDown`, and resolves when every item has been taken and done, or when `shutDown` is called. */
  shutDownWithDrain(): Promise<void> {
    this.#shuttingDown = true;
    this.#releaseWaiters();
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#tellDrained();
    });
  }

  *#startTimes(): Iterable<number> {
    for (const { takenAt } of this.#work.values()) yield takenAt;
  }

  #enqueue(item: T, addedAt: number): void {
    const waiter = this.#waiters.popFront();
    if (waiter !== undefined) return waiter(this.#take(item, addedAt));
    this.#order.pushBack(item);
    this.#times.pushBack(addedAt);
  }

  #take(item: T, addedAt: number): QueueGet<T> {
    assert(this.#waiting.delete(item), 'what is in order waits');
    this.#work.set(item, { takenAt: this.clock.monotonic(), addedAt: undefined });
    this.metrics.taken(addedAt);
    return { item, shutdown: false };
  }

  /** Workers only wait while nothing is ready, so at shut down there is nothing left for them. */
  #releaseWaiters(): void {
    for (let waiter = this.#waiters.popFront(); waiter !== undefined; waiter = this.#waiters.popFront()) {
      waiter({ shutdown: true });
    }
  }

  #tellDrained(): void {
    if (this.#waiting.size + this.#work.size > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
