import type { LabelSignature } from '../../../api/selectors/label-signature.ts';

/**
 * Signatures of consecutive items in one block of memory, so that a hundred thousand are compared in the time of accessing a few thousand
 * objects. An unknown signature has all bits, so it passes every comparison and the item is examined.
 */
export class SignatureColumn {
  /** Two for each item. */
  readonly #words: Int32Array;

  /** Space for this many items, all with unknown signatures. */
  constructor(capacity: number) {
    this.#words = new Int32Array(2 * capacity).fill(-1);
  }

  knows(at: number): boolean {
    return (this.#words[2 * at]! & this.#words[2 * at + 1]!) !== -1;
  }

  set(at: number, { low, high }: LabelSignature): void {
    this.#words[2 * at] = low;
    this.#words[2 * at + 1] = high;
  }

  forget(at: number): void {
    this.#words.fill(-1, 2 * at, 2 * at + 2);
  }

  /** The first index in `from..to-1` whose item may have all bits of `required`; `to` if there is none. */
  next(from: number, to: number, { low, high }: LabelSignature): number {
    const words = this.#words;
    for (let at = from; at < to; at++) {
      if ((words[2 * at]! & low) === low && (words[2 * at + 1]! & high) === high) return at;
    }
    return to;
  }

  /** Inserts a new item at `at`; `size` already includes it. */
  insert(at: number, size: number): void {
    this.#words.copyWithin(2 * at + 2, 2 * at, 2 * size - 2);
    this.forget(at);
  }

  /** `size` still includes the item. */
  remove(at: number, size: number): void {
    this.#words.copyWithin(2 * at, 2 * at + 2, 2 * size);
  }

  /** A new column of the same capacity for the items from `cut` on. */
  from(cut: number): SignatureColumn {
    const column = new SignatureColumn(this.#words.length / 2);
    column.#words.set(this.#words.subarray(2 * cut));
    return column;
  }
}
