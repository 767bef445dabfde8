/** Words of a page: 64 rows of the node table, four KiB. */
const PAGE_SHIFT = 10;
const PAGE = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE - 1;

/** A table or graph to begin with: copied whole, or read until something else is written. A branch needs that the other one does not change. */
export interface Copied<T> {
  readonly of: T;
  readonly as: 'clone' | 'branch';
}

/**
 * The words of an array, with changes of their own: a page is copied with the first write to it, and read from the array before. The array
 * must not change. Words beyond its length are 0 until they are written.
 */
export class WordsBranch {
  readonly #base: Int32Array;
  readonly #pages: (Int32Array | undefined)[];
  #written = 0;

  constructor(base: Int32Array) {
    this.#base = base;
    this.#pages = Array.from({ length: Math.ceil(base.length / PAGE) });
  }

  /** The size of the written pages. */
  get allocatedBytes(): number {
    return this.#written * PAGE * 4;
  }

  get(at: number): number {
    const page = this.#pages[at >>> PAGE_SHIFT];
    return page === undefined ? (this.#base[at] ?? 0) : page[at & PAGE_MASK]!;
  }

  set(at: number, value: number): void {
    (this.#pages[at >>> PAGE_SHIFT] ?? this.#copy(at >>> PAGE_SHIFT))[at & PAGE_MASK] = value;
  }

  /** An independent branch of the same array. */
  clone(): WordsBranch {
    const copy = new WordsBranch(this.#base);
    for (const [n, page] of this.#pages.entries()) copy.#pages[n] = page?.slice();
    copy.#written = this.#written;
    return copy;
  }

  #copy(n: number): Int32Array {
    const page = new Int32Array(PAGE);
    page.set(this.#base.subarray(n * PAGE, (n + 1) * PAGE));
    this.#pages[n] = page;
    this.#written++;
    return page;
  }
}
