import { assert } from '../errors/assert.ts';

export interface LruOptions<K, V> {
  /** Maximum number of entries. */
  readonly capacity: number;
  /** Called with an entry that a newer one evicted; not for deleted or replaced entries. */
  readonly onEvict?: (key: K, value: V) => void;
}

const nothing = Symbol('nothing');

/** A map that evicts the least recently used entry. */
export class Lru<K, V> {
  readonly capacity: number;
  /** A Map iterates in insertion order, so re-inserting on use keeps the oldest first. */
  readonly #entries = new Map<K, V>();
  #newest: K | typeof nothing = nothing;
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
    const value = this.#entries.get(key) as V;
    if (value === undefined && !this.#entries.has(key)) return undefined;
    // The newest entry need not be moved.
    if (key === this.#newest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    return value;
  }

  /** Does not mark the entry as used. */
  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.capacity) return;
    const [oldKey, oldValue] = this.#entries.entries().next().value as [K, V];
    this.#entries.delete(oldKey);
    this.#onEvict?.(oldKey, oldValue);
  }

  delete(key: K): boolean {
    if (key === this.#newest) this.#newest = nothing;
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#newest = nothing;
    this.#entries.clear();
  }

  /** Oldest first. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}
