import type { WorkKey } from '../queues/work-key.ts';

/** What the queue of these keys knows of them. */
export interface KeysInQueue {
  numRequeues(key: WorkKey): number;
  inWork(): Iterable<WorkKey>;
}

/** With fewer of them nobody looks which the queue has forgotten. */
const LEAST_SWEPT = 1000;

/**
 * Keys for which a call got no answer (`is-answer.ts`), until an attempt comes to its end. While a server does not answer, a backup may
 * be restored, and watches that stay open tell nothing of it: what the graph has of a key that is tried again may be of another history
 * (designs/0011).
 *
 * Bound: twice the keys whose failures the queue counts, or a thousand. Those that it has forgotten meanwhile, as a sweep of a backlog
 * does, are let go when so many have come together.
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

  /** How many doubts there had been when its last call got no answer; undefined for one that is in no doubt. */
  of(key: WorkKey): number | undefined {
    return this.#keys.get(key);
  }

  /** The key is in work, and will be tried again. `doubts`: so many there have been about the server, with this (AbsentOwnerCache). */
  note(key: WorkKey, doubts: number): void {
    this.#keys.set(key, doubts);
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
