import { type EventHash, HASH_STATE } from './event-hash.ts';

/** Bits of a node's flags. */
export const STATE_MASK = 0b11;
/** A free slot. */
export const STATE_FREE = 0;
export const STATE_VIRTUAL = 1;
export const STATE_OBSERVED = 2;
/** Known to be gone, and kept while a reference names it (BETTER-15). */
export const STATE_GONE = 3;
export const BEING_DELETED = 1 << 2;
export const DELETING_DEPENDENTS = 1 << 3;
/** The finalizers at the last event (BETTER-7). */
export const FOREGROUND = 1 << 4;
export const ORPHAN = 1 << 5;
export const OTHER_FINALIZERS = 1 << 6;
/** The uid is a text of the side table, and the first word is its id there. */
export const UID_IS_TEXT = 1 << 7;
/** Exactly one reference, derived from its owner; REFS is the owner. */
export const REFS_INLINE = 1 << 8;
/** One or more references in the edge table; REFS is the first. */
export const REFS_CHAIN = 1 << 9;
/** Flags of the inline reference, four bits in the order of edge-table.ts. */
export const INLINE_SHIFT = 10;
export const INLINE_MASK = 0b1111 << INLINE_SHIFT;
/** The list that is being read contained it (`listStarted`). */
export const SEEN = 1 << 14;
/** The resource that showed it last has not yet reached the version that another one had shown (COL-212). */
export const BEHIND = 1 << 15;

export const FINALIZERS = FOREGROUND | ORPHAN | OTHER_FINALIZERS;

/**
 * Words of a node. The fields that an event is compared with stand within the first 48 bytes, because these lie in one line of the CPU
 * cache: large arrays begin 16 bytes behind the start of a line, so each row crosses into a second one.
 */
export const UID = 0;
/** The word with the bits above. */
export const FLAGS = 4;
/** Id of apiVersion and kind. */
export const KIND = 5;
export const VERSION_LOW = 6;
export const VERSION_HIGH = 7;
const HASH_LOW = 8;
const HASH_HIGH = 9;
/** See REFS_INLINE and REFS_CHAIN. */
export const REFS = 10;
/** Address in the name slab. */
export const NAME = 11;
/** Id of the namespace; the empty text for cluster-scoped. */
export const NAMESPACE = 12;
/** First edge of the node's own dependents. */
export const FIRST = 13;
/** Neighbours of the inline reference in its owner's list of dependents. */
export const NEXT = 14;
export const PREV = 15;
/** A power of two, so that a node's row is found by a shift. */
const ROW_SHIFT = 4;

/** Index in `rows` of a node's first word. */
export function rowOf(node: number): number {
  return node << ROW_SHIFT;
}

/** Above the flags. */
const NAME_LENGTH_SHIFT = 16;
/** The bits above that length, for an observed node: which of the monitored resources of its kind showed it last. See ResourceTable. */
export const RESOURCE_SHIFT = 24;
export const RESOURCE_MASK = 0xff << RESOURCE_SHIFT;
export const RESOURCES_OF_A_KIND = 256;
/** Marks a name in `longNames`. */
export const LONG_NAME = 255;

export const NONE = -1;

const INITIAL = 256;
/** Edge ids are twice as large, with a sign, and all rows must fit into one array. */
const NODES_MAX = 2 ** 27;
export const NO_VERSION = -1;

/**
 * Nodes as rows of one typed array, 64 bytes each; a node is its index. Rows, not one array for each field, because events come in no
 * order: a row costs one or two cache misses, ten arrays would cost ten. The array doubles: at a million nodes it copies 64 MB in some tens
 * of milliseconds. (Unused memory is not resident.) It never shrinks, so the largest number of nodes so far is its bound.
 */
export class NodeTable {
  /** For loops over all nodes. `allocate` replaces the array. */
  rows: Int32Array;
  /** First of the free list, which NEXT links. */
  #free: number;
  /** All nodes in use are below this. */
  #end: number;

  /** @param from the table whose rows, or a copy of them, this one is given */
  constructor(from?: NodeTable) {
    this.rows = from?.rows ?? new Int32Array(INITIAL << ROW_SHIFT);
    this.#free = from === undefined ? NONE : from.#free;
    this.#end = from === undefined ? 0 : from.#end;
  }

  /** One more than the largest node ever in use. */
  get end(): number {
    return this.#end;
  }

  get(node: number, field: number): number {
    return this.rows[(node << ROW_SHIFT) | field]!;
  }

  set(node: number, field: number, value: number): void {
    this.rows[(node << ROW_SHIFT) | field] = value;
  }

  has(node: number, bits: number): boolean {
    return (this.rows[(node << ROW_SHIFT) | FLAGS]! & bits) !== 0;
  }

  state(node: number): number {
    return this.rows[(node << ROW_SHIFT) | FLAGS]! & STATE_MASK;
  }

  /** resourceVersion, or NaN. */
  version(node: number): number {
    const high = this.get(node, VERSION_HIGH);
    return high === NO_VERSION ? Number.NaN : high * 2 ** 32 + (this.get(node, VERSION_LOW) >>> 0);
  }

  setVersion(node: number, version: number): void {
    const high = version >= 0 ? Math.floor(version / 2 ** 32) : NO_VERSION;
    this.set(node, VERSION_HIGH, high);
    this.set(node, VERSION_LOW, version | 0);
  }

  /** Length of the name, or LONG_NAME. */
  nameLength(node: number): number {
    return (this.get(node, FLAGS) >>> NAME_LENGTH_SHIFT) & 0xff;
  }

  setNameLength(node: number, length: number): void {
    this.set(node, FLAGS, (this.get(node, FLAGS) & ~(0xff << NAME_LENGTH_SHIFT)) | (length << NAME_LENGTH_SHIFT));
  }

  /** True if the last event had this EventHash; only for an observed node. */
  hasHash(node: number, { low, high }: EventHash): boolean {
    return this.get(node, HASH_LOW) === low && this.get(node, HASH_HIGH) === high;
  }

  /** True if the last event had the same references, whatever else changed; only for an observed node. */
  hasHashOfReferences(node: number, { low, high }: EventHash): boolean {
    return ((this.get(node, HASH_LOW) ^ low) & ~HASH_STATE) === 0 && this.get(node, HASH_HIGH) === high;
  }

  setHash(node: number, { low, high }: EventHash): void {
    this.set(node, HASH_LOW, low);
    this.set(node, HASH_HIGH, high);
  }

  allocate(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.get(free, NEXT);
      return free;
    }
    if (this.#end << ROW_SHIFT >= this.rows.length) this.grow();
    return this.#end++;
  }

  /**
   * Resets a row to this uid and these flags, without references, dependents, version and hash. The caller must then set kind, name and
   * namespace.
   */
  begin(node: number, w0: number, w1: number, w2: number, w3: number, flags: number): void {
    const { rows } = this;
    const at = node << ROW_SHIFT;
    rows[at + UID] = w0;
    rows[at + UID + 1] = w1;
    rows[at + UID + 2] = w2;
    rows[at + UID + 3] = w3;
    rows[at + FLAGS] = flags;
    rows[at + VERSION_LOW] = 0;
    rows[at + VERSION_HIGH] = NO_VERSION;
    rows[at + REFS] = NONE;
    rows[at + FIRST] = NONE;
    rows[at + NEXT] = NONE;
    rows[at + PREV] = NONE;
  }

  free(node: number): void {
    this.set(node, FLAGS, STATE_FREE);
    this.set(node, NEXT, this.#free);
    this.#free = node;
  }

  get allocatedBytes(): number {
    return this.rows.byteLength;
  }

  clone(): NodeTable {
    const copy = new NodeTable(this);
    copy.rows = this.rows.slice();
    return copy;
  }

  protected grow(): void {
    if (this.#end >= NODES_MAX) throw new RangeError(`more than ${NODES_MAX} nodes`);
    const grown = new Int32Array(this.rows.length * 2);
    grown.set(this.rows);
    this.rows = grown;
  }
}
