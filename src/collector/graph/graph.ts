import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';

/**
 * A node's place in the graph: a small integer, valid until the next `apply`. Dense below `Graph.capacity`, so that
 * walks can keep their marks in a typed array instead of a Set.
 */
export type NodeId = number;

/** A `virtual` node is known only from a reference. An `observed` node was seen in a list or watch. */
export type NodeState = 'virtual' | 'observed';

/** A copy of the graph's facts about one node. */
export interface GraphNode {
  readonly id: NodeId;
  readonly identity: Identity;
  readonly state: NodeState;
  /** Observed, but not shown since the last list of its resource began, so it may be gone. */
  readonly unlisted: boolean;
  /** Seen with `deletionTimestamp`. Only a server that went back in time clears it (COL-055, designs/0011). */
  readonly beingDeleted: boolean;
  /** Began to wait for its dependents, and stays so while it is being deleted (COL-062, COL-065). */
  readonly deletingDependents: boolean;
  /** The finalizer `foregroundDeletion` was there at the last event. */
  readonly foregroundFinalizer: boolean;
  /** The finalizer `orphan` was there at the last event. */
  readonly orphanFinalizer: boolean;
  /** Other finalizers were, or may have been, there at the last event. */
  readonly otherFinalizers: boolean;
  /** The version of the last event; undefined for virtual nodes and for versions that are not a plain number. */
  readonly resourceVersion: string | undefined;
  /** The references of the last event, in the object's order; empty for virtual nodes. */
  readonly ownerReferences: readonly OwnerReference[];
}

export interface GraphCounts {
  readonly nodes: number;
  readonly virtual: number;
  readonly observed: number;
  /** Uids that are known to be gone and to which some node still refers (BETTER-15); they are not nodes. */
  readonly gone: number;
  /** References between a dependent and any of these. */
  readonly references: number;
}

export interface BlockingDependents {
  /** Dependents, except the node itself, with a reference that has `blockOwnerDeletion: true` (COL-100, BETTER-10). */
  readonly count: number;
  /**
   * A counter over all nodes that grows whenever a blocking reference is added or a wait begins. It shows whether a node that disappeared
   * and came back, or that waits again, is still in the remembered state.
   */
  readonly lastAddition: number;
}

/**
 * The ownership graph for every reader; only `apply` writes it. All methods are synchronous and pure. A callback must not apply events. A
 * uid that is only known to be gone is not a node, so `find` does not return it.
 */
export interface Graph {
  readonly counts: GraphCounts;
  /** One more than the largest NodeId in use. */
  readonly capacity: number;

  /** O(1). -1 if the uid has no node. */
  find(uid: Uid): NodeId;
  /** O(references). Undefined if the uid has no node. */
  node(uid: Uid): GraphNode | undefined;
  /** The version of the object's last event; NaN if unknown. */
  versionOf(uid: Uid): number;
  /** The node with this id, which `find` or a walk must have returned just before. */
  at(id: NodeId): GraphNode;

  uidAt(id: NodeId): Uid;
  /** See {@link GraphNode.resourceVersion}. O(1), unlike {@link Graph.at}. */
  resourceVersionAt(id: NodeId): string | undefined;
  identityAt(id: NodeId): Identity;
  /** Much cheaper than the identity, whose name and uid are made anew. */
  namespaceAt(id: NodeId): string;
  /** Cheaper than the identity. */
  nameAt(id: NodeId): string;
  isObserved(id: NodeId): boolean;
  /** See {@link GraphNode.unlisted}. */
  isUnlisted(id: NodeId): boolean;
  isBeingDeleted(id: NodeId): boolean;
  isDeletingDependents(id: NodeId): boolean;
  /**
   * True for a waiting owner: `deletionTimestamp` and the foreground finalizer, both at the last event. Unlike `deletingDependents`, this
   * ends when the finalizer is removed.
   */
  isWaiting(id: NodeId): boolean;
  /** True for an object with neither a `deletionTimestamp` nor a finalizer at the last event. O(1), unlike {@link Graph.at}. */
  isPlain(id: NodeId): boolean;
  /** A small integer that is equal for two nodes exactly if they have the same apiVersion and kind. */
  kindAt(id: NodeId): number;
  kindOf(kind: number): { readonly apiVersion: string; readonly kind: string };
  /** The apiVersion and kind of a node. Cheaper than the identity. */
  typeAt(id: NodeId): { readonly apiVersion: string; readonly kind: string };
  /**
   * The plural of the resource whose monitor showed the node last: it names the object's path, whatever other resources of its kind are
   * served. Undefined for virtual nodes.
   */
  resourceAt(id: NodeId): string | undefined;

  /** Calls back once for each node, in no particular order. */
  forEachNode(visit: (id: NodeId) => void): void;
  hasDependents(id: NodeId): boolean;
  /** Calls back once for each dependent, even if it has several references to this node. Stops if `visit` returns false. */
  forEachDependent(id: NodeId, visit: (dependent: NodeId) => boolean | void): void;
  /** Calls back once for each reference, in order, with the owner's node (-1 if it has none) and the kind in the reference. */
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
   * True if the uid is known to be gone at exactly these coordinates, for a dependent in this namespace (empty if cluster-scoped). This is
   * half of COL-111; the other half is the AbsentOwnerCache.
   */
  isKnownGone(coordinates: Coordinates, namespace: string): boolean;
}
