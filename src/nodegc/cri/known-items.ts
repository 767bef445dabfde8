import { WireReader } from '../../api/codec/protobuf/protobuf-wire.ts';

const CHUNK_BYTES = 1 << 18;
const FIRST_TABLE = 512;
/** Known items that may exist besides twice as many as the last list had. */
const SPARE_ITEMS = 1024;

/**
 * Reads lists of protobuf messages. A list repeats most items of the list before it, and the same bytes return the same object: it is not
 * decoded again, and what a caller derived from the object still holds. Invariant: an object is returned only for the bytes that it was
 * decoded from. Bound: the items of two lists and {@link SPARE_ITEMS} more; beyond that, all are forgotten, which costs time only.
 */
export class KnownItems<T> {
  readonly #decode: (reader: WireReader) => T;
  #items: T[] = [];
  /** Where the bytes of each item are: its chunk, first byte and length. Chunks never move, so decoded items may read from them later. */
  #chunks: DataView[] = [];
  #starts: number[] = [];
  #lengths: number[] = [];
  /** Hash table with linear probing: the index of an item, plus one. At most half of it is filled. */
  #table = new Int32Array(FIRST_TABLE);
  #chunk = new Uint8Array(0);
  #used = 0;

  /** @param decode decodes the message that the reader is limited to; it may keep the reader's bytes and both positions */
  constructor(decode: (reader: WireReader) => T) {
    this.#decode = decode;
  }

  /**
   * @param items one message each
   * @throws ProtobufError when an item is not such a message
   */
  read(items: readonly Uint8Array[]): T[] {
    if (this.#items.length > 2 * items.length + SPARE_ITEMS) this.#forget();
    // The items of an answer are views of one buffer.
    let buffer: ArrayBufferLike = new ArrayBuffer(0);
    let view: DataView = new DataView(buffer);
    const known: T[] = [];
    for (const item of items) {
      if (item.buffer !== buffer) {
        buffer = item.buffer;
        view = new DataView(buffer);
      }
      known.push(this.#readOne(item, view));
    }
    return known;
  }

  #readOne(item: Uint8Array, view: DataView): T {
    const from = item.byteOffset;
    const length = item.byteLength;
    const mask = this.#table.length - 1;
    let slot = hashOf(view, from, length) & mask;
    for (let entry = this.#table[slot]!; entry !== 0; entry = this.#table[slot]!) {
      const index = entry - 1;
      if (this.#lengths[index] === length && same(this.#chunks[index]!, this.#starts[index]!, view, from, length)) {
        return this.#items[index]!;
      }
      slot = (slot + 1) & mask;
    }
    return this.#add(item, slot);
  }

  #add(item: Uint8Array, slot: number): T {
    const { length } = item;
    if (this.#used + length > this.#chunk.length) {
      this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, length));
      this.#used = 0;
    }
    const start = this.#used;
    this.#chunk.set(item, start);
    const decoded = this.#decode(new WireReader(this.#chunk, start, start + length));
    this.#used += length;
    const last = this.#chunks.at(-1);
    this.#chunks.push(last?.buffer === this.#chunk.buffer ? last : new DataView(this.#chunk.buffer));
    this.#starts.push(start);
    this.#lengths.push(length);
    this.#table[slot] = this.#items.push(decoded);
    if (this.#items.length > this.#table.length / 2) this.#grow();
    return decoded;
  }

  #grow(): void {
    this.#table = new Int32Array(2 * this.#table.length);
    const mask = this.#table.length - 1;
    for (let index = 0; index < this.#items.length; index++) {
      let slot = hashOf(this.#chunks[index]!, this.#starts[index]!, this.#lengths[index]!) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = index + 1;
    }
  }

  #forget(): void {
    [this.#items, this.#chunks, this.#starts, this.#lengths] = [[], [], [], []];
    this.#table = new Int32Array(FIRST_TABLE);
    [this.#chunk, this.#used] = [new Uint8Array(0), 0];
  }
}

/** Hashes a few words: most items begin with an id of 64 hex digits, and the others differ in their length or their last bytes. */
function hashOf(view: DataView, from: number, length: number): number {
  let sum = Math.imul(length, 0x9e37_79b1);
  if (length >= 8) {
    sum = mixed(sum, view.getInt32(from + length - 4, true));
    sum = mixed(sum, view.getInt32(from + length - 8, true));
  }
  if (length >= 64) {
    sum = mixed(sum, view.getInt32(from + 44, true));
    sum = mixed(sum, view.getInt32(from + 56, true));
  }
  return sum ^ (sum >>> 15);
}

const mixed = (sum: number, word: number): number => Math.imul(sum ^ word, 0x85eb_ca6b) ^ (sum >>> 13);

function same(left: DataView, leftFrom: number, right: DataView, rightFrom: number, length: number): boolean {
  let at = 0;
  // Four words at a time: one branch for all of them.
  for (; at + 16 <= length; at += 16) {
    const a = leftFrom + at;
    const b = rightFrom + at;
    const difference =
      (left.getInt32(a, true) ^ right.getInt32(b, true)) |
      (left.getInt32(a + 4, true) ^ right.getInt32(b + 4, true)) |
      (left.getInt32(a + 8, true) ^ right.getInt32(b + 8, true)) |
      (left.getInt32(a + 12, true) ^ right.getInt32(b + 12, true));
    if (difference !== 0) return false;
  }
  for (; at < length; at++) if (left.getUint8(leftFrom + at) !== right.getUint8(rightFrom + at)) return false;
  return true;
}
