import type { WorkKey } from '../queues/work-key.ts';

/** The queue of these keys. */
export interface KeysInQueue {
  numRequeues(key: WorkKey): number;
  inWork(): Iterable<WorkKey>;
}

/** Minimum number of keys for a sweep. */
const LEAST_SWEPT = 1000;

/**
 * Keys for which a call got no answer, until an attempt ends. While a server does not answer, a backup may be restored, and watches that
 * stay open do not show that. So the graph's record of a key that is tried again may be of another history (designs/0011).
 *
 * Bound: twice the keys whose failures the queue counts, or a thousand. The queue may forget keys meanwhile, as a sweep of a backlog does;
 * they are forgotten here when that bound is reached.
 */
export class UnansweredKeys {
  readonly #queue: KeysInQueue;
  readonly #keys = new Map<WorkKey, number>();
  #sweptAt = LEAST_SWEPT;

  constructor(queue: KeysInQueue) {
    this.#queue = queue;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** When the last call for the key got no answer, ms. Undefined if every call was answered. */
  of(key: WorkKey): number | undefined {
    return this.#keys.get(key);
  }

  /** The key is in work, and will be tried again. `at`: monotonic, ms. */
  note(key: WorkKey, at: number): void {
    this.#keys.set(key, at);
    if (this.#keys.size >= this.#sweptAt) this.#sweep();
  }

  forget(key: WorkKey): void {
    this.#keys.delete(key);
  }

  #sweep(): void {
    const inWork = new Set(this.#queue.inWork());
    for (const key of this.#keys.keys()) {
      if (this.#queue.numRequeues(key) === 0 && !inWork.has(key)) this.#keys.delete(key);
    }
    this.#sweptAt = Math.max(LEAST_SWEPT, 2 * this.#keys.size);
  }
}
