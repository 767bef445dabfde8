/** Texts shorter than `SHORTEST` or longer than `LONGEST` are not digests: they are decoded each time. */
const SHORTEST = 16;
const LONGEST = 80;
const FIRST_CAPACITY = 256;
/** Bound: at this many texts, all are forgotten. 32,768 texts take 3 MiB. */
const MOST = 1 << 15;

/**
 * Ids that were read before. A list repeats the ids of the list before it, so the same bytes return the same string. The text is not
 * decoded or hashed again, and a map finds it by identity. Forgetting a text costs time, never correctness.
 */
export class KnownTexts {
  #texts: string[] = [];
  /** Hash table with linear probing: the index of a text in `#texts`, plus one. At most half of it is filled. */
  #table = new Int32Array(2 * FIRST_CAPACITY);
  /** The bytes of each text, one text every `LONGEST` bytes. */
  #arena: DataView = new DataView(new ArrayBuffer(FIRST_CAPACITY * LONGEST));
  #view: DataView = new DataView(new ArrayBuffer(0));

  /** Returns the text of these bytes, which are UTF-8. */
  read(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length < SHORTEST || length > LONGEST) return decode(bytes, start, end);
    if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    const view = this.#view;
    const from = bytes.byteOffset + start;
    const mask = this.#table.length - 1;
    let slot = hashOf(view, from, length) & mask;
    for (let entry = this.#table[slot]!; entry !== 0; entry = this.#table[slot]!) {
      const index = entry - 1;
      const known = this.#texts[index]!;
      if (known.length === length && same(this.#arena, index * LONGEST, view, from, length)) return known;
      slot = (slot + 1) & mask;
    }
    const text = decode(bytes, start, end);
    // Only text with one byte per character is kept: lookup compares the two lengths.
    if (text.length === length) this.#keep(text, bytes, start, slot);
    return text;
  }

  #keep(text: string, bytes: Uint8Array, start: number, slot: number): void {
    if (this.#texts.length === this.#table.length / 2) {
      if (this.#texts.length >= MOST) this.#clear();
      else this.#grow();
      // This text is not kept yet: its next read keeps it.
      return;
    }
    const index = this.#texts.push(text) - 1;
    new Uint8Array(this.#arena.buffer).set(bytes.subarray(start, start + text.length), index * LONGEST);
    this.#table[slot] = index + 1;
  }

  #clear(): void {
    this.#texts = [];
    this.#table.fill(0);
  }

  #grow(): void {
    const arena = new Uint8Array(2 * this.#arena.byteLength);
    arena.set(new Uint8Array(this.#arena.buffer));
    this.#arena = new DataView(arena.buffer);
    this.#table = new Int32Array(2 * this.#table.length);
    const mask = this.#table.length - 1;
    for (const [index, { length }] of this.#texts.entries()) {
      let slot = hashOf(this.#arena, index * LONGEST, length) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = index + 1;
    }
  }
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/** Hashes the last eight bytes, because digests differ most there. */
function hashOf(view: DataView, from: number, length: number): number {
  const end = from + length;
  const sum = Math.imul(view.getInt32(end - 4), 0x85eb_ca6b) ^ Math.imul(view.getInt32(end - 8), 0xc2b2_ae35);
  const folded = Math.imul(sum ^ (sum >>> 15), 0x27d4_eb2f);
  return folded ^ (folded >>> 13);
}

function same(left: DataView, leftFrom: number, right: DataView, rightFrom: number, length: number): boolean {
  // Compares from the back, because digests begin alike.
  let at = length;
  for (; at >= 4; at -= 4) {
    if (left.getInt32(leftFrom + at - 4) !== right.getInt32(rightFrom + at - 4)) return false;
  }
  for (; at > 0; at--) if (left.getUint8(leftFrom + at - 1) !== right.getUint8(rightFrom + at - 1)) return false;
  return true;
}
