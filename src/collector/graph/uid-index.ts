import { UID_IS_TEXT, type NodeTable } from './node-table.ts';

const INITIAL = 512;
const EMPTY = 0;

/**
 * From a uid's words to its node: open addressing with linear probing and backward-shift deletion, so that a
 * churning cluster leaves no tombstones behind. The words themselves are in the node table.
 *
 * The place is taken from the upper bits of the hash: doubling then walks both tables from front to back. Doubling at a
 * million nodes takes about ten milliseconds and is the longest single step of the graph; the load stays between 5/16 and 5/8.
 * Everybody can choose the uids of owner references, so the hash is seeded.
 */
export class UidIndex {
  readonly #nodes: NodeTable;
  readonly #seed: number;
  /** node + 1, or EMPTY. */
  #table: Int32Array = new Int32Array(INITIAL);
  #shift = 32 - Math.log2(INITIAL);
  #size = 0;

  constructor(nodes: NodeTable, seed: number) {
    this.#nodes = nodes;
    this.#seed = seed;
  }

  get size(): number {
    return this.#size;
  }

  get allocatedBytes(): number {
    return this.#table.byteLength;
  }

  /** The node with these words, or -1. `text` is UID_IS_TEXT or 0. */
  find(w0: number, w1: number, w2: number, w3: number, text: number): number {
    const table = this.#table;
    const { uids, flags } = this.#nodes;
    const mask = table.length - 1;
    for (let at = this.#hash(w0, w1, w2, w3); ; at = (at + 1) & mask) {
      const entry = table[at]!;
      if (entry === EMPTY) return -1;
      const word = (entry - 1) * 4;
      if (
        uids[word + 3] === w3 &&
        uids[word] === w0 &&
        uids[word + 1] === w1 &&
        uids[word + 2] === w2 &&
        (flags[entry - 1]! & UID_IS_TEXT) === text
      ) {
        return entry - 1;
      }
    }
  }

  /** The node's words are in the table already, and no other node has them. */
  insert(node: number): void {
    this.#size++;
    if (this.#size * 8 > this.#table.length * 5) this.#double();
    this.#enter(node);
  }

  remove(node: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let hole = this.#home(node);
    while (table[hole] !== node + 1) hole = (hole + 1) & mask;
    for (let at = (hole + 1) & mask; table[at] !== EMPTY; at = (at + 1) & mask) {
      const home = this.#home(table[at]! - 1);
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        table[hole] = table[at]!;
        hole = at;
      }
    }
    table[hole] = EMPTY;
    this.#size--;
  }

  clone(nodes: NodeTable): UidIndex {
    const copy = new UidIndex(nodes, this.#seed);
    copy.#table = this.#table.slice();
    copy.#shift = this.#shift;
    copy.#size = this.#size;
    return copy;
  }

  #double(): void {
    const old = this.#table;
    this.#table = new Int32Array(old.length * 2);
    this.#shift--;
    for (let at = 0; at < old.length; at++) if (old[at] !== EMPTY) this.#enter(old[at]! - 1);
  }

  #enter(node: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let at = this.#home(node);
    while (table[at] !== EMPTY) at = (at + 1) & mask;
    table[at] = node + 1;
  }

  #home(node: number): number {
    const uids = this.#nodes.uids;
    const word = node * 4;
    return this.#hash(uids[word]!, uids[word + 1]!, uids[word + 2]!, uids[word + 3]!);
  }

  #hash(w0: number, w1: number, w2: number, w3: number): number {
    let h = Math.imul(w0 ^ this.#seed, 0x85ebca6b) ^ w1;
    h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35) ^ w2;
    h = Math.imul(h ^ (h >>> 13), 0x27d4eb2f) ^ w3;
    h = Math.imul(h ^ (h >>> 16), 0x9e3779b1);
    return (h ^ (h >>> 15)) >>> this.#shift;
  }
}
