import { assert } from '../errors/assert.ts';

export interface LruOptions<K, V> {
  /** The most entries it ever holds. */
  readonly capacity: number;
  /** Called with an entry that a newer one displaced; not with deleted or replaced ones. */
  readonly onEvict?: (key: K, value: V) => void;
}

const nothing = Symbol('nothing');

/** A map that forgets the entry not read or written for the longest time. */
export class Lru<K, V> {
  readonly capacity: number;
  /** Iteration order of a Map is insertion order: re-inserting on use keeps the oldest first. */
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
    // Asked for again and again, it stays where it is.
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
