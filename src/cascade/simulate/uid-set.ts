import { NumberList } from './number-list.ts';
import { NumberTable } from './number-table.ts';
import type { ObjectNumbers } from './object-numbers.ts';

/** A set of uids that only grows. */
export interface UidSet extends Iterable<string> {
  readonly size: number;
  has(uid: string): boolean;
}

/** uids as numbers, in the order in which they were added. */
export class NumberedUidSet implements UidSet {
  readonly #numbers: ObjectNumbers;
  readonly #members: NumberTable;
  readonly #order = new NumberList();

  constructor(numbers: ObjectNumbers) {
    this.#numbers = numbers;
    this.#members = new NumberTable(numbers.nodes);
  }

  get size(): number {
    return this.#order.length;
  }

  has(uid: string): boolean {
    return this.#members.get(this.#numbers.of(uid)) !== 0;
  }

  add(uid: string): void {
    const number = this.#numbers.of(uid);
    if (this.#members.get(number) !== 0) return;
    this.#members.set(number, 1);
    this.#order.push(number);
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let i = 0; i < this.#order.length; i++) yield this.#numbers.uidOf(this.#order.get(i));
  }
}
