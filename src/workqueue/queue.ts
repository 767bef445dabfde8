import { assert } from '../base/errors/assert.ts';
import type { Clock } from '../base/time/clock.ts';
import { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
import { Ring } from '../base/collections/ring.ts';
import { type KeyHandle, type KeyTable, MapKeyTable } from './key-table.ts';
import { type QueueMetrics, queueMetrics } from './metrics.ts';
import { TimeRing } from './time-ring.ts';

/** Items are keys: two are the same item if their {@link KeyTable} says so. Objects would never be de-duplicated. */
export type QueueKey = string | number;

export type QueueGet<T> = { readonly item: T; readonly shutdown: false } | { readonly shutdown: true };

export interface QueueOptions<T extends QueueKey> {
  /** The label of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  /** Maximum number of different items that wait or are in work; one more is refused with {@link QueueFullError}. */
  readonly bound?: number;
  /** The queue's own storage of items; a `Map` by default. */
  readonly keys?: KeyTable<T>;
}

/** A queue holds each key once, so this means more different keys than a `Map` can hold: a programming error. */
export class QueueFullError extends Error {
  constructor(name: string, bound: number) {
    super(`queue ${name} holds ${bound} items`);
    this.name = 'QueueFullError';
  }
}

/** V8 does not allow more than 2^24 entries in a Map. */
const MAP_LIMIT = 2 ** 24 - 1;
/** Maximum number of waiting workers. */
const MAX_WAITERS = 100_000;

/** An item in work. */
interface Work {
  readonly takenAt: number;
  /** The time at which it was added again while in work (processing-dirty). */
  addedAt: number | undefined;
  /** True if the awaited event of the item came after a worker took it. */
  woken: boolean;
}

/**
 * Hands out keys in their order of arrival, each key to one worker at a time, and drops repetitions: the contract of client-go's
 * `util/workqueue` (COL-081). SPEC.md has the states of an item.
 */
export class Queue<T extends QueueKey> {
  readonly name: string;
  readonly bound: number;
  protected readonly clock: Clock;
  protected readonly metrics: QueueMetrics;
  /** Items that wait or are in work. For waiting items only order and time are kept, because at start-up there may be millions. */
  readonly #keys: KeyTable<T>;
  readonly #work = new Map<KeyHandle, Work>();
  /** Waiting items, in their order of arrival. */
  readonly #order: Ring<KeyHandle>;
  /** The time at which each of `#order` was added. */
  readonly #times = new TimeRing();
  readonly #waiters = new Ring<(got: QueueGet<T>) => void>({ bound: MAX_WAITERS });
  #drained: (() => void)[] = [];
  #shuttingDown = false;

  constructor({ name, clock, metrics = noMetrics, bound = MAP_LIMIT, keys = new MapKeyTable<T>() }: QueueOptions<T>) {
    this.name = name;
    this.bound = bound;
    this.clock = clock;
    this.#keys = keys;
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

  /** Adds an item. Does nothing if it already waits or the queue is shutting down. An item in work is processed again afterwards. */
  add(item: T): void {
    if (this.#shuttingDown) return;
    const before = this.#keys.size;
    const handle = this.#keys.acquire(item);
    this.admit(handle, this.#keys.size > before ? 'new' : 'known');
  }

  /** The rest of `add` for a caller that has already put the item into the table of keys; `known` says whether it was there before. */
  protected admit(handle: KeyHandle, item: 'new' | 'known'): void {
    if (item === 'known') {
      const work = this.#work.get(handle);
      if (work === undefined || work.addedAt !== undefined) return;
      work.addedAt = this.clock.monotonic();
      this.metrics.added();
      return;
    }
    if (this.#keys.size > this.bound) {
      this.#keys.release(handle);
      throw new QueueFullError(this.name, this.bound);
    }
    this.metrics.added();
    this.#enqueue(handle, this.clock.monotonic());
  }

  /**
   * Resolves with the next item. The caller owns it until it calls `done`. After a shutdown, waiting items are still handed out; then every
   * caller gets `shutdown`.
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
    const handle = this.#order.popFront();
    if (handle !== undefined) return this.#take(handle, this.#times.popFront());
    return this.#shuttingDown ? { shutdown: true } : undefined;
  }

  /**
   * Removes waiting items that are `over`, as if they had never been added. The others keep their order and times, and none counts as
   * taken. `over` must not change the queue. O(waiting items). Returns the number of removed items.
   */
  dropWaiting(over: (item: T) => boolean): number {
    let dropped = 0;
    for (let left = this.#order.length; left > 0; left--) {
      const handle = this.#order.popFront()!;
      const addedAt = this.#times.popFront();
      if (over(this.#keys.keyOf(handle))) {
        this.#keys.release(handle);
        this.metrics.dropped();
        dropped++;
      } else {
        this.#order.pushBack(handle);
        this.#times.pushBack(addedAt);
      }
    }
    this.#tellDrained();
    return dropped;
  }

  /** Ends the work on an item from `get`, successful or not. Must be called exactly once for each. */
  done(item: T): void {
    const handle = this.#keys.find(item);
    const work = this.#work.get(handle);
    if (work === undefined) return;
    this.metrics.finished(work.takenAt);
    this.#work.delete(handle);
    if (work.addedAt !== undefined) return this.#enqueue(handle, work.addedAt);
    this.#keys.release(handle);
    this.#tellDrained();
  }

  /** Records that an item was woken while it is in work, until it is done. Does nothing if it is not in work. */
  protected noteWakeUp(item: T): void {
    if (this.#work.size > 0) this.noteWakeUpOf(this.#keys.find(item));
  }

  /** Does the same by the handle of the item, or -1 for an unknown item. */
  protected noteWakeUpOf(handle: KeyHandle): void {
    const work = this.#work.get(handle);
    if (work !== undefined) work.woken = true;
  }

  /** The keys that are in work. */
  *inWork(): Generator<T> {
    for (const handle of this.#work.keys()) yield this.#keys.keyOf(handle);
  }

  /** Records that all items in work were woken, except these. */
  protected noteWakeUps(but: (item: T) => boolean): void {
    for (const [handle, work] of this.#work) if (!but(this.#keys.keyOf(handle))) work.woken = true;
  }

  /** True if the item in work was woken; returns true once for all wake-ups so far. */
  protected takeWakeUp(item: T): boolean {
    const work = this.#work.get(this.#keys.find(item));
    if (work?.woken !== true) return false;
    work.woken = false;
    return true;
  }

  /** Ignores further additions; workers end when nothing waits. Also ends a drain. */
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

  #enqueue(handle: KeyHandle, addedAt: number): void {
    const waiter = this.#waiters.popFront();
    if (waiter !== undefined) return waiter(this.#take(handle, addedAt));
    this.#order.pushBack(handle);
    this.#times.pushBack(addedAt);
  }

  #take(handle: KeyHandle, addedAt: number): QueueGet<T> {
    this.#work.set(handle, { takenAt: this.clock.monotonic(), addedAt: undefined, woken: false });
    this.metrics.taken(addedAt);
    return { item: this.#keys.keyOf(handle), shutdown: false };
  }

  /** Workers wait only while nothing is ready, so at shutdown nothing is left for them. */
  #releaseWaiters(): void {
    for (let waiter = this.#waiters.popFront(); waiter !== undefined; waiter = this.#waiters.popFront()) {
      waiter({ shutdown: true });
    }
  }

  #tellDrained(): void {
    if (this.#keys.size > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
