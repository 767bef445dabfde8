const PAGE_SHIFT = 10;
const PAGE = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE - 1;

/** Integers of 32 bits by an object's number, 0 until they are set. A page is made with the first write to it. */
export class NumberTable {
  readonly #pages: (Int32Array | undefined)[];

  /** @param size one more than the largest usual number; larger ones are accepted */
  constructor(size: number) {
    this.#pages = Array.from({ length: (size >>> PAGE_SHIFT) + 1 });
  }

  get(number: number): number {
    const page = this.#pages[number >>> PAGE_SHIFT];
    return page === undefined ? 0 : page[number & PAGE_MASK]!;
  }

  set(number: number, value: number): void {
    const at = number >>> PAGE_SHIFT;
    let page = this.#pages[at];
    if (page === undefined) this.#pages[at] = page = new Int32Array(PAGE);
    page[number & PAGE_MASK] = value;
  }
}
