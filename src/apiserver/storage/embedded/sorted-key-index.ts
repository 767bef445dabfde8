import { mayHave, type LabelSignature } from '../../../api/selectors/label-signature.ts';
import { assert } from '../../../base/errors/assert.ts';
import type { Revision } from '../interface.ts';
import { SignatureColumn } from './signature-column.ts';

interface Keyed {
  readonly key: string;
}

/** The revision at which an item was deleted; undefined while it exists. Items stay in the index as long as an older state may be read. */
export type GoneSince<T> = (item: T) => Revision | undefined;

interface Chunk<T> {
  readonly items: T[];
  /** Number of existing items. */
  there: number;
  /** All deleted items of the chunk were deleted at or before this revision. */
  lastGone: Revision;
  /** Signatures of the items; absent until they are first searched. */
  signatures: SignatureColumn | undefined;
}

/** The query of {@link SortedKeyIndex.sift}. */
export interface Sieve<T> {
  readonly required: LabelSignature;
  /** Maximum number of items that are examined in one call. */
  readonly most: number;
  /** The signature of a new or changed item. */
  signatureOf(item: T): LabelSignature;
  /** Visits an item that may match. */
  visit(item: T): 'next' | 'stop';
}

/** A position before an item: chunk number and index in it. */
interface Position {
  readonly chunk: number;
  readonly at: number;
}

/** A chunk beyond this size is split in two, so that an insertion moves at most this many pointers. */
const CHUNK_LIMIT = 512;

/** One more, because a chunk exceeds its limit just before it is split. */
const COLUMN_SIZE = CHUNK_LIMIT + 1;

/**
 * Items in the order of their keys: a list of sorted chunks. Insertion and removal cost a binary search and the move of
 * part of one chunk; a scan, which dominates lists, walks plain arrays and skips chunks with only deleted items.
 *
 * Order is that of UTF-16 code units, which for the ASCII keys of objects is the bytewise order of API-092.
 * Invariants: no chunk is empty; chunks and the items in them ascend strictly by key.
 */
export class SortedKeyIndex<T extends Keyed> {
  readonly #goneSince: GoneSince<T>;
  #chunks: Chunk<T>[] = [];
  #size = 0;

  constructor(goneSince: GoneSince<T>) {
    this.#goneSince = goneSince;
  }

  get size(): number {
    return this.#size;
  }

  /** Fills an empty index at once, in half the time of single insertions. Keys must be unique. */
  fill(items: Iterable<T>): void {
    assert(this.#size === 0, 'only an empty index is filled');
    const sorted = [...items].sort((a, b) => (a.key < b.key ? -1 : 1));
    for (let i = 0; i < sorted.length; i += CHUNK_LIMIT)
      this.#chunks.push(this.#chunkOf(sorted.slice(i, i + CHUNK_LIMIT)));
    this.#size = sorted.length;
  }

  /** Returns false and changes nothing if the key exists. */
  add(item: T): boolean {
    const { chunk: c, at } = this.#lowerBound(item.key);
    const next = this.#chunks[c]?.items[at];
    if (next?.key === item.key) return false;
    // The end of a chunk and the start of the next chunk are one position; appending to the earlier chunk splits less often.
    const chunk = at === 0 && c > 0 ? this.#chunks[c - 1] : this.#chunks[c];
    if (chunk === undefined) this.#chunks.push(this.#chunkOf([item]));
    else if (at === 0 && c > 0) this.#insert(chunk, { chunk: c - 1, at: chunk.items.length }, item);
    else this.#insert(chunk, { chunk: c, at }, item);
    this.#size++;
    return true;
  }

  delete(key: string): boolean {
    const { chunk: c, at } = this.#lowerBound(key);
    const chunk = this.#chunks[c];
    const item = chunk?.items[at];
    if (chunk === undefined || item?.key !== key) return false;
    if (this.#goneSince(item) === undefined) chunk.there--;
    if (chunk.items.length === 1) this.#chunks.splice(c, 1);
    else {
      chunk.signatures?.remove(at, chunk.items.length);
      chunk.items.splice(at, 1);
    }
    this.#size--;
    return true;
  }

  /** Must be called when an item changed, was deleted, or exists again, so that its signature is computed again. */
  changed(item: T, wasThere: boolean): void {
    const { chunk: c, at } = this.#lowerBound(item.key);
    const chunk = this.#chunks[c];
    assert(chunk?.items[at] === item, 'what changes is in the index');
    chunk.signatures?.forget(at);
    const gone = this.#goneSince(item);
    if (wasThere === (gone === undefined)) return;
    if (gone === undefined) chunk.there++;
    else {
      chunk.there--;
      chunk.lastGone = Math.max(chunk.lastGone, gone);
    }
  }

  /**
   * Visits the items whose key begins with `prefix` and is not below `start`, in order, until `visit` returns stop. It may skip items that
   * were gone at `revision` and later. The index must not change meanwhile.
   */
  scan(
    prefix: string,
    { start, revision }: { start: string; revision: Revision },
    visit: (item: T) => 'next' | 'stop',
  ): void {
    const from = this.#lowerBound(start > prefix ? start : prefix);
    const to = this.#endOf(prefix);
    for (let c = from.chunk; c <= to.chunk; c++) {
      const chunk = this.#chunks[c];
      if (chunk === undefined) return;
      if (chunk.there === 0 && chunk.lastGone <= revision) continue;
      const { items } = chunk;
      const end = c === to.chunk ? to.at : items.length;
      for (let i = c === from.chunk ? from.at : 0; i < end; i++) {
        const item = items[i];
        if (item === undefined || visit(item) === 'stop') return;
      }
    }
  }

  /**
   * {@link scan} of only those items that may match, by cached signatures. Returns the item at which it stopped: the first unexamined one,
   * or the one at which `visit` returned stop.
   */
  sift(prefix: string, start: string, { required, most, signatureOf, visit }: Sieve<T>): T | undefined {
    const from = this.#lowerBound(start > prefix ? start : prefix);
    const to = this.#endOf(prefix);
    let asked = 0;
    for (let c = from.chunk; c <= to.chunk; c++) {
      const chunk = this.#chunks[c];
      if (chunk === undefined) return undefined;
      const { items } = chunk;
      const signatures = (chunk.signatures ??= new SignatureColumn(COLUMN_SIZE));
      const end = c === to.chunk ? to.at : items.length;
      for (let i = c === from.chunk ? from.at : 0; (i = signatures.next(i, end, required)) < end; i++) {
        const item = items[i]!;
        if (!signatures.knows(i)) {
          if (asked++ === most) return item;
          const signature = signatureOf(item);
          signatures.set(i, signature);
          if (!mayHave(signature, required)) continue;
        }
        if (visit(item) === 'stop') return item;
      }
    }
    return undefined;
  }

  /** The number of existing items in the range. Costs one step for each chunk, and for each item of the first and last chunk. */
  count(prefix: string, start: string): number {
    const from = this.#lowerBound(start > prefix ? start : prefix);
    const to = this.#endOf(prefix);
    let there = 0;
    for (let c = from.chunk; c <= to.chunk; c++) {
      const chunk = this.#chunks[c];
      if (chunk === undefined) break;
      const first = c === from.chunk ? from.at : 0;
      const end = c === to.chunk ? to.at : chunk.items.length;
      there += first === 0 && end === chunk.items.length ? chunk.there : this.#thereOf(chunk.items, first, end);
    }
    return there;
  }

  #insert(chunk: Chunk<T>, { chunk: c, at }: Position, item: T): void {
    const { items } = chunk;
    if (at === items.length) items.push(item);
    else items.splice(at, 0, item);
    chunk.signatures?.insert(at, items.length);
    const gone = this.#goneSince(item);
    if (gone === undefined) chunk.there++;
    else chunk.lastGone = Math.max(chunk.lastGone, gone);
    if (items.length <= CHUNK_LIMIT) return;
    // Keys mostly arrive in ascending order, so a full chunk stays full instead of half empty.
    const cut = at === items.length - 1 && c === this.#chunks.length - 1 ? CHUNK_LIMIT : CHUNK_LIMIT >> 1;
    const second = this.#chunkOf(items.splice(cut), chunk.signatures?.from(cut));
    chunk.there -= second.there;
    this.#chunks.splice(c + 1, 0, second);
  }

  #chunkOf(items: T[], signatures?: SignatureColumn): Chunk<T> {
    let there = 0;
    let lastGone = 0;
    for (const item of items) {
      const gone = this.#goneSince(item);
      if (gone === undefined) there++;
      else lastGone = Math.max(lastGone, gone);
    }
    return { items, signatures, there, lastGone };
  }

  #thereOf(items: readonly T[], from: number, to: number): number {
    let there = 0;
    for (let i = from; i < to; i++) if (this.#goneSince(items[i]!) === undefined) there++;
    return there;
  }

  /** The position before the first item at or above `key`. */
  #lowerBound(key: string): Position {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    // The first chunk that begins above the key. Only the chunk before it can contain the key.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((chunks[middle]?.items[0]?.key ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    const items = chunks[low - 1]?.items;
    if (items === undefined) return { chunk: 0, at: 0 };
    let from = 0;
    let to = items.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((items[middle]?.key ?? '') < key) from = middle + 1;
      else to = middle;
    }
    return from === items.length ? { chunk: low, at: 0 } : { chunk: low - 1, at: from };
  }

  /** The position after the last item that begins with `prefix`. */
  #endOf(prefix: string): Position {
    const last = prefix.charCodeAt(prefix.length - 1);
    if (Number.isNaN(last) || last === 0xffff) return { chunk: this.#chunks.length, at: 0 };
    return this.#lowerBound(prefix.slice(0, -1) + String.fromCharCode(last + 1));
  }
}
