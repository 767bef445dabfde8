import type { ImageRecord } from '../inventory/image-inventory.ts';
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

  /** @param bytes that each record would free, in the order of `records` */
  constructor(records: readonly ImageRecord[], bytes: readonly bigint[]) {
    this.#records = [...records];
    this.#bytes = [...bytes];
    this.#rounded = bytes.map(Number);
    for (let index = (records.length >> 1) - 1; index >= 0; index--) this.#down(index);
  }

  peek(): Entry | undefined {
    const [record] = this.#records;
    return record && { record, bytes: this.#bytes[0]! };
  }

  pop(): void {
    const [record, bytes, rounded] = [this.#records.pop(), this.#bytes.pop(), this.#rounded.pop()];
    if (record === undefined || this.#records.length === 0) return;
    this.#place(0, record, bytes!, rounded!);
    this.#down(0);
  }

  push(record: ImageRecord, bytes: bigint): void {
    let index = this.#records.length;
    this.#place(index, record, bytes, Number(bytes));
    for (; index > 0; index = (index - 1) >> 1) {
      const parent = (index - 1) >> 1;
      if (!this.#before(index, parent)) return;
      this.#swap(index, parent);
    }
  }

  #down(from: number): void {
    for (let index = from; ;) {
      let child = 2 * index + 1;
      if (child >= this.#records.length) return;
      if (child + 1 < this.#records.length && this.#before(child + 1, child)) child++;
      if (!this.#before(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  /** Compares by bytes, then by size, then by last use. An image frees nothing while it shares all its layers: the size breaks that tie. */
  #before(a: number, b: number): boolean {
    const [left, right] = [this.#rounded[a]!, this.#rounded[b]!];
    if (left !== right) return left > right;
    if (this.#bytes[a] !== this.#bytes[b]) return this.#bytes[a]! > this.#bytes[b]!;
    const [first, second] = [this.#records[a]!, this.#records[b]!];
    if (first.image.size !== second.image.size) return first.image.size > second.image.size;
    return byUse(first, second) < 0;
  }

  #swap(a: number, b: number): void {
    const [record, bytes, rounded] = [this.#records[a]!, this.#bytes[a]!, this.#rounded[a]!];
    this.#place(a, this.#records[b]!, this.#bytes[b]!, this.#rounded[b]!);
    this.#place(b, record, bytes, rounded);
  }

  #place(index: number, record: ImageRecord, bytes: bigint, rounded: number): void {
    this.#records[index] = record;
    this.#bytes[index] = bytes;
    this.#rounded[index] = rounded;
  }
}
