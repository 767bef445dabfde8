const PAGE_SHIFT = 10;
const PAGE = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE - 1;

/** 32 bits by an object's number, none of them set in the beginning. A page is made with the first write to it. */
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

  set(number: number, bits: number): void {
    const page = this.#pages[number >>> PAGE_SHIFT] ?? this.#make(number >>> PAGE_SHIFT);
    page[number & PAGE_MASK]! |= bits;
  }

  clear(number: number, bits: number): void {
    const page = this.#pages[number >>> PAGE_SHIFT];
    if (page !== undefined) page[number & PAGE_MASK]! &= ~bits;
  }

  #make(at: number): Int32Array {
    const page = new Int32Array(PAGE);
    this.#pages[at] = page;
    return page;
  }
}
