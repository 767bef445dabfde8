import { assert } from './assert.ts';

export interface LruOptions<K, V> {
  /** The most entries it ever holds. */
  readonly capacity: number;
  /** Told about an entry pushed out by a newer one; not about deleted or replaced ones. */
  readonly onEvict?: (key: K, value: V) => void;
}

/** A map that forgets the entry not read or written for the longest time. */
export class Lru<K, V> {
  readonly capacity: number;
  /** Iteration order of a Map is insertion order: re-inserting on use keeps the oldest first. */
  readonly #entries = new Map<K, V>();
  readonly #onEvict: ((key: K, value: V) => void) | undefined;

  constructor({ capacity, onEvict }: LruOptions<K, V>) {
    assert(Number.isInteger(capacity) && capacity > 0, 'an LRU holds at least one entry');
    this.capacity = capacity;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Marks the entry as used. */
  get(key: K): V | undefined {
    if (!this.#entries.has(key)) return undefined;
    const value = this.#entries.get(key) as V;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Does not mark the entry as used. */
  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.capacity) return;
    const [oldKey, oldValue] = this.#entries.entries().next().value as [K, V];
    this.#entries.delete(oldKey);
    this.#onEvict?.(oldKey, oldValue);
  }

  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Oldest first. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}
