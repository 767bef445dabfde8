import { LITTLE_ENDIAN, viewOf } from '../../../base/random/byte-view.ts';

/** Units of four bytes in a chunk: one MiB. */
const CHUNK_UNITS = 1 << 18;
const CHUNK_BYTES = CHUNK_UNITS * 4;
const CHUNK_SHIFT = 18;
const CHUNK_MASK = CHUNK_UNITS - 1;
/** The first chunk begins small and doubles, so that a small graph takes little memory. */
const FIRST_CHUNK_BYTES = 1 << 12;
/** The longest name that a slab holds. The node table keeps longer ones, which only references can have. */
export const SLAB_NAME_MAX = 254;
const CLASSES = 65;
const NONE = 0xffffffff;

/**
 * Bytes of names in chunks of one MiB, addressed in units of four bytes. A released name's room is chained to others
 * of the same number of units (the link lives in the room itself) and used again by the next name of that size.
 *
 * Bounds: at most three bytes lost per name; nothing but the first MiB is ever copied to grow; `freeUnits` is the chained room, and the
 * owner rebuilds the slab when that exceeds half of it (see `OwnershipGraph`).
 */
export class NameSlab {
  #chunks: Buffer[] = [];
  #words: Int32Array[] = [];
  /** First free space by number of units. */
  #free: Uint32Array = new Uint32Array(CLASSES).fill(NONE);
  /** Units handed out so far, including free ones. */
  #used = 0;
  #freeUnits = 0;
  /** Units of all chunks. */
  #capacity = 0;
  /** The chunks below this address belong to another slab too: a name there is never written over. */
  #ownFrom = 0;

  get usedUnits(): number {
    return this.#used;
  }

  get freeUnits(): number {
    return this.#freeUnits;
  }

  get allocatedBytes(): number {
    return this.#capacity * 4;
  }

  /** Copies `bytes[start..end)`. The address and the length identify it. */
  store(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    const address = this.#room((length + 3) >>> 2);
    const view = viewOf(bytes);
    const words = this.#words[address >>> CHUNK_SHIFT]!;
    let to = address & CHUNK_MASK;
    let i = start;
    // A loop, because for a usual name of thirty bytes a call costs more.
    for (; i + 4 <= end; i += 4) words[to++] = view.getInt32(i, LITTLE_ENDIAN);
    if (i === end) return address;
    const chunk = this.#chunks[address >>> CHUNK_SHIFT]!;
    for (to <<= 2; i < end; i++) chunk[to++] = bytes[i]!;
    return address;
  }

  release(address: number, length: number): void {
    const units = (length + 3) >>> 2;
    if (units === 0 || address < this.#ownFrom) return;
    this.#words[address >>> CHUNK_SHIFT]![address & CHUNK_MASK] = this.#free[units]!;
    this.#free[units] = address;
    this.#freeUnits += units;
  }

  equals(address: number, bytes: Uint8Array, start: number, end: number): boolean {
    const view = viewOf(bytes);
    const words = this.#words[address >>> CHUNK_SHIFT]!;
    let at = address & CHUNK_MASK;
    let i = start;
    for (; i + 4 <= end; i += 4) if (words[at++] !== view.getInt32(i, LITTLE_ENDIAN)) return false;
    const chunk = this.#chunks[address >>> CHUNK_SHIFT]!;
    for (at <<= 2; i < end; i++) if (chunk[at++] !== bytes[i]) return false;
    return true;
  }

  text(address: number, length: number): string {
    const at = (address & CHUNK_MASK) << 2;
    return this.#chunks[address >>> CHUNK_SHIFT]!.toString('utf8', at, at + length);
  }

  /** Copies a name from another slab. */
  move(from: NameSlab, address: number, length: number): number {
    const at = (address & CHUNK_MASK) << 2;
    return this.store(from.#chunks[address >>> CHUNK_SHIFT]!, at, at + length);
  }

  clone(): NameSlab {
    const copy = new NameSlab();
    // `slice` of a Buffer would share the bytes.
    for (const chunk of this.#chunks) copy.#adopt(new Uint8Array(chunk));
    copy.#free = this.#free.slice();
    copy.#used = this.#used;
    copy.#freeUnits = this.#freeUnits;
    copy.#ownFrom = this.#ownFrom;
    return copy;
  }

  /** A slab with the same names, which must not change here any more, and with room of its own for others. O(chunks). */
  branch(): NameSlab {
    const copy = new NameSlab();
    copy.#chunks = [...this.#chunks];
    copy.#words = [...this.#words];
    copy.#capacity = this.#capacity;
    copy.#used = this.#capacity;
    copy.#ownFrom = this.#capacity;
    return copy;
  }

  #room(units: number): number {
    const free = this.#free[units]!;
    if (free !== NONE) {
      this.#free[units] = this.#words[free >>> CHUNK_SHIFT]![free & CHUNK_MASK]!;
      this.#freeUnits -= units;
      return free;
    }
    // A name never crosses a chunk; the rest of a chunk joins the free list of its size.
    const left = CHUNK_UNITS - (this.#used & CHUNK_MASK);
    if (this.#used > 0 && left < units) {
      this.release(this.#used, left * 4);
      this.#used += left;
    }
    const address = this.#used;
    this.#used += units;
    // An empty name also has an address in a chunk.
    while (this.#used > this.#capacity || address >= this.#capacity) this.#grow();
    return address;
  }

  #grow(): void {
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length === CHUNK_BYTES) {
      this.#adopt(new Uint8Array(last === undefined ? FIRST_CHUNK_BYTES : CHUNK_BYTES));
      return;
    }
    const doubled = new Uint8Array(last.length * 2);
    doubled.set(last);
    this.#chunks.pop();
    this.#words.pop();
    this.#capacity -= last.length >>> 2;
    this.#adopt(doubled);
  }

  #adopt(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk.buffer));
    this.#words.push(new Int32Array(chunk.buffer));
    this.#capacity += chunk.length >>> 2;
  }
}
