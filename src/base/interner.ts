import { assert } from './assert.ts';

export interface InternerOptions {
  /** The most different strings it ever holds; one more is a RangeError. Interned strings are never forgotten. */
  readonly bound?: number;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Gives equal strings the same small integer, 0, 1, 2, ..., and takes UTF-8 straight from a message without making a
 * string of it. For words that are few but occur in every object: namespaces, kinds, API versions.
 *
 * The text lives once, as UTF-8 in one buffer; the table is open addressing over 32-bit FNV-1a with a byte comparison.
 */
export class Interner {
  readonly bound: number;
  #bytes: Uint8Array = new Uint8Array(1024);
  #used = 0;
  /** `#ends[id]` is where the text of `id` ends in `#bytes`; it begins where that of `id - 1` ends. */
  #ends: Uint32Array = new Uint32Array(64);
  #hashes: Uint32Array = new Uint32Array(64);
  /** id + 1, or 0 for a free slot. Never more than half full, so that a probe ends. */
  #table: Uint32Array = new Uint32Array(128);
  #size = 0;
  #scratch: Uint8Array = new Uint8Array(512);
  readonly #strings: (string | undefined)[] = [];

  constructor({ bound = 2 ** 24 }: InternerOptions = {}) {
    this.bound = bound;
  }

  get size(): number {
    return this.#size;
  }

  /** Lone surrogates become U+FFFD, as everywhere in UTF-8. */
  intern(text: string): number {
    if (text.length * 3 > this.#scratch.length) this.#scratch = new Uint8Array(text.length * 3);
    const { written } = encoder.encodeInto(text, this.#scratch);
    return this.internBytes(this.#scratch, 0, written);
  }

  /** The id of the UTF-8 text `bytes[start..end)`, which is copied when it is new. */
  internBytes(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hash(bytes, start, end);
    const found = this.#find(bytes, start, end, hash);
    if (found >= 0) return found;
    if (this.#size >= this.bound) throw new RangeError(`more than ${this.bound} different strings`);
    return this.#append(bytes, start, end, hash);
  }

  /** The id of a string already interned, or -1. */
  lookup(text: string): number {
    const bytes = encoder.encode(text);
    return this.#find(bytes, 0, bytes.length, this.#hash(bytes, 0, bytes.length));
  }

  /** The string behind an id; made on first use and then kept. */
  text(id: number): string {
    assert(id >= 0 && id < this.#size, `no string ${id}`);
    return (this.#strings[id] ??= utf8.decode(this.#bytes.subarray(this.#start(id), this.#ends[id])));
  }

  #start(id: number): number {
    return id === 0 ? 0 : this.#ends[id - 1]!;
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    let h = FNV_OFFSET;
    for (let i = start; i < end; i++) h = Math.imul(h ^ bytes[i]!, FNV_PRIME);
    return h >>> 0;
  }

  #find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#table[slot]! - 1;
      if (id < 0) return -1;
      if (this.#hashes[id] === hash && this.#equals(id, bytes, start, end)) return id;
    }
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const at = this.#start(id);
    const length = end - start;
    if (this.#ends[id]! - at !== length) return false;
    for (let i = 0; i < length; i++) if (this.#bytes[at + i] !== bytes[start + i]) return false;
    return true;
  }

  #append(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const id = this.#size;
    const needed = this.#used + (end - start);
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    if (id === this.#ends.length) {
      this.#ends = grow(this.#ends);
      this.#hashes = grow(this.#hashes);
    }
    this.#bytes.set(bytes.subarray(start, end), this.#used);
    this.#used = needed;
    this.#ends[id] = needed;
    this.#hashes[id] = hash;
    this.#size++;
    if (this.#size * 2 > this.#table.length) {
      this.#table = new Uint32Array(this.#table.length * 2);
      for (let other = 0; other < id; other++) this.#enter(other);
    }
    this.#enter(id);
    return id;
  }

  #enter(id: number): void {
    const mask = this.#table.length - 1;
    let slot = this.#hashes[id]! & mask;
    while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
    this.#table[slot] = id + 1;
  }
}

function grow(words: Uint32Array): Uint32Array {
  const grown = new Uint32Array(words.length * 2);
  grown.set(words);
  return grown;
}
