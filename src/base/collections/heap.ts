/** A position in a {@link Heap}. It belongs to the heap that created it, and is stale once popped or removed. */
export interface HeapHandle<T> {
  readonly value: T;
}

interface Entry<T> extends HeapHandle<T> {
  value: T;
  /** Position in the array, or -1 when it left the heap. */
  index: number;
  /** Order of insertion: among equal items the older comes first, so that a replay is identical. */
  readonly sequence: number;
}

/** Binary min-heap whose elements can be moved and removed in O(log n) by the handle `push` returned. */
export class Heap<T> {
  readonly #entries: Entry<T>[] = [];
  readonly #compare: (a: T, b: T) => number;
  #sequence = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#entries.length;
  }

  push(value: T): HeapHandle<T> {
    const entry: Entry<T> = { value, index: this.#entries.length, sequence: this.#sequence++ };
    this.#entries.push(entry);
    this.#up(entry);
    return entry;
  }

  peek(): T | undefined {
    return this.#entries[0]?.value;
  }

  pop(): T | undefined {
    const first = this.#entries[0];
    if (first === undefined) return undefined;
    this.#take(first);
    return first.value;
  }

  has(handle: HeapHandle<T>): boolean {
    const entry = handle as Entry<T>;
    return this.#entries[entry.index] === entry;
  }

  /** Returns false if the element is already gone. */
  remove(handle: HeapHandle<T>): boolean {
    if (!this.has(handle)) return false;
    this.#take(handle as Entry<T>);
    return true;
  }

  /** Changes the value of an element and moves it. Returns false if the element is already gone. */
  update(handle: HeapHandle<T>, value: T): boolean {
    if (!this.has(handle)) return false;
    const entry = handle as Entry<T>;
    entry.value = value;
    this.#up(entry);
    this.#down(entry);
    return true;
  }

  /** In no particular order. */
  *values(): IterableIterator<T> {
    for (const entry of this.#entries) yield entry.value;
  }

  #before(a: Entry<T>, b: Entry<T>): boolean {
    const order = this.#compare(a.value, b.value);
    return order < 0 || (order === 0 && a.sequence < b.sequence);
  }

  #place(entry: Entry<T>, index: number): void {
    entry.index = index;
    this.#entries[index] = entry;
  }

  #up(entry: Entry<T>): void {
    let i = entry.index;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = this.#entries[parent]!;
      if (!this.#before(entry, above)) break;
      this.#place(above, i);
      i = parent;
    }
    this.#place(entry, i);
  }

  #down(entry: Entry<T>): void {
    let i = entry.index;
    const n = this.#entries.length;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && this.#before(this.#entries[child + 1]!, this.#entries[child]!)) child++;
      const below = this.#entries[child]!;
      if (!this.#before(below, entry)) break;
      this.#place(below, i);
      i = child;
    }
    this.#place(entry, i);
  }

  #take(entry: Entry<T>): void {
    const last = this.#entries.pop()!;
    if (last !== entry) {
      this.#place(last, entry.index);
      this.#up(last);
      this.#down(last);
    }
    entry.index = -1;
  }
}
