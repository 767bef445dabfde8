const PAGE_SHIFT = 10;
const PAGE = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE - 1;

/** Integers of 32 bits by an object's number, 0 until they are set. A page is made with the first write to it. */
export class NumberTable {
  readonly #pages: (Int32Array | undefined)[];

  /**
   * @param size one more than the largest usual number; larger ones are accepted
   * @param isLarge makes all pages at once
   */
  constructor(size: number, { isLarge }: { readonly isLarge: boolean }) {
    const count = (size >>> PAGE_SHIFT) + 1;
    const all = new Int32Array(isLarge ? count * PAGE : 0);
    this.#pages = Array.from({ length: count }, (_, i) =>
      isLarge ? all.subarray(i * PAGE, (i + 1) * PAGE) : undefined,
    );
  }

  get(number: number): number {
    const page = this.#pages[number >>> PAGE_SHIFT];
    return page === undefined ? 0 : page[number & PAGE_MASK]!;
  }

  has(number: number, bits: number): boolean {
    return (this.get(number) & bits) !== 0;
  }

  /** Sets and clears bits. */
  mark(number: number, { set = 0, clear = 0 }: { readonly set?: number; readonly clear?: number }): void {
    const at = number >>> PAGE_SHIFT;
    let page = this.#pages[at];
    if (page === undefined) this.#pages[at] = page = new Int32Array(PAGE);
    page[number & PAGE_MASK] = (page[number & PAGE_MASK]! & ~clear) | set;
  }
}
