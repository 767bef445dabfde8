import { assert } from '../errors/assert.ts';

export interface RingOptions {
  /** Maximum number of elements. */
  readonly bound: number;
}

/** A deque in one array that doubles up to its bound. Both ends are O(1) amortised; it never shifts. */
export class Ring<T> {
  readonly bound: number;
  #slots: (T | undefined)[];
  #head = 0;
  #length = 0;

  constructor({ bound }: RingOptions) {
    assert(bound >= 1, 'a ring holds at least one element');
    this.bound = bound;
    this.#slots = Array.from({ length: 8 });
  }

  get length(): number {
    return this.#length;
  }

  /** Returns false and changes nothing if the ring is full. */
  pushBack(value: T): boolean {
    if (!this.#room()) return false;
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
    return true;
  }

  /** Returns false and changes nothing if the ring is full. */
  pushFront(value: T): boolean {
    if (!this.#room()) return false;
    this.#head = (this.#head - 1) & (this.#slots.length - 1);
    this.#slots[this.#head] = value;
    this.#length++;
    return true;
  }

  popFront(): T | undefined {
    if (this.#length === 0) return undefined;
    const value = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    return value;
  }

  popBack(): T | undefined {
    if (this.#length === 0) return undefined;
    this.#length--;
    const i = (this.#head + this.#length) & (this.#slots.length - 1);
    const value = this.#slots[i];
    this.#slots[i] = undefined;
    return value;
  }

  /** The i-th element from the front. */
  at(i: number): T | undefined {
    return i >= 0 && i < this.#length ? this.#slots[(this.#head + i) & (this.#slots.length - 1)] : undefined;
  }

  clear(): void {
    this.#slots = Array.from({ length: 8 });
    this.#head = 0;
    this.#length = 0;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let i = 0; i < this.#length; i++) yield this.at(i) as T;
  }

  #room(): boolean {
    if (this.#length === this.bound) return false;
    if (this.#length === this.#slots.length) {
      // Moves the part before the head behind the rest, which leaves space after it.
      const slots =
        this.#head === 0 ? this.#slots : [...this.#slots.slice(this.#head), ...this.#slots.slice(0, this.#head)];
      slots.length *= 2;
      this.#slots = slots;
      this.#head = 0;
    }
    return true;
  }
}
