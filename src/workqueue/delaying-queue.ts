import type { Timer } from '../base/time/clock.ts';
import { Heap, type HeapHandle } from '../base/collections/heap.ts';
import { Queue, QueueFullError, type QueueKey } from './queue.ts';

interface Delayed<T> {
  readonly item: T;
  /** `clock.monotonic()` milliseconds. */
  readonly readyAt: number;
  readonly origin: DelayOrigin;
}

/** The source of the delay: a rate limiter, which is called when the delay is cut short, or a caller. */
export type DelayOrigin = 'limiter' | 'caller';

/** A queue to which an item can be added after some time (client-go `delaying_queue.go`). */
export class DelayingQueue<T extends QueueKey> extends Queue<T> {
  readonly #heap = new Heap<Delayed<T>>((a, b) => a.readyAt - b.readyAt);
  readonly #handles = new Map<T, HeapHandle<Delayed<T>>>();
  /** One timer, for the earliest item; undefined when nothing is delayed. */
  #timer: { readonly at: number; readonly timer: Timer } | undefined;

  /** Items that wait for their time. */
  get delayed(): number {
    return this.#heap.size;
  }

  /** Counts only items whose time is more than this away. O(delayed items). */
  delayedLongerThan(ms: number): number {
    const at = this.clock.monotonic() + ms;
    let found = 0;
    for (const { value } of this.#handles.values()) if (value.readyAt > at) found++;
    return found;
  }

  /** Each delayed item once, in no order, with the milliseconds until its time. */
  *delays(): Iterable<{ readonly item: T; readonly inMs: number }> {
    const now = this.clock.monotonic();
    for (const { value } of this.#handles.values()) {
      yield { item: value.item, inMs: Math.max(0, value.readyAt - now) };
    }
  }

  /** Adds the item when `delayMs` are over. The earliest of several delays for one item counts. */
  addAfter(item: T, delayMs: number): void {
    this.delay(item, delayMs, 'caller');
  }

  /** Delays the item, like {@link addAfter}. */
  protected delay(item: T, delayMs: number, origin: DelayOrigin): void {
    if (this.shuttingDown) return;
    this.metrics.retried();
    // The item was woken during the failed attempt, which may not have seen the change.
    if (origin === 'limiter' && this.takeWakeUp(item)) {
      this.notWaitedOut(1);
      this.add(item);
      return;
    }
    if (!(delayMs > 0)) {
      this.add(item);
      return;
    }
    const delayed: Delayed<T> = { item, readyAt: this.clock.monotonic() + delayMs, origin };
    const handle = this.#handles.get(item);
    if (handle === undefined) {
      if (this.#handles.size >= this.bound) throw new QueueFullError(this.name, this.bound);
      this.#handles.set(item, this.#heap.push(delayed));
    } else {
      this.#keepSooner(handle, delayed);
    }
    this.#arm();
  }

  /** Called when this many delays of a limiter end early: the item was woken, or a shorter delay applies. */
  protected notWaitedOut(_count: number): void {}

  /**
   * Makes a delayed item ready at once, for when something changed that it may have waited for (BETTER-8). Returns false if the item is not
   * delayed. If it is in work, it becomes ready at once when the present attempt fails.
   */
  wake(item: T): boolean {
    const handle = this.#handles.get(item);
    if (handle === undefined) {
      this.noteWakeUp(item);
      return false;
    }
    this.#heap.remove(handle);
    this.#handles.delete(item);
    this.#arm();
    if (handle.value.origin === 'limiter') this.notWaitedOut(1);
    this.add(item);
    return true;
  }

  /**
   * Makes a delayed item ready in `ms` at the latest, after a change that may or may not concern the item, and that may come again and
   * again. Returns false if it is not delayed.
   */
  hasten(item: T, ms: number): boolean {
    const handle = this.#handles.get(item);
    if (handle === undefined) return false;
    this.#keepSooner(handle, { item, readyAt: this.clock.monotonic() + ms, origin: 'caller' });
    this.#arm();
    return true;
  }

  /** {@link wake} of every item; those that are delayed in the order of their times. */
  wakeAll(): void {
    this.noteWakeUps((item) => this.#handles.has(item));
    let limited = 0;
    for (let next = this.#heap.pop(); next !== undefined; next = this.#heap.pop()) {
      this.#handles.delete(next.item);
      if (next.origin === 'limiter') limited++;
      this.add(next.item);
    }
    this.notWaitedOut(limited);
    this.#arm();
  }

  /** Delayed items are dropped: their time will not come. */
  override shutDown(): void {
    this.#dropDelayed();
    super.shutDown();
  }

  /** Delayed items are dropped, ready ones are drained. */
  override shutDownWithDrain(): Promise<void> {
    this.#dropDelayed();
    return super.shutDownWithDrain();
  }

  #keepSooner(handle: HeapHandle<Delayed<T>>, delayed: Delayed<T>): void {
    const sooner = delayed.readyAt < handle.value.readyAt;
    const dropped = sooner ? handle.value : delayed;
    if (sooner) this.#heap.update(handle, delayed);
    if (dropped.origin === 'limiter') this.notWaitedOut(1);
  }

  #dropDelayed(): void {
    while (this.#heap.pop() !== undefined);
    this.#handles.clear();
    this.#arm();
  }

  #arm(): void {
    const next = this.#heap.peek();
    if (this.#timer?.at === next?.readyAt) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (next === undefined) return;
    const delay = next.readyAt - this.clock.monotonic();
    this.#timer = { at: next.readyAt, timer: this.clock.setTimer(delay, () => this.#fire()) };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.clock.monotonic();
    for (let next = this.#heap.peek(); next !== undefined && next.readyAt <= now; next = this.#heap.peek()) {
      this.#heap.pop();
      this.#handles.delete(next.item);
      this.add(next.item);
    }
    this.#arm();
  }
}
