import { assert } from '../../../base/errors/assert.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const INITIAL = 64;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Texts that many nodes share (namespaces, kinds) or that are rare (uids of an unusual form): each has a small integer
 * and a count of its users, and is removed with its last user, so that the table does not grow with every namespace that ever existed.
 *
 * Bound: one entry per text in use. Open addressing on 32-bit FNV-1a with byte comparison, at most half full.
 */
export class WordTable {
  #words: (Uint8Array | undefined)[] = [];
  #texts: (string | undefined)[] = [];
  #hashes: Uint32Array = new Uint32Array(INITIAL);
  #users: Uint32Array = new Uint32Array(INITIAL);
  /** id + 1, or 0. */
  #table: Int32Array = new Int32Array(INITIAL * 2);
  #free: number[] = [];
  #size = 0;
  /** The text that was acquired last, in use or not. Objects are ordered by namespace, so the next one often has the same. */
  #last = 0;

  /** Texts in use. */
  get size(): number {
    return this.#size;
  }

  /** The id of `bytes[start..end)`, or -1 if it is not in use. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.#probe(bytes, start, end, hashOf(bytes, start, end));
  }

  /** The id of `bytes[start..end)`, with one more user. */
  acquire(bytes: Uint8Array, start: number, end: number): number {
    const last = this.#last;
    if (this.#words[last] !== undefined && this.equals(last, bytes, start, end)) {
      this.#users[last]!++;
      return last;
    }
    const id = this.#acquire(bytes, start, end);
    this.#last = id;
    return id;
  }

  #acquire(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const found = this.#probe(bytes, start, end, hash);
    if (found >= 0) {
      this.#users[found]!++;
      return found;
    }
    // Copies the bytes, because `slice` of a Buffer would share them.
    return this.#insert(new Uint8Array(bytes.subarray(start, end)), hash);
  }

  /** Adds one user to a text in use. */
  retain(id: number): void {
    this.#users[id]!++;
  }

  /** Removes one user. */
  release(id: number): void {
    const left = --this.#users[id]!;
    if (left === 0) this.#remove(id);
  }

  equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const word = this.#words[id]!;
    const length = end - start;
    if (word.length !== length) return false;
    for (let i = 0; i < length; i++) if (word[i] !== bytes[start + i]) return false;
    return true;
  }

  text(id: number): string {
    return (this.#texts[id] ??= utf8.decode(this.#words[id]!));
  }

  bytes(id: number): Uint8Array {
    return this.#words[id]!;
  }

  clone(): WordTable {
    const copy = new WordTable();
    copy.#words = [...this.#words];
    copy.#texts = [...this.#texts];
    copy.#hashes = this.#hashes.slice();
    copy.#users = this.#users.slice();
    copy.#table = this.#table.slice();
    copy.#free = [...this.#free];
    copy.#size = this.#size;
    return copy;
  }

  #probe(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#table[at]! - 1;
      if (id < 0) return -1;
      if (this.#hashes[id] === hash && this.equals(id, bytes, start, end)) return id;
    }
  }

  #insert(word: Uint8Array, hash: number): number {
    const id = this.#free.pop() ?? this.#words.length;
    if (id === this.#hashes.length) {
      this.#hashes = doubled(this.#hashes);
      this.#users = doubled(this.#users);
    }
    this.#words[id] = word;
    this.#hashes[id] = hash;
    this.#users[id] = 1;
    this.#size++;
    if (this.#size * 2 > this.#table.length) this.#rehash();
    else this.#enter(id);
    return id;
  }

  #rehash(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    for (let id = 0; id < this.#words.length; id++) if (this.#words[id] !== undefined) this.#enter(id);
  }

  #enter(id: number): void {
    const mask = this.#table.length - 1;
    let at = this.#hashes[id]! & mask;
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = id + 1;
  }

  #remove(id: number): void {
    const mask = this.#table.length - 1;
    let hole = this.#hashes[id]! & mask;
    while (this.#table[hole] !== id + 1) hole = (hole + 1) & mask;
    // Backward shift: entries after the hole move into it, so that no tombstones remain.
    for (let at = (hole + 1) & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const home = this.#hashes[this.#table[at]! - 1]! & mask;
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        this.#table[hole] = this.#table[at]!;
        hole = at;
      }
    }
    this.#table[hole] = 0;
    this.#words[id] = undefined;
    this.#texts[id] = undefined;
    this.#free.push(id);
    this.#size--;
    assert(this.#size >= 0, 'a text was released more often than acquired');
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let h = FNV_OFFSET;
  for (let i = start; i < end; i++) h = Math.imul(h ^ bytes[i]!, FNV_PRIME);
  return h >>> 0;
}

function doubled(words: Uint32Array): Uint32Array {
  const grown = new Uint32Array(words.length * 2);
  grown.set(words);
  return grown;
}
