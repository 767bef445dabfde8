import { FLAGS, STATE_FREE, UID, UID_IS_TEXT, type NodeTable } from './node-table.ts';

const INITIAL = 512;
const EMPTY = 0;

/** From the words of a uid (signed) to its node. The words themselves are in the node table. `text` is UID_IS_TEXT or 0. */
export interface NodeIndex {
  readonly allocatedBytes: number;
  /** The node with these words, or -1. */
  find(w0: number, w1: number, w2: number, w3: number, text: number): number;
  /** The node at the first index that is probed for these words, whether or not it has them; 0 if there is none. */
  guess(w0: number, w1: number, w2: number, w3: number): number;
  /** Inserts a node whose words are already in the table. No other node may have them. */
  insert(node: number): void;
  /** Removes a node whose words are still in the table. */
  remove(node: number): void;
  clone(nodes: NodeTable): NodeIndex;
}

/**
 * From a uid's words to its node: open addressing with linear probing and backward-shift deletion, so that a
 * churning cluster leaves no tombstones behind. The words themselves are in the node table.
 *
 * An entry holds the node + 1 in its lower bits, as many as a place in the table has, and above them the lower bits of
 * the hash: so a probe that meets the entry of another uid does not have to read the words of that uid, which are in no CPU cache. The
 * place is taken from the upper bits of the hash.
 *
 * Doubling at a million nodes takes about ten milliseconds and is the longest single step of the graph; the load stays
 * between 5/16 and 5/8. Everybody can choose the uids of owner references, so the hash is seeded.
 */
export class UidIndex implements NodeIndex {
  readonly #nodes: NodeTable;
  readonly #seed: number;
  #table: Int32Array = new Int32Array(INITIAL);
  /** The number of bits of an index, and of a node in an entry. A node is smaller than the table, because each node in use has an entry. */
  #bits = Math.log2(INITIAL);
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

  find(w0: number, w1: number, w2: number, w3: number, text: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    const hash = hashOfUid(w0, w1, w2, w3 ^ this.#seed);
    const mark = hash << this.#bits;
    for (let at = hash >>> (32 - this.#bits); ; at = (at + 1) & mask) {
      const entry = table[at]!;
      if (entry === EMPTY) return -1;
      // The bits above the node are equal.
      if (((entry ^ mark) & ~mask) !== 0) continue;
      const node = (entry & mask) - 1;
      const nodes = this.#nodes;
      if (
        nodes.get(node, UID) === w0 &&
        nodes.get(node, UID + 1) === w1 &&
        nodes.get(node, UID + 2) === w2 &&
        nodes.get(node, UID + 3) === w3 &&
        (nodes.get(node, FLAGS) & UID_IS_TEXT) === text
      ) {
        return node;
      }
    }
  }

  guess(w0: number, w1: number, w2: number, w3: number): number {
    const table = this.#table;
    const entry = table[hashOfUid(w0, w1, w2, w3 ^ this.#seed) >>> (32 - this.#bits)]!;
    return entry === EMPTY ? 0 : (entry & (table.length - 1)) - 1;
  }

  insert(node: number): void {
    this.#size++;
    if (this.#size * 8 > this.#table.length * 5) this.#double(node);
    else this.#enter(node);
  }

  remove(node: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let hole = this.#hash(node) >>> (32 - this.#bits);
    while ((table[hole]! & mask) !== node + 1) hole = (hole + 1) & mask;
    for (let at = (hole + 1) & mask; table[at] !== EMPTY; at = (at + 1) & mask) {
      const home = this.#hash((table[at]! & mask) - 1) >>> (32 - this.#bits);
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
    copy.#bits = this.#bits;
    copy.#size = this.#size;
    return copy;
  }

  #double(added: number): void {
    const nodes = this.#nodes;
    this.#table = new Int32Array(this.#table.length * 2);
    this.#bits++;
    // Loops over the nodes, so that only the smaller of the two tables is accessed at random.
    for (let node = 0; node < nodes.end; node++) if (nodes.state(node) !== STATE_FREE) this.#enter(node);
    this.#enter(added);
  }

  #enter(node: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    const hash = this.#hash(node);
    let at = hash >>> (32 - this.#bits);
    while (table[at] !== EMPTY) at = (at + 1) & mask;
    table[at] = (hash << this.#bits) | (node + 1);
  }

  #hash(node: number): number {
    const nodes = this.#nodes;
    const w3 = nodes.get(node, UID + 3) ^ this.#seed;
    return hashOfUid(nodes.get(node, UID), nodes.get(node, UID + 1), nodes.get(node, UID + 2), w3);
  }
}

/** A hash of 32 bits that all depend on all words. */
export function hashOfUid(w0: number, w1: number, w2: number, w3: number): number {
  let h = Math.imul(w0 ^ w3, 0x85ebca6b) ^ w1;
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35) ^ w2;
  h = Math.imul(h ^ (h >>> 13), 0x27d4eb2f) ^ w3;
  h = Math.imul(h ^ (h >>> 16), 0x9e3779b1);
  return h ^ (h >>> 15);
}
