import type { LabelSignature } from '../../../api/selectors/label-signature.ts';

/**
 * Signatures of a run of items, in their order, in one block of memory: a hundred thousand are gone through in the time it takes to
 * touch a few thousand objects. What is not known yet has all bits, so that it passes every comparison and is looked at.
 */
export class SignatureColumn {
  /** Two for each item. */
  readonly #words: Int32Array;

  /** For at most so many items, of none of which anything is known. */
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

  /** The first place in `from..to-1` whose item may have all bits of `required`; `to` when there is none. */
  next(from: number, to: number, { low, high }: LabelSignature): number {
    const words = this.#words;
    for (let at = from; at < to; at++) {
      if ((words[2 * at]! & low) === low && (words[2 * at + 1]! & high) === high) return at;
    }
    return to;
  }

  /** Room for a new item at `at`; `size` counts it already. */
  insert(at: number, size: number): void {
    this.#words.copyWithin(2 * at + 2, 2 * at, 2 * size - 2);
    this.forget(at);
  }

  /** `size` still counts the item. */
  remove(at: number, size: number): void {
    this.#words.copyWithin(2 * at, 2 * at + 2, 2 * size);
  }

  /** A column of its own, as large, for the items from `cut` on. */
  from(cut: number): SignatureColumn {
    const column = new SignatureColumn(this.#words.length / 2);
    column.#words.set(this.#words.subarray(2 * cut));
    return column;
  }
}
