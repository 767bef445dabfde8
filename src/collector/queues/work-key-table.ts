import { UuidWords } from '../../base/random/uuid.ts';
import type { KeyHandle, KeyTable } from '../../workqueue/key-table.ts';
import type { EnqueueEffect, QueuedAs } from '../graph/effect.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { TextScratch } from '../graph/tables/text-scratch.ts';
import { hashOfUid } from '../graph/tables/uid-index.ts';
import { isVirtualKey, workKey, workKeyOfWords, type WorkKey } from './work-key.ts';

/** The fields of an effect that are read to queue its uid. */
export type QueuedUid = Pick<EnqueueEffect, 'w0' | 'w1' | 'w2' | 'w3' | 'text' | 'as'>;

/** A uid of the usual form, as the columns of an object have it. */
export type UidWords = Pick<ObjectColumns, 'uid0' | 'uid1' | 'uid2' | 'uid3'>;

const NONE = -1;
const INITIAL = 64;

/** A row has six words: four of the uid, then these two. */
const MARK = 4;
/** The next row of the same bucket, or of the free list. */
const NEXT = 5;
const ROW = 6;

/** Marks. */
const OBSERVED = 0;
const VIRTUAL = 1;
/** The key is a text of the side table, or the row is free. */
const NO_WORDS = 2;

/**
 * The keys of a work queue, stored as the words of their uids. A key takes 36 bytes, and has no string while no worker works on it. At
 * start-up each owner that is listed after its dependents is queued once, and almost all of them need no more work than a short check.
 *
 * A hash table with chains, with at most one key per bucket on average. Anyone can choose the uids of owner references, so the hash is
 * seeded. The table grows by doubling and never shrinks: its bound is the largest number of keys that it ever held.
 */
export class WorkKeyTable implements KeyTable<WorkKey> {
  readonly #seed: number;
  #rows: Int32Array = new Int32Array(INITIAL * ROW);
  /** The first row of each bucket plus 1; 0 for an empty bucket. */
  #buckets: Int32Array = new Int32Array(INITIAL);
  #free = NONE;
  #end = 0;
  #size = 0;
  /** The keys of uids of an unusual form. */
  readonly #texts = new Map<WorkKey, KeyHandle>();
  readonly #textOf = new Map<KeyHandle, WorkKey>();
  readonly #scratch = new TextScratch();
  readonly #words = new UuidWords();

  constructor(seed: number) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#size;
  }

  acquire(key: WorkKey): KeyHandle {
    if (this.#parse(key)) {
      const { w0, w1, w2, w3 } = this.#words;
      return this.#acquireWords(w0, w1, w2, w3, isVirtualKey(key) ? VIRTUAL : OBSERVED);
    }
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const handle = this.#allocate();
    this.#rows[handle * ROW + MARK] = NO_WORDS;
    this.#texts.set(key, handle);
    this.#textOf.set(handle, key);
    return handle;
  }

  /** Acquires `workKey(uid, as)` without making that string. */
  acquireUid({ w0, w1, w2, w3, text, as }: QueuedUid): KeyHandle {
    if (text !== undefined) return this.acquire(workKey(text, as));
    return this.#acquireWords(w0, w1, w2, w3, as === 'virtual' ? VIRTUAL : OBSERVED);
  }

  find(key: WorkKey): KeyHandle {
    if (!this.#parse(key)) return this.#texts.get(key) ?? NONE;
    const { w0, w1, w2, w3 } = this.#words;
    const mark = isVirtualKey(key) ? VIRTUAL : OBSERVED;
    return this.#find(this.#bucketOf(w0, w1, w2, w3), w0, w1, w2, w3, mark);
  }

  /** The handle of `workKey(uid, as)`, or -1. That string is not made. */
  findWords({ uid0, uid1, uid2, uid3 }: UidWords, as: QueuedAs): KeyHandle {
    const mark = as === 'virtual' ? VIRTUAL : OBSERVED;
    const [w0, w1, w2, w3] = [uid0 | 0, uid1 | 0, uid2 | 0, uid3 | 0];
    return this.#find(this.#bucketOf(w0, w1, w2, w3), w0, w1, w2, w3, mark);
  }

  keyOf(handle: KeyHandle): WorkKey {
    const rows = this.#rows;
    const at = handle * ROW;
    const mark = rows[at + MARK];
    if (mark === NO_WORDS) return this.#textOf.get(handle)!;
    const as = mark === VIRTUAL ? 'virtual' : 'observed';
    return workKeyOfWords(rows[at]!, rows[at + 1]!, rows[at + 2]!, rows[at + 3]!, as);
  }

  release(handle: KeyHandle): void {
    const rows = this.#rows;
    const at = handle * ROW;
    if (rows[at + MARK] === NO_WORDS) {
      this.#texts.delete(this.#textOf.get(handle)!);
      this.#textOf.delete(handle);
    } else {
      this.#unlink(handle);
      rows[at + MARK] = NO_WORDS;
    }
    rows[at + NEXT] = this.#free;
    this.#free = handle;
    this.#size--;
  }

  /** Whether the key's uid has words; they are then in `#words`. */
  #parse(key: WorkKey): boolean {
    const { bytes, start, end } = this.#scratch.encode(key);
    return this.#words.parse(bytes, isVirtualKey(key) ? start + 1 : start, end);
  }

  #acquireWords(w0: number, w1: number, w2: number, w3: number, mark: number): KeyHandle {
    const bucket = this.#bucketOf(w0, w1, w2, w3);
    const known = this.#find(bucket, w0, w1, w2, w3, mark);
    if (known !== NONE) return known;
    const handle = this.#allocate();
    const rows = this.#rows;
    const at = handle * ROW;
    rows[at] = w0;
    rows[at + 1] = w1;
    rows[at + 2] = w2;
    rows[at + 3] = w3;
    rows[at + MARK] = mark;
    if (this.#size > this.#buckets.length) this.#double();
    else this.#link(handle, bucket);
    return handle;
  }

  #find(bucket: number, w0: number, w1: number, w2: number, w3: number, mark: number): KeyHandle {
    const rows = this.#rows;
    for (let handle = this.#buckets[bucket]! - 1; handle !== NONE; handle = rows[handle * ROW + NEXT]!) {
      const at = handle * ROW;
      if (
        rows[at] === w0 &&
        rows[at + 1] === w1 &&
        rows[at + 2] === w2 &&
        rows[at + 3] === w3 &&
        rows[at + MARK] === mark
      ) {
        return handle;
      }
    }
    return NONE;
  }

  /** The bucket of a uid, virtual or not. */
  #bucketOf(w0: number, w1: number, w2: number, w3: number): number {
    return hashOfUid(w0, w1, w2, w3 ^ this.#seed) & (this.#buckets.length - 1);
  }

  #bucketOfRow(handle: KeyHandle): number {
    const rows = this.#rows;
    const at = handle * ROW;
    return this.#bucketOf(rows[at]!, rows[at + 1]!, rows[at + 2]!, rows[at + 3]!);
  }

  #allocate(): KeyHandle {
    this.#size++;
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.#rows[free * ROW + NEXT]!;
      return free;
    }
    if ((this.#end + 1) * ROW > this.#rows.length) {
      const grown = new Int32Array(this.#rows.length * 2);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    return this.#end++;
  }

  #link(handle: KeyHandle, bucket: number): void {
    this.#rows[handle * ROW + NEXT] = this.#buckets[bucket]! - 1;
    this.#buckets[bucket] = handle + 1;
  }

  #unlink(handle: KeyHandle): void {
    const rows = this.#rows;
    const bucket = this.#bucketOfRow(handle);
    const next = rows[handle * ROW + NEXT]!;
    let before = this.#buckets[bucket]! - 1;
    if (before === handle) {
      this.#buckets[bucket] = next + 1;
      return;
    }
    while (rows[before * ROW + NEXT] !== handle) before = rows[before * ROW + NEXT]!;
    rows[before * ROW + NEXT] = next;
  }

  #double(): void {
    this.#buckets = new Int32Array(this.#buckets.length * 2);
    for (let handle = 0; handle < this.#end; handle++) {
      if (this.#rows[handle * ROW + MARK] !== NO_WORDS) this.#link(handle, this.#bucketOfRow(handle));
    }
  }
}
