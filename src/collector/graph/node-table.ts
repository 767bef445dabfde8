/** Bits of a node's flags. */
export const STATE_MASK = 0b11;
/** On the free list. */
export const STATE_FREE = 0;
export const STATE_VIRTUAL = 1;
export const STATE_OBSERVED = 2;
/** Known to be gone, kept while somebody refers to it (BETTER-15). */
export const STATE_GONE = 3;
export const BEING_DELETED = 1 << 2;
export const DELETING_DEPENDENTS = 1 << 3;
/** The finalizers as the last event showed them (BETTER-7). */
export const FOREGROUND = 1 << 4;
export const ORPHAN = 1 << 5;
export const OTHER_FINALIZERS = 1 << 6;
/** The uid is a text of the side table; the first word is its id there. */
export const UID_IS_TEXT = 1 << 7;
/** Exactly one reference, derived from its owner: LINK_REFS is the owner. */
export const REFS_INLINE = 1 << 8;
/** One or more references in the edge table: LINK_REFS is the first. */
export const REFS_CHAIN = 1 << 9;
/** Flags of the inline reference, four bits in the order of edge-table.ts. */
export const INLINE_SHIFT = 10;
export const INLINE_MASK = 0b1111 << INLINE_SHIFT;
/** Was in the list that is being read (`listStarted`). */
export const SEEN = 1 << 14;

export const FINALIZERS = FOREGROUND | ORPHAN | OTHER_FINALIZERS;

/** Offsets in `links`, four per node. */
export const LINK_REFS = 0;
/** Neighbours of the inline reference in its owner's list of dependents. */
export const LINK_NEXT = 1;
export const LINK_PREV = 2;
/** First edge of the node's own dependents. */
export const LINK_FIRST = 3;

/** `nameLengths` of a name kept in `longNames`. */
export const LONG_NAME = 255;

export const NONE = -1;

const INITIAL = 256;
/** No more nodes than a signed edge id can tell apart. */
export const NODES_MAX = 2 ** 30;

/**
 * Nodes as parallel typed arrays; a node is its index. 55 bytes each.
 *
 * Growth is by doubling (room that is not used yet is no resident memory), and in four steps at different sizes instead of
 * all arrays at once: the longest copy at a million nodes is 16 MB, a few milliseconds. The arrays never shrink: the
 * bound is the largest number of nodes there ever was.
 * Whoever holds one of them across `allocate` holds a stale one.
 */
export class NodeTable {
  /** Four words of the uid. */
  uids: Uint32Array = new Uint32Array(INITIAL * 4);
  links: Int32Array = new Int32Array(INITIAL * 4);
  /** resourceVersion, or NaN. */
  versions: Float64Array = new Float64Array(INITIAL);
  /** Address in the name slab. */
  names: Uint32Array = new Uint32Array(INITIAL);
  nameLengths: Uint8Array = new Uint8Array(INITIAL);
  /** Id of the namespace; the empty text for cluster-scoped. */
  namespaces: Uint32Array = new Uint32Array(INITIAL);
  /** Id of apiVersion and kind. */
  kinds: Uint32Array = new Uint32Array(INITIAL);
  flags: Uint16Array = new Uint16Array(INITIAL);

  /** First of the free list, chained through LINK_NEXT. */
  #free = NONE;
  /** Nodes below this were in use at some time. */
  #end = 0;
  #next = INITIAL * 2;
  /** Arrays of this step and those before it have the size `#next`. */
  #steps = 0;
  #growAt = threshold(INITIAL, 0);

  /** One more than the largest node ever in use. */
  get end(): number {
    return this.#end;
  }

  allocate(): number {
    const free = this.#free;
    if (free !== NONE) {
      this.#free = this.links[free * 4 + LINK_NEXT]!;
      return free;
    }
    if (this.#end >= this.#growAt) this.#grow();
    return this.#end++;
  }

  free(node: number): void {
    this.flags[node] = STATE_FREE;
    this.links[node * 4 + LINK_NEXT] = this.#free;
    this.#free = node;
  }

  get allocatedBytes(): number {
    return (
      this.uids.byteLength +
      this.links.byteLength +
      this.versions.byteLength +
      this.names.byteLength +
      this.nameLengths.byteLength +
      this.namespaces.byteLength +
      this.kinds.byteLength +
      this.flags.byteLength
    );
  }

  clone(): NodeTable {
    const copy = new NodeTable();
    copy.uids = this.uids.slice();
    copy.links = this.links.slice();
    copy.versions = this.versions.slice();
    copy.names = this.names.slice();
    copy.nameLengths = this.nameLengths.slice();
    copy.namespaces = this.namespaces.slice();
    copy.kinds = this.kinds.slice();
    copy.flags = this.flags.slice();
    copy.#free = this.#free;
    copy.#end = this.#end;
    copy.#next = this.#next;
    copy.#steps = this.#steps;
    copy.#growAt = this.#growAt;
    return copy;
  }

  #grow(): void {
    if (this.#end >= NODES_MAX) throw new RangeError(`more than ${NODES_MAX} nodes`);
    const size = this.#next;
    switch (this.#steps) {
      case 0:
        this.uids = resized(this.uids, new Uint32Array(size * 4));
        break;
      case 1:
        this.links = resized(this.links, new Int32Array(size * 4));
        break;
      case 2:
        this.versions = resized(this.versions, new Float64Array(size));
        this.names = resized(this.names, new Uint32Array(size));
        break;
      default:
        this.nameLengths = resized(this.nameLengths, new Uint8Array(size));
        this.namespaces = resized(this.namespaces, new Uint32Array(size));
        this.kinds = resized(this.kinds, new Uint32Array(size));
        this.flags = resized(this.flags, new Uint16Array(size));
    }
    this.#steps++;
    if (this.#steps === STEPS) {
      this.#steps = 0;
      this.#next = size * 2;
      this.#growAt = threshold(size, 0);
    } else {
      this.#growAt = threshold(this.flags.length, this.#steps);
    }
  }
}

const STEPS = 4;

/** At how many nodes a step is due: the last one when the arrays of `size` are full, the others shortly before. */
function threshold(size: number, step: number): number {
  return size - Math.floor(((STEPS - 1 - step) * size) / 32);
}

function resized<A extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
