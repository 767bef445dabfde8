import type { ImageRecord } from '../inventory/image-inventory.ts';
import { byUse } from './protection.ts';

/** An image with the bytes that it freed when it was put in. */
interface Entry {
  readonly record: ImageRecord;
  readonly bytes: bigint;
}

/**
 * Images by the bytes that they free, most first. It keeps columns of numbers instead of an object for each image: thousands of images may go,
 * and few are ever taken out. Invariant: no child of the heap comes before its parent.
 */
export class LargestFirst {
  readonly #records: ImageRecord[];
  readonly #bytes: bigint[];
  /** The bytes as numbers, which compare faster; different ones may round to the same. */
  readonly #rounded: number[];

  /** @param bytes of each record, in the same order */
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

  /** An image of which everything is shared frees nothing until its sisters go: the size breaks the tie, then the use. */
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
