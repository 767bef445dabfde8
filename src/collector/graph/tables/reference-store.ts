import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import {
  BLOCK,
  CONTROLLER,
  EDGE_DEPENDENT,
  EDGE_FLAGS,
  EDGE_KIND,
  EDGE_LENGTH_SHIFT,
  EDGE_NAME,
  EDGE_NEXT,
  EDGE_OWNER,
  EDGE_PREV,
  EDGE_SIBLING,
  EdgeTable,
  EXPLICIT,
  HAS_BLOCK,
  HAS_CONTROLLER,
} from './edge-table.ts';
import { EdgeTableBranch } from './edge-table-branch.ts';
import type { Coordinates, Identity } from '../../types/identity.ts';
import { holderOfEdge, holderOfNode, nameLengthOf, type NodeStore } from './node-store.ts';
import {
  DELETING_DEPENDENTS,
  FIRST,
  FLAGS,
  INLINE_MASK,
  INLINE_SHIFT,
  KIND,
  NAME,
  NEXT,
  NONE,
  PREV,
  REFS,
  REFS_CHAIN,
  REFS_INLINE,
  STATE_GONE,
  STATE_VIRTUAL,
} from './node-table.ts';
import {
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FIELDS,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_NAME_RANGE,
} from '../../../api/codec/metadata/metadata-columns.ts';
import type { ObjectColumns } from '../../types/object-columns.ts';
import type { Copied } from './words-branch.ts';

/**
 * One reference. An even number is the inline reference of node `edge / 2`, an odd one row `edge >> 1` of the edge table. Valid until the
 * references of its dependent, or the identity of its owner, change.
 */
export type Edge = number;

const inlineEdge = (node: number): Edge => node * 2;
const chainEdge = (row: number): Edge => row * 2 + 1;

/** Counters of a node that waits for its dependents; see BlockingDependents in graph.ts. */
interface Waiting {
  count: number;
  lastAddition: number;
}

/**
 * The references among nodes. Each reference is in the list of its dependent (in the object's order) and in the list of its owner
 * (newest first).
 *
 * Invariants (COL-051): an edge is in exactly these two lists; its owner has a slot; a reference without EXPLICIT has its
 * owner's coordinates; a virtual or gone slot has at least one edge, or is freed with its last one.
 */
export class ReferenceStore {
  readonly #nodes: NodeStore;
  readonly #edges: EdgeTable;
  readonly #waiting: Map<number, Waiting>;
  #count: number;
  /** Never decreases, because remembered counts of a node may outlive it. */
  #additions: number;

  constructor(nodes: NodeStore, from?: Copied<ReferenceStore>) {
    this.#nodes = nodes;
    this.#waiting = new Map();
    if (from === undefined) {
      this.#edges = new EdgeTable();
      this.#count = 0;
      this.#additions = 0;
      return;
    }
    const { of, as } = from;
    this.#edges = as === 'branch' ? new EdgeTableBranch(of.#edges) : of.#edges.clone();
    for (const [node, waiting] of of.#waiting) this.#waiting.set(node, { ...waiting });
    this.#count = of.#count;
    this.#additions = of.#additions;
  }

  get count(): number {
    return this.#count;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  get allocatedBytes(): number {
    return this.#edges.allocatedBytes;
  }

  // Methods that read references.

  firstReference(node: number): Edge {
    const { table } = this.#nodes;
    const bits = table.get(node, FLAGS);
    if ((bits & REFS_INLINE) !== 0) return inlineEdge(node);
    return (bits & REFS_CHAIN) !== 0 ? chainEdge(table.get(node, REFS)) : NONE;
  }

  /** The same dependent's next reference, or -1. */
  nextReference(edge: Edge): Edge {
    if ((edge & 1) === 0) return NONE;
    const sibling = this.#edges.get(edge >> 1, EDGE_SIBLING);
    return sibling === NONE ? NONE : chainEdge(sibling);
  }

  firstDependent(node: number): Edge {
    return this.#nodes.table.get(node, FIRST);
  }

  /** The same owner's next reference, or -1. */
  nextDependent(edge: Edge): Edge {
    return (edge & 1) === 0 ? this.#nodes.table.get(edge >> 1, NEXT) : this.#edges.get(edge >> 1, EDGE_NEXT);
  }

  dependentOf(edge: Edge): number {
    return (edge & 1) === 0 ? edge >> 1 : this.#edges.get(edge >> 1, EDGE_DEPENDENT);
  }

  ownerOf(edge: Edge): number {
    return (edge & 1) === 0 ? this.#nodes.table.get(edge >> 1, REFS) : this.#edges.get(edge >> 1, EDGE_OWNER);
  }

  flagsOf(edge: Edge): number {
    return (edge & 1) === 0
      ? (this.#nodes.table.get(edge >> 1, FLAGS) & INLINE_MASK) >> INLINE_SHIFT
      : this.#edges.get(edge >> 1, EDGE_FLAGS) & 0xff;
  }

  isBlocking(edge: Edge): boolean {
    return (this.flagsOf(edge) & BLOCK) !== 0;
  }

  isController(edge: Edge): boolean {
    return (this.flagsOf(edge) & CONTROLLER) !== 0;
  }

  isExplicit(edge: Edge): boolean {
    return (edge & 1) !== 0 && (this.#edges.get(edge >> 1, EDGE_FLAGS) & EXPLICIT) !== 0;
  }

  /** True if no earlier reference of the same dependent names the same owner, so that each dependent is visited once. */
  isFirstToOwner(edge: Edge): boolean {
    if ((edge & 1) === 0) return true;
    const owner = this.ownerOf(edge);
    for (let other = this.firstReference(this.dependentOf(edge)); other !== edge; other = this.nextReference(other)) {
      if (other === NONE) return true;
      if (this.ownerOf(other) === owner) return false;
    }
    return true;
  }

  /** The kind that the reference names, as a number of `kinds`. */
  kindOf(edge: Edge): number {
    if (this.isExplicit(edge)) return this.#edges.get(edge >> 1, EDGE_KIND);
    return this.#nodes.table.get(this.ownerOf(edge), KIND);
  }

  coordinatesOf(edge: Edge): Coordinates {
    const nodes = this.#nodes;
    const owner = this.ownerOf(edge);
    const uid = nodes.uid(owner);
    if (!this.isExplicit(edge)) {
      const { apiVersion, kind } = nodes.kinds.words(nodes.table.get(owner, KIND));
      return { apiVersion, kind, name: nodes.name(owner), uid };
    }
    const row = edge >> 1;
    const { apiVersion, kind } = nodes.kinds.words(this.#edges.get(row, EDGE_KIND));
    const name = nodes.nameText(holderOfEdge(row), this.#edges.get(row, EDGE_NAME) >>> 0, this.#nameLength(row));
    return { apiVersion, kind, name, uid };
  }

  /** The coordinates of the dependent's first reference to the owner. There must be one. */
  firstTo(dependent: number, owner: number): Coordinates {
    let edge = this.firstReference(dependent);
    while (this.ownerOf(edge) !== owner) edge = this.nextReference(edge);
    return this.coordinatesOf(edge);
  }

  referenceOf(edge: Edge): OwnerReference {
    const flags = this.flagsOf(edge);
    return {
      ...this.coordinatesOf(edge),
      ...((flags & HAS_CONTROLLER) === 0 ? {} : { controller: (flags & CONTROLLER) !== 0 }),
      ...((flags & HAS_BLOCK) === 0 ? {} : { blockOwnerDeletion: (flags & BLOCK) !== 0 }),
    };
  }

  /** True if the two references, to one owner, have the same coordinates. */
  sameCoordinates(a: Edge, b: Edge): boolean {
    if (!this.isExplicit(a) || !this.isExplicit(b)) return this.isExplicit(a) === this.isExplicit(b);
    const left = this.coordinatesOf(a);
    const right = this.coordinatesOf(b);
    return left.name === right.name && left.kind === right.kind && left.apiVersion === right.apiVersion;
  }

  /** True if the node has exactly these references: number, order, uids, coordinates and flags. */
  equals(node: number, columns: ObjectColumns): boolean {
    let edge = this.firstReference(node);
    for (let i = 0; i < columns.ownerCount; i++) {
      if (edge === NONE) return false;
      const at = i * OWNER_FIELDS;
      if (this.#nodes.findOwner(columns, at) !== this.ownerOf(edge)) return false;
      if ((this.flagsOf(edge) & ~EXPLICIT) !== edgeFlags(columns.owners[at + OWNER_FLAGS]!)) return false;
      if (!this.#coordinatesEqual(edge, columns, at)) return false;
      edge = this.nextReference(edge);
    }
    return edge === NONE;
  }

  // Methods that change references.

  /**
   * Appends the reference at `columns.owners[at]` after `last`, the node's last reference so far, or -1. Returns the edge. The only
   * reference of an object is stored in its node.
   */
  append(node: number, owner: number, columns: ObjectColumns, at: number, last: Edge): Edge {
    const derived = this.#nodes.ownerMatches(owner, columns, at);
    const flags = edgeFlags(columns.owners[at + OWNER_FLAGS]!);
    if (derived && columns.ownerCount === 1) return this.appendDerived(node, owner, flags);
    const row = this.#newRow(node, owner, flags);
    if (!derived) this.#setCoordinates(row, columns, at);
    if (last === NONE) this.#startChain(node, row);
    else this.#edges.set(last >> 1, EDGE_SIBLING, row);
    const edge = chainEdge(row);
    this.#added(edge, node, owner, flags);
    return edge;
  }

  /** Gives a node without references its only one, which has its owner's coordinates. */
  appendDerived(node: number, owner: number, flags: number): Edge {
    const { table } = this.#nodes;
    const bits = table.get(node, FLAGS) & ~INLINE_MASK;
    table.set(node, FLAGS, bits | REFS_INLINE | (flags << INLINE_SHIFT));
    table.set(node, REFS, owner);
    const edge = inlineEdge(node);
    this.#added(edge, node, owner, flags);
    return edge;
  }

  #added(edge: Edge, node: number, owner: number, flags: number): void {
    this.#count++;
    this.#enter(edge, owner);
    if ((flags & BLOCK) !== 0 && owner !== node && this.#nodes.has(owner, DELETING_DEPENDENTS)) {
      const waiting = this.#waiting.get(owner)!;
      waiting.count++;
      waiting.lastAddition = ++this.#additions;
    }
  }

  /**
   * Detaches all references from the node, but leaves them in their owners' lists, so that the node can get new references while the old
   * ones keep their owners. `drop` must follow. Returns the first, or -1.
   */
  detach(node: number): Edge {
    const { table } = this.#nodes;
    if (table.has(node, REFS_INLINE)) this.#inlineToRow(node);
    const first = this.firstReference(node);
    table.set(node, FLAGS, table.get(node, FLAGS) & ~REFS_CHAIN);
    table.set(node, REFS, NONE);
    return first;
  }

  /** Removes detached references from their owners' lists. Frees virtual and gone owners that lose their last reference. */
  drop(first: Edge): void {
    for (let edge = first; edge !== NONE;) {
      const next = this.nextReference(edge);
      const owner = this.ownerOf(edge);
      const row = edge >> 1;
      if (this.isBlocking(edge) && owner !== this.dependentOf(edge)) {
        const waiting = this.#waiting.get(owner);
        if (waiting !== undefined) waiting.count--;
      }
      this.#leave(edge, owner);
      if (this.isExplicit(edge)) this.#clearCoordinates(row);
      this.#edges.free(row);
      this.#count--;
      this.#freeIfUnreferenced(owner);
      edge = next;
    }
  }

  /** Counts the blocking references to a node that begins to wait, and updates the counts from now on. */
  beginWaiting(node: number): void {
    if (this.#waiting.has(node)) return;
    let count = 0;
    for (let edge = this.firstDependent(node); edge !== NONE; edge = this.nextDependent(edge)) {
      if (this.isBlocking(edge) && this.dependentOf(edge) !== node) count++;
    }
    this.#waiting.set(node, { count, lastAddition: ++this.#additions });
  }

  endWaiting(node: number): void {
    this.#waiting.delete(node);
  }

  waiting(node: number): { readonly count: number; readonly lastAddition: number } | undefined {
    return this.#waiting.get(node);
  }

  /** Gives the owner another identity; references keep their coordinates. O(dependents). */
  rename(owner: number, identity: Identity): void {
    const nodes = this.#nodes;
    const before = nodes.kinds.words(nodes.table.get(owner, KIND));
    const moved =
      nodes.name(owner) !== identity.name || before.kind !== identity.kind || before.apiVersion !== identity.apiVersion;
    // There are two passes, because a derived reference must become explicit before the name changes, and one that fits the new name can
    // only be recognized afterwards. A reference that the first pass made explicit never fits in the second.
    if (moved) this.#forEachEdge(owner, (edge) => this.#makeExplicit(edge));
    nodes.setIdentity(owner, identity);
    if (moved) this.#forEachEdge(owner, (edge) => this.#makeDerived(edge));
  }

  /** Copies the names of references into a new slab; see `NodeStore.compactNames`. */
  moveNames(move: (address: number, length: number) => number): void {
    for (let node = 0; node < this.#nodes.table.end; node++) {
      if (!this.#nodes.has(node, REFS_CHAIN)) continue;
      for (let edge = this.firstReference(node); edge !== NONE; edge = this.nextReference(edge)) {
        if (!this.isExplicit(edge)) continue;
        const row = edge >> 1;
        this.#edges.set(row, EDGE_NAME, move(this.#edges.get(row, EDGE_NAME) >>> 0, this.#nameLength(row)));
      }
    }
  }

  // Methods for the lists of dependents and owners.

  #enter(edge: Edge, owner: number): void {
    const { table } = this.#nodes;
    const head = table.get(owner, FIRST);
    this.#setNext(edge, head);
    this.#setPrev(edge, NONE);
    if (head !== NONE) this.#setPrev(head, edge);
    table.set(owner, FIRST, edge);
  }

  #leave(edge: Edge, owner: number): void {
    const next = this.nextDependent(edge);
    const prev = this.#prevDependent(edge);
    if (next !== NONE) this.#setPrev(next, prev);
    if (prev !== NONE) this.#setNext(prev, next);
    else this.#nodes.table.set(owner, FIRST, next);
  }

  /** Replaces one edge by another in the owner's list. */
  #replace(old: Edge, edge: Edge, owner: number): void {
    const next = this.nextDependent(old);
    const prev = this.#prevDependent(old);
    this.#setNext(edge, next);
    this.#setPrev(edge, prev);
    if (next !== NONE) this.#setPrev(next, edge);
    if (prev !== NONE) this.#setNext(prev, edge);
    else this.#nodes.table.set(owner, FIRST, edge);
  }

  #prevDependent(edge: Edge): Edge {
    return (edge & 1) === 0 ? this.#nodes.table.get(edge >> 1, PREV) : this.#edges.get(edge >> 1, EDGE_PREV);
  }

  #setNext(edge: Edge, value: Edge): void {
    if ((edge & 1) === 0) this.#nodes.table.set(edge >> 1, NEXT, value);
    else this.#edges.set(edge >> 1, EDGE_NEXT, value);
  }

  #setPrev(edge: Edge, value: Edge): void {
    if ((edge & 1) === 0) this.#nodes.table.set(edge >> 1, PREV, value);
    else this.#edges.set(edge >> 1, EDGE_PREV, value);
  }

  /** The visitor may replace the edge that it receives. */
  #forEachEdge(owner: number, visit: (edge: Edge) => void): void {
    for (let edge = this.firstDependent(owner); edge !== NONE;) {
      const next = this.nextDependent(edge);
      visit(edge);
      edge = next;
    }
  }

  #freeIfUnreferenced(node: number): void {
    const state = this.#nodes.state(node);
    if ((state === STATE_VIRTUAL || state === STATE_GONE) && this.firstDependent(node) === NONE) this.#nodes.free(node);
  }

  // Methods for inline references, and for those in rows.

  #newRow(node: number, owner: number, flags: number): number {
    const row = this.#edges.allocate();
    this.#edges.set(row, EDGE_DEPENDENT, node);
    this.#edges.set(row, EDGE_OWNER, owner);
    this.#edges.set(row, EDGE_SIBLING, NONE);
    this.#edges.set(row, EDGE_FLAGS, flags);
    return row;
  }

  #startChain(node: number, row: number): void {
    const { table } = this.#nodes;
    table.set(node, FLAGS, table.get(node, FLAGS) | REFS_CHAIN);
    table.set(node, REFS, row);
  }

  #inlineToRow(node: number): number {
    const { table } = this.#nodes;
    const edge = inlineEdge(node);
    const owner = this.ownerOf(edge);
    const row = this.#newRow(node, owner, this.flagsOf(edge));
    this.#replace(edge, chainEdge(row), owner);
    table.set(node, FLAGS, (table.get(node, FLAGS) & ~(REFS_INLINE | INLINE_MASK)) | REFS_CHAIN);
    table.set(node, REFS, row);
    return row;
  }

  #rowToInline(row: number): void {
    const { table } = this.#nodes;
    const node = this.#edges.get(row, EDGE_DEPENDENT);
    const owner = this.#edges.get(row, EDGE_OWNER);
    const flags = this.#edges.get(row, EDGE_FLAGS) & 0xf;
    this.#replace(chainEdge(row), inlineEdge(node), owner);
    const bits = table.get(node, FLAGS) & ~(REFS_CHAIN | INLINE_MASK);
    table.set(node, FLAGS, bits | REFS_INLINE | (flags << INLINE_SHIFT));
    table.set(node, REFS, owner);
    this.#edges.free(row);
  }

  // Methods for the coordinates of references.

  #nameLength(row: number): number {
    return this.#edges.get(row, EDGE_FLAGS) >>> EDGE_LENGTH_SHIFT;
  }

  #coordinatesEqual(edge: Edge, columns: ObjectColumns, at: number): boolean {
    const nodes = this.#nodes;
    if (!this.isExplicit(edge)) return nodes.ownerMatches(this.ownerOf(edge), columns, at);
    const row = edge >> 1;
    return (
      nodes.nameEquals(
        holderOfEdge(row),
        this.#edges.get(row, EDGE_NAME) >>> 0,
        this.#nameLength(row),
        columns.bytes,
        columns.owners[at + OWNER_NAME_RANGE]!,
        columns.owners[at + OWNER_NAME_RANGE + 1]!,
      ) && nodes.ownerKindEquals(this.#edges.get(row, EDGE_KIND), columns, at)
    );
  }

  #setCoordinates(row: number, columns: ObjectColumns, at: number): void {
    const start = columns.owners[at + OWNER_NAME_RANGE]!;
    const end = columns.owners[at + OWNER_NAME_RANGE + 1]!;
    const address = this.#nodes.storeName(holderOfEdge(row), columns.bytes, start, end);
    this.#writeCoordinates(row, this.#nodes.acquireOwnerKind(columns, at), address, nameLengthOf(start, end));
  }

  #writeCoordinates(row: number, kind: number, address: number, length: number): void {
    const flags = this.#edges.get(row, EDGE_FLAGS) & 0xf;
    this.#edges.set(row, EDGE_KIND, kind);
    this.#edges.set(row, EDGE_NAME, address);
    this.#edges.set(row, EDGE_FLAGS, flags | EXPLICIT | (length << EDGE_LENGTH_SHIFT));
  }

  #clearCoordinates(row: number): void {
    this.#nodes.releaseName(holderOfEdge(row), this.#edges.get(row, EDGE_NAME) >>> 0, this.#nameLength(row));
    this.#nodes.kinds.release(this.#edges.get(row, EDGE_KIND));
    this.#edges.set(row, EDGE_FLAGS, this.#edges.get(row, EDGE_FLAGS) & 0xf);
  }

  #makeExplicit(edge: Edge): void {
    if (this.isExplicit(edge)) return;
    const owner = this.ownerOf(edge);
    const row = (edge & 1) === 0 ? this.#inlineToRow(edge >> 1) : edge >> 1;
    const { table, kinds } = this.#nodes;
    const length = table.nameLength(owner);
    const kind = table.get(owner, KIND);
    const address = this.#nodes.copyName(holderOfEdge(row), holderOfNode(owner), table.get(owner, NAME), length);
    kinds.retain(kind);
    this.#writeCoordinates(row, kind, address, length);
  }

  /** An explicit reference whose coordinates now equal its owner's. If it is the only one, it moves back into its node. */
  #makeDerived(edge: Edge): void {
    const row = edge >> 1;
    const owner = this.ownerOf(edge);
    const nodes = this.#nodes;
    if (this.#edges.get(row, EDGE_KIND) !== nodes.table.get(owner, KIND)) return;
    if (this.coordinatesOf(edge).name !== nodes.name(owner)) return;
    this.#clearCoordinates(row);
    const node = this.dependentOf(edge);
    if (this.firstReference(node) === edge && this.nextReference(edge) === NONE) this.#rowToInline(row);
  }
}

/** Converts the flags of a reference in columns to those of an edge. */
function edgeFlags(owner: number): number {
  return (
    ((owner & OWNER_HAS_CONTROLLER) === 0 ? 0 : HAS_CONTROLLER) |
    ((owner & OWNER_CONTROLLER) === 0 ? 0 : CONTROLLER) |
    ((owner & OWNER_HAS_BLOCK) === 0 ? 0 : HAS_BLOCK) |
    ((owner & OWNER_BLOCK) === 0 ? 0 : BLOCK)
  );
}
