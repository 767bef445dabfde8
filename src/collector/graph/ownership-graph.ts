import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { BlockingDependents, Graph, GraphCounts, GraphNode, NodeId } from './graph.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';
import { EventHash } from './tables/event-hash.ts';
import { NodeStore } from './tables/node-store.ts';
import {
  BEING_DELETED,
  DELETING_DEPENDENTS,
  FINALIZERS,
  FLAGS,
  FOREGROUND,
  KIND,
  NONE,
  ORPHAN,
  OTHER_FINALIZERS,
  RESOURCE_MASK,
  SEEN,
  STATE_FREE,
  STATE_GONE,
  STATE_OBSERVED,
} from './tables/node-table.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { ReferenceStore } from './tables/reference-store.ts';
import { ResourceTable } from './tables/resource-table.ts';
import { ColumnsFromObject } from './columns-from-object.ts';
import { Sibling } from './tables/sibling.ts';
import type { Copied } from './tables/words-branch.ts';

interface OwnershipGraphOptions {
  /** Any 32-bit number. A secret one prevents others from choosing uids that collide. */
  readonly hashSeed?: number;
  /** The cache for `dropAbsentOwner` effects. No such effect is emitted while the cache is empty; without a cache, each one is emitted. */
  readonly absentOwners?: { readonly size: number };
}

interface GraphBytes {
  /** The allocated size of typed arrays, including room to grow. Shared texts (namespaces, kinds) are not counted. */
  readonly allocated: number;
  /** Bytes of names: in use, and free but kept for the next name. */
  readonly names: { readonly used: number; readonly free: number };
}

/**
 * The graph in typed arrays (COL-050, BETTER-6): about 105 bytes in use per object with a name of 30 characters, no
 * object of its own for any node. `apply` is the only writer; everybody else reads through `Graph`.
 *
 * Costs: finding is O(1); an event is O(references of the object), or O(dependents) when the object is deleted, begins to wait, or
 * turns out to have other coordinates than its dependents said; `listStarted`, `listFinished`, `resourceVanished` and
 * `historyReset` are O(nodes), about a millisecond per million plus their effects. Growth steps: see NodeTable and UidIndex.
 */
export class OwnershipGraph implements Graph {
  /** Only for `apply` and the files of this folder. */
  readonly nodes: NodeStore;
  readonly references: ReferenceStore;
  readonly resources: ResourceTable;
  /** The resource of the event that `apply` handles. */
  readonly hash: EventHash;
  readonly sibling = new Sibling();
  /** Objects of events are converted into these columns; each such event overwrites them. */
  readonly columns = new ColumnsFromObject();
  readonly #hashSeed: number;
  readonly #absentOwners: { readonly size: number } | undefined;
  readonly #isBranch: boolean;
  #isShared = false;

  constructor({ hashSeed = 0, absentOwners }: OwnershipGraphOptions = {}, from?: Copied<OwnershipGraph>) {
    this.#absentOwners = absentOwners;
    this.#hashSeed = from === undefined ? hashSeed : from.of.#hashSeed;
    this.hash = new EventHash(this.#hashSeed);
    this.nodes = new NodeStore(this.#hashSeed, from && { of: from.of.nodes, as: from.as });
    this.references = new ReferenceStore(this.nodes, from && { of: from.of.references, as: from.as });
    this.resources = new ResourceTable(this.nodes.kinds, from?.of.resources);
    this.#isBranch = from !== undefined && (from.as === 'branch' || from.of.#isBranch);
  }

  /** An independent copy, made by copying the arrays. */
  clone(): OwnershipGraph {
    return new OwnershipGraph({}, { of: this, as: 'clone' });
  }

  /**
   * A copy for a simulation, which shares what it has not written: O(kinds + namespaces) at once, and O(what the simulation changes). From
   * now on `apply` refuses this graph.
   */
  branch(): OwnershipGraph {
    // A branch of a branch would be read in three steps.
    if (this.#isBranch) return this.clone();
    this.#isShared = true;
    return new OwnershipGraph({}, { of: this, as: 'branch' });
  }

  /** True if a branch reads it, so that it must not change. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** Prefetches the memory that `apply` needs for the next events, which are about these objects. Changes nothing. */
  expect(objects: readonly ObjectColumns[], count: number): void {
    this.nodes.expect(objects, count);
  }

  get counts(): GraphCounts {
    const { virtualCount, observedCount, goneCount } = this.nodes;
    return {
      nodes: virtualCount + observedCount,
      virtual: virtualCount,
      observed: observedCount,
      gone: goneCount,
      references: this.references.count,
    };
  }

  get bytes(): GraphBytes {
    return { allocated: this.nodes.allocatedBytes + this.references.allocatedBytes, names: this.nodes.nameBytes };
  }

  get capacity(): number {
    return this.nodes.table.end;
  }

  find(uid: Uid): NodeId {
    const node = this.nodes.find(uid);
    return node === NONE || this.nodes.state(node) === STATE_GONE ? NONE : node;
  }

  node(uid: Uid): GraphNode | undefined {
    const id = this.find(uid);
    return id === NONE ? undefined : this.at(id);
  }

  versionOf(uid: Uid): number {
    const id = this.find(uid);
    return id === NONE ? Number.NaN : this.nodes.table.version(id);
  }

  at(id: NodeId): GraphNode {
    const flags = this.nodes.table.get(id, FLAGS);
    return {
      id,
      identity: this.nodes.identity(id),
      state: this.isObserved(id) ? 'observed' : 'virtual',
      unlisted: this.isUnlisted(id),
      beingDeleted: (flags & BEING_DELETED) !== 0,
      deletingDependents: (flags & DELETING_DEPENDENTS) !== 0,
      foregroundFinalizer: (flags & FOREGROUND) !== 0,
      orphanFinalizer: (flags & ORPHAN) !== 0,
      otherFinalizers: (flags & OTHER_FINALIZERS) !== 0,
      resourceVersion: this.resourceVersionAt(id),
      ownerReferences: this.ownerReferencesAt(id),
    };
  }

  resourceVersionAt(id: NodeId): string | undefined {
    const version = this.nodes.table.version(id);
    return Number.isNaN(version) ? undefined : String(version);
  }

  uidAt(id: NodeId): Uid {
    return this.nodes.uid(id);
  }

  identityAt(id: NodeId): Identity {
    return this.nodes.identity(id);
  }

  namespaceAt(id: NodeId): string {
    return this.nodes.namespace(id);
  }

  nameAt(id: NodeId): string {
    return this.nodes.name(id);
  }

  isObserved(id: NodeId): boolean {
    return this.nodes.state(id) === STATE_OBSERVED;
  }

  isUnlisted(id: NodeId): boolean {
    return this.isObserved(id) && !this.nodes.has(id, SEEN);
  }

  isBeingDeleted(id: NodeId): boolean {
    return this.nodes.has(id, BEING_DELETED);
  }

  isDeletingDependents(id: NodeId): boolean {
    return this.nodes.has(id, DELETING_DEPENDENTS);
  }

  isWaiting(id: NodeId): boolean {
    const both = BEING_DELETED | FOREGROUND;
    return (this.nodes.table.get(id, FLAGS) & both) === both;
  }

  isPlain(id: NodeId): boolean {
    return (this.nodes.table.get(id, FLAGS) & (BEING_DELETED | FINALIZERS)) === 0;
  }

  kindAt(id: NodeId): number {
    return this.nodes.table.get(id, KIND);
  }

  kindOf(kind: number): { readonly apiVersion: string; readonly kind: string } {
    return this.nodes.kinds.words(kind);
  }

  typeAt(id: NodeId): { readonly apiVersion: string; readonly kind: string } {
    return this.kindOf(this.kindAt(id));
  }

  resourceAt(id: NodeId): string | undefined {
    if (!this.isObserved(id)) return undefined;
    const { table } = this.nodes;
    return this.resources.nameOf(table.get(id, KIND), table.get(id, FLAGS) & RESOURCE_MASK);
  }

  forEachNode(visit: (id: NodeId) => void): void {
    const { table } = this.nodes;
    for (let node = 0; node < table.end; node++) {
      const state = this.nodes.state(node);
      if (state !== STATE_FREE && state !== STATE_GONE) visit(node);
    }
  }

  hasDependents(id: NodeId): boolean {
    return this.references.firstDependent(id) !== NONE;
  }

  forEachDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void {
    const { references } = this;
    for (let edge = references.firstDependent(id); edge !== NONE; edge = references.nextDependent(edge)) {
      if (references.isFirstToOwner(edge) && visit(references.dependentOf(edge)) === false) return;
    }
  }

  forEachOwner(id: NodeId, visit: (owner: NodeId, blocking: boolean, kind: number) => void): void {
    const { references } = this;
    for (let edge = references.firstReference(id); edge !== NONE; edge = references.nextReference(edge)) {
      const owner = references.ownerOf(edge);
      const present = this.nodes.state(owner) === STATE_GONE ? NONE : owner;
      visit(present, references.isBlocking(edge), references.kindOf(edge));
    }
  }

  /** Calls back once for each reference, in order, with its number and the owner's node (-1 if it has none). Creates nothing. */
  forEachReference(id: NodeId, visit: (reference: number, owner: NodeId) => void): void {
    const { references } = this;
    for (let edge = references.firstReference(id); edge !== NONE; edge = references.nextReference(edge)) {
      const owner = references.ownerOf(edge);
      visit(edge, this.nodes.state(owner) === STATE_GONE ? NONE : owner);
    }
  }

  /** True if a reference names exactly the apiVersion, kind and name that the node of its owner has. */
  namesItsOwner(reference: number): boolean {
    return !this.references.isExplicit(reference);
  }

  /** A reference by its number. */
  referenceAt(reference: number): OwnerReference {
    return this.references.referenceOf(reference);
  }

  isControllerAt(reference: number): boolean {
    return this.references.isController(reference);
  }

  isBlockingAt(reference: number): boolean {
    return this.references.isBlocking(reference);
  }

  ownerReferencesAt(id: NodeId): OwnerReference[] {
    const { references } = this;
    const found: OwnerReference[] = [];
    for (let edge = references.firstReference(id); edge !== NONE; edge = references.nextReference(edge)) {
      found.push(references.referenceOf(edge));
    }
    return found;
  }

  /** True if any object, existing or gone, refers to the object that an event shows. */
  isReferredTo(columns: ObjectColumns): boolean {
    const owner = this.nodes.findObject(columns);
    return owner !== NONE && this.references.firstDependent(owner) !== NONE;
  }

  /** True if an object refers to the one that an event shows. */
  refersTo(dependent: Uid, columns: ObjectColumns): boolean {
    const { nodes, references } = this;
    const node = nodes.find(dependent);
    const owner = nodes.findObject(columns);
    if (node === NONE || owner === NONE) return false;
    for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
      if (references.ownerOf(edge) === owner) return true;
    }
    return false;
  }

  dependents(uid: Uid): Uid[] {
    const id = this.find(uid);
    const found: Uid[] = [];
    if (id !== NONE) this.forEachDependent(id, (dependent) => void found.push(this.uidAt(dependent)));
    return found;
  }

  blockingDependents(id: NodeId): BlockingDependents {
    const waiting = this.references.waiting(id);
    if (waiting !== undefined) return { count: waiting.count, lastAddition: waiting.lastAddition };
    let count = 0;
    const { references } = this;
    for (let edge = references.firstDependent(id); edge !== NONE; edge = references.nextDependent(edge)) {
      if (references.isBlocking(edge) && references.dependentOf(edge) !== id) count++;
    }
    return { count, lastAddition: 0 };
  }

  forEachBlockingDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void {
    this.forEachDependent(id, (dependent) => {
      if (dependent === id || !this.#blocks(dependent, id)) return true;
      return visit(dependent);
    });
  }

  missingOwners(id: NodeId): OwnerReference[] {
    const { references } = this;
    const found: OwnerReference[] = [];
    for (let edge = references.firstReference(id); edge !== NONE; edge = references.nextReference(edge)) {
      if (this.nodes.state(references.ownerOf(edge)) === STATE_GONE) found.push(references.referenceOf(edge));
    }
    return found;
  }

  isKnownGone(coordinates: Coordinates, namespace: string): boolean {
    const node = this.nodes.find(coordinates.uid);
    if (node === NONE || this.nodes.state(node) !== STATE_GONE) return false;
    const gone = this.nodes.identity(node);
    return (
      gone.name === coordinates.name &&
      gone.kind === coordinates.kind &&
      gone.apiVersion === coordinates.apiVersion &&
      (gone.namespace === '' || gone.namespace === namespace)
    );
  }

  /** True if some uid may be cached as absent. */
  get hasAbsences(): boolean {
    return this.#absentOwners === undefined || this.#absentOwners.size > 0;
  }

  /** Frees the memory of released names. O(nodes), and only after at least half of it was released. */
  compactNamesWhenDue(): void {
    if (!this.nodes.needsCompaction) return;
    this.nodes.compactNames((move) => this.references.moveNames(move));
  }

  #blocks(dependent: NodeId, owner: NodeId): boolean {
    const { references } = this;
    for (let edge = references.firstReference(dependent); edge !== NONE; edge = references.nextReference(edge)) {
      if (references.ownerOf(edge) === owner && references.isBlocking(edge)) return true;
    }
    return false;
  }
}
