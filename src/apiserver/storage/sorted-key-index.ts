import { assert } from '../../base/assert.ts';

interface Keyed {
  readonly key: string;
}

/** A position in front of an item: chunk number and place in it. */
interface Position {
  readonly chunk: number;
  readonly at: number;
}

/** A chunk that grows past this is split in two, so an insertion moves at most this many pointers. */
const CHUNK_LIMIT = 512;

/**
 * Items in the order of their keys: a list of sorted chunks. Insertion and removal cost a binary search and the move of
 * part of one chunk; a scan walks plain arrays, which is what lists and page counts spend their time on.
 *
 * Order is that of UTF-16 code units, which for the ASCII keys of objects is the bytewise order of API-092.
 * Invariants: no chunk is empty; chunks and the items in them ascend strictly by key.
 */
export class SortedKeyIndex<T extends Keyed> {
  #chunks: T[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Fills an empty index at once, in half the time that single additions take. No key may occur twice. */
  fill(items: Iterable<T>): void {
    assert(this.#size === 0, 'only an empty index is filled');
    const sorted = [...items].sort((a, b) => (a.key < b.key ? -1 : 1));
    for (let i = 0; i < sorted.length; i += CHUNK_LIMIT) this.#chunks.push(sorted.slice(i, i + CHUNK_LIMIT));
    this.#size = sorted.length;
  }

  /** False, and nothing changed, when the key is there already. */
  add(item: T): boolean {
    const { chunk: c, at } = this.#lowerBound(item.key);
    const next = this.#chunks[c]?.[at];
    if (next?.key === item.key) return false;
    // Behind the last item of a chunk counts as in front of the next one; appending to the former splits less often.
    const chunk = at === 0 && c > 0 ? this.#chunks[c - 1] : this.#chunks[c];
    if (chunk === undefined) this.#chunks.push([item]);
    else if (at === 0 && c > 0) this.#insert(chunk, { chunk: c - 1, at: chunk.length }, item);
    else this.#insert(chunk, { chunk: c, at }, item);
    this.#size++;
    return true;
  }

  delete(key: string): boolean {
    const { chunk: c, at } = this.#lowerBound(key);
    const chunk = this.#chunks[c];
    if (chunk?.[at]?.key !== key) return false;
    if (chunk.length === 1) this.#chunks.splice(c, 1);
    else chunk.splice(at, 1);
    this.#size--;
    return true;
  }

  /**
   * Visits the items whose key begins with `prefix` and is not below `start`, in order, until `visit` says stop.
   * The index must not be changed meanwhile.
   */
  scan(prefix: string, start: string, visit: (item: T) => 'next' | 'stop'): void {
    const from = this.#lowerBound(start > prefix ? start : prefix);
    const to = this.#endOf(prefix);
    for (let c = from.chunk; c <= to.chunk; c++) {
      const chunk = this.#chunks[c];
      if (chunk === undefined) return;
      const end = c === to.chunk ? to.at : chunk.length;
      for (let i = c === from.chunk ? from.at : 0; i < end; i++) {
        const item = chunk[i];
        if (item === undefined || visit(item) === 'stop') return;
      }
    }
  }

  /** How many items {@link scan} would visit; costs a step a chunk. */
  count(prefix: string, start: string): number {
    const from = this.#lowerBound(start > prefix ? start : prefix);
    const to = this.#endOf(prefix);
    if (from.chunk > to.chunk) return 0;
    let items = to.at - from.at;
    for (let c = from.chunk; c < to.chunk; c++) items += this.#chunks[c]?.length ?? 0;
    return Math.max(0, items);
  }

  #insert(chunk: T[], { chunk: c, at }: Position, item: T): void {
    if (at === chunk.length) chunk.push(item);
    else chunk.splice(at, 0, item);
    if (chunk.length <= CHUNK_LIMIT) return;
    // Keys mostly arrive in ascending order: then a full chunk stays full instead of being left half empty.
    const cut = at === chunk.length - 1 && c === this.#chunks.length - 1 ? CHUNK_LIMIT : CHUNK_LIMIT >> 1;
    this.#chunks.splice(c + 1, 0, chunk.splice(cut));
  }

  /** In front of the first item at or above `key`. */
  #lowerBound(key: string): Position {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    // First chunk that begins above the key; the one before it is the only one that can hold it.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((chunks[middle]?.[0]?.key ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low - 1];
    if (chunk === undefined) return { chunk: 0, at: 0 };
    let from = 0;
    let to = chunk.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((chunk[middle]?.key ?? '') < key) from = middle + 1;
      else to = middle;
    }
    return from === chunk.length ? { chunk: low, at: 0 } : { chunk: low - 1, at: from };
  }

  /** Behind the last item that begins with `prefix`. */
  #endOf(prefix: string): Position {
    const last = prefix.charCodeAt(prefix.length - 1);
    if (Number.isNaN(last) || last === 0xffff) return { chunk: this.#chunks.length, at: 0 };
    return this.#lowerBound(prefix.slice(0, -1) + String.fromCharCode(last + 1));
  }
}
