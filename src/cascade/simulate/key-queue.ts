import type { QueuedAs } from '../../collector/graph/effect.ts';
import type { NumberTable } from './number-table.ts';

/** The number of an object, twice, and one more if it was queued before the object was observed (COL-072). */
export type Key = number;

const FIRST_SIZE = 16;

export function keyOf(number: number, as: QueuedAs): Key {
  return number * 2 + (as === 'virtual' ? 1 : 0);
}

export function parseKey(key: Key): { readonly number: number; readonly queuedAs: QueuedAs } {
  return { number: key >>> 1, queuedAs: (key & 1) === 1 ? 'virtual' : 'observed' };
}

/** Keys in their order of arrival, each at most once. */
export class KeyQueue {
  /** A ring. Its size is a power of two. */
  #keys = new Int32Array(FIRST_SIZE);
  #head = 0;
  #count = 0;
  readonly #marks: NumberTable;
  readonly #waiting: number;

  /** @param waiting the mark of objects whose key waits here, and half the mark of those whose other key does */
  constructor(marks: NumberTable, waiting: number) {
    this.#marks = marks;
    this.#waiting = waiting;
  }

  add(key: Key): void {
    const mark = this.#waiting << (key & 1);
    if (this.#marks.has(key >>> 1, mark)) return;
    this.#marks.set(key >>> 1, mark);
    if (this.#count === this.#keys.length) this.#grow();
    this.#keys[(this.#head + this.#count++) & (this.#keys.length - 1)] = key;
  }

  /** Takes the oldest key; undefined if there is none. */
  take(): Key | undefined {
    if (this.#count === 0) return undefined;
    const key = this.#keys[this.#head]!;
    this.#head = (this.#head + 1) & (this.#keys.length - 1);
    this.#count--;
    this.#marks.clear(key >>> 1, this.#waiting << (key & 1));
    return key;
  }

  #grow(): void {
    const larger = new Int32Array(this.#keys.length * 2);
    larger.set(this.#keys.subarray(this.#head));
    larger.set(this.#keys.subarray(0, this.#head), this.#keys.length - this.#head);
    this.#keys = larger;
    this.#head = 0;
  }
}
