import type { ImageRecord } from '../inventory/image-records.ts';
import { byUse } from './protection.ts';

/** An image with the bytes that it would free, as computed when it was added. */
interface Entry {
  readonly record: ImageRecord;
  readonly bytes: bigint;
}

/**
 * A heap of images, the one that frees most bytes on top. It keeps columns of numbers instead of one object for each image: thousands of
 * images may be candidates, but few are ever taken out. Invariant: no child of the heap comes before its parent.
 */
export class LargestFirst {
  readonly #records: ImageRecord[];
  readonly #bytes: bigint[];
  /** The bytes as numbers, which compare faster. Different byte counts may round to the same number. */
  readonly #rounded: number[];
  /** Indices into the columns, in the order of the heap. */
  readonly #heap: number[];

  /**
   * Takes over both arrays.
   * @param bytes that each record would free, in the order of `records`
   */
  constructor(records: ImageRecord[], bytes: bigint[]) {
    this.#records = records;
    this.#bytes = bytes;
    this.#rounded = bytes.map(Number);
    this.#heap = records.map((_, index) => index);
    for (let at = (records.length >> 1) - 1; at >= 0; at--) this.#down(at, this.#heap[at]!);
  }

  peek(): Entry | undefined {
    const top = this.#heap[0];
    return top === undefined ? undefined : { record: this.#records[top]!, bytes: this.#bytes[top]! };
  }

  pop(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#down(0, last);
  }

  push(record: ImageRecord, bytes: bigint): void {
    const index = this.#records.push(record) - 1;
    this.#bytes.push(bytes);
    this.#rounded.push(Number(bytes));
    let at = this.#heap.push(index) - 1;
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = this.#heap[(at - 1) >> 1]!;
      if (!this.#before(index, parent)) break;
      this.#heap[at] = parent;
    }
    this.#heap[at] = index;
  }

  /** Places an index at this position or below it, where no child comes before it. */
  #down(from: number, index: number): void {
    const heap = this.#heap;
    let at = from;
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#before(heap[child]!, index)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = index;
  }

  /** Compares by bytes, then by size, then by last use. An image frees nothing while it shares all its layers: the size breaks that tie. */
  #before(a: number, b: number): boolean {
    const left = this.#rounded[a]!;
    const right = this.#rounded[b]!;
    if (left !== right) return left > right;
    if (this.#bytes[a] !== this.#bytes[b]) return this.#bytes[a]! > this.#bytes[b]!;
    const first = this.#records[a]!;
    const second = this.#records[b]!;
    if (first.image.size !== second.image.size) return first.image.size > second.image.size;
    return byUse(first, second) < 0;
  }
}
