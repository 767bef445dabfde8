/** A small integer that stands for a key while the key is in a queue. Afterwards it may stand for another key. */
export type KeyHandle = number;

/**
 * The keys that are in a queue. The queue itself knows them by their handles, so that a caller with very many keys can keep each of them in
 * less space than a string. The table decides which keys are the same.
 */
export interface KeyTable<T> {
  /** Keys in the table. */
  readonly size: number;
  /** Returns the handle of the key, which is in the table from now on. Compare `size` before and after to know whether it is new. */
  acquire(key: T): KeyHandle;
  /** The handle of the key, or -1 when it is not in the table. */
  find(key: T): KeyHandle;
  /** The key of a handle in use. */
  keyOf(handle: KeyHandle): T;
  /** Takes the key out of the table. */
  release(handle: KeyHandle): void;
}

/** Keys of any kind; two keys are the same if a `Map` treats them so. */
export class MapKeyTable<T extends string | number> implements KeyTable<T> {
  readonly #handles = new Map<T, KeyHandle>();
  /** By handle; undefined where it is free. */
  readonly #keys: (T | undefined)[] = [];
  readonly #free: KeyHandle[] = [];

  get size(): number {
    return this.#handles.size;
  }

  acquire(key: T): KeyHandle {
    const known = this.#handles.get(key);
    if (known !== undefined) return known;
    const handle = this.#free.pop() ?? this.#keys.length;
    this.#keys[handle] = key;
    this.#handles.set(key, handle);
    return handle;
  }

  find(key: T): KeyHandle {
    return this.#handles.get(key) ?? -1;
  }

  keyOf(handle: KeyHandle): T {
    return this.#keys[handle]!;
  }

  release(handle: KeyHandle): void {
    this.#handles.delete(this.#keys[handle]!);
    this.#keys[handle] = undefined;
    this.#free.push(handle);
  }
}
