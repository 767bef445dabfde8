import { NumberList } from './number-list.ts';
import { type ObjectNumbers, REMOVED } from './object-numbers.ts';

/** A set of uids that only grows. */
export interface UidSet extends Iterable<string> {
  readonly size: number;
  has(uid: string): boolean;
}

/** The removed objects, in the order of their removal. */
export class RemovedObjects implements UidSet {
  readonly #numbers: ObjectNumbers;
  readonly #order: NumberList;

  constructor(numbers: ObjectNumbers) {
    this.#numbers = numbers;
    this.#order = new NumberList(numbers.expected);
  }

  get size(): number {
    return this.#order.length;
  }

  has(uid: string): boolean {
    return this.#numbers.marks.has(this.#numbers.of(uid), REMOVED);
  }

  add(uid: string): void {
    const number = this.#numbers.of(uid);
    if (this.#numbers.marks.has(number, REMOVED)) return;
    this.#numbers.marks.set(number, REMOVED);
    this.#order.push(number);
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let i = 0; i < this.#order.length; i++) yield this.#numbers.uidOf(this.#order.get(i));
  }
}
