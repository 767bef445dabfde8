import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';

/**
 * A node's place in the graph: a small integer, valid until the next `apply`. Dense below `Graph.capacity`, so that
 * walks can keep their marks in a typed array instead of a Set.
 */
export type NodeId = number;

/** `virtual`: only inferred from somebody's reference. `observed`: seen in a list or watch. */
export type NodeState = 'virtual' | 'observed';

/** A copy of what the graph knows about one node. */
export interface GraphNode {
  readonly id: NodeId;
  readonly identity: Identity;
  readonly state: NodeState;
  /** Observed, and not shown since the last list of its resource began: it may be gone. */
  readonly unlisted: boolean;
  /** Seen with `deletionTimestamp`; taken back only by a server that went back in time (COL-055, designs/0011). */
  readonly beingDeleted: boolean;
  /** Began to wait for its dependents; stays so while it is being deleted (COL-062, COL-065). */
  readonly deletingDependents: boolean;
  /** The finalizer `foregroundDeletion` was there at the last event. */
  readonly foregroundFinalizer: boolean;
  /** The finalizer `orphan` was there at the last event. */
  readonly orphanFinalizer: boolean;
  /** Other finalizers were (or may have been) there at the last event. */
  readonly otherFinalizers: boolean;
  /** The version of the last event; undefined for virtual nodes and for versions that are no plain number. */
  readonly resourceVersion: string | undefined;
  /** The references of the last event, in the object's order; empty for virtual nodes. */
  readonly ownerReferences: readonly OwnerReference[];
}

export interface GraphCounts {
  readonly nodes: number;
  readonly virtual: number;
  readonly observed: number;
  /** Uids known to be gone that some node still refers to (BETTER-15); no nodes. */
  readonly gone: number;
  /** References between a dependent and any of the above. */
  readonly references: number;
}

export interface BlockingDependents {
  /** Dependents, other than the node itself, with a reference that has `blockOwnerDeletion: true` (COL-100, BETTER-10). */
  readonly count: number;
  /**
   * When a blocking reference was last added, or the wait began: a number that grows with each of both, over all nodes, so that a node which
   * is forgotten and comes back, or waits anew, is never taken for what it was.
   */
  readonly lastAddition: number;
}

/**
 * The ownership graph as everyone but `apply` sees it. All methods are synchronous and pure; those with a callback must
 * not apply events from inside it. A uid that is only known to be gone is no node: `find` does not find it.
 */
export interface Graph {
  readonly counts: GraphCounts;
  /** One more than the largest NodeId in use. */
  readonly capacity: number;

  /** O(1). -1 when the uid has no node. */
  find(uid: Uid): NodeId;
  /** O(references). Undefined when the uid has no node. */
  node(uid: Uid): GraphNode | undefined;
  /** That of the object as it was seen last; NaN where none is known. */
  versionOf(uid: Uid): number;
  /** The node with this id. The id must be one that `find` or a walk just returned. */
  at(id: NodeId): GraphNode;

  uidAt(id: NodeId): Uid;
  /** See {@link GraphNode.resourceVersion}. O(1), unlike {@link Graph.at}. */
  resourceVersionAt(id: NodeId): string | undefined;
  identityAt(id: NodeId): Identity;
  isObserved(id: NodeId): boolean;
  /** See {@link GraphNode.unlisted}. */
  isUnlisted(id: NodeId): boolean;
  isBeingDeleted(id: NodeId): boolean;
  isDeletingDependents(id: NodeId): boolean;
  /** `deletionTimestamp` and FG, both at the last event: a waiting owner. Unlike `deletingDependents` this ends when FG goes. */
  isWaiting(id: NodeId): boolean;
  /** A small integer that two nodes share exactly if they have the same apiVersion and kind. */
  kindAt(id: NodeId): number;
  kindOf(kind: number): { readonly apiVersion: string; readonly kind: string };
  /**
   * Plural of the resource whose monitor showed the node last: where the object is, whatever else is served of its kind. Undefined for
   * virtual nodes.
   */
  resourceAt(id: NodeId): string | undefined;

  /** Calls back once for each node, in no particular order. */
  forEachNode(visit: (id: NodeId) => void): void;
  hasDependents(id: NodeId): boolean;
  /** Calls back once for each dependent, however many references it has to this node; stops when `visit` returns false. */
  forEachDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void;
  /** Calls back once for each reference, in order: the owner's node, or -1 when the owner has none; and the kind it names. */
  forEachOwner(id: NodeId, visit: (owner: NodeId, blocking: boolean, kind: number) => void): void;
  ownerReferencesAt(id: NodeId): OwnerReference[];
  dependents(uid: Uid): Uid[];

  /** O(1) for nodes that are deletingDependents; otherwise O(dependents). */
  blockingDependents(id: NodeId): BlockingDependents;
  /** Dependents that block the node (not itself), in no particular order. */
  forEachBlockingDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void;

  /** The references of a node to uids that have no node, in order. */
  missingOwners(id: NodeId): OwnerReference[];
  /**
   * The uid is known to be gone under exactly these coordinates, seen from a dependent in this namespace (empty: cluster-
   * scoped). Half of COL-111; the other half is the AbsentOwnerCache.
   */
  isKnownGone(coordinates: Coordinates, namespace: string): boolean;
}
