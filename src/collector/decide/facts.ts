import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { BlockingDependents, NodeState } from '../graph/graph.ts';
import type { QueuedAs } from '../graph/effect.ts';
import type { Identity } from '../types/identity.ts';
import type { LiveObject } from './live-object.ts';
import type { KindMapping, Target } from './target.ts';

/**
 * All facts that `attemptToDelete` uses. `gather-facts.ts` builds them from the graph, the REST mapper and the answers fetched so far; a
 * worker starts without answers, fetches those that the decision needs, and decides again.
 */
export interface Facts {
  readonly queuedAs: QueuedAs;
  /** Undefined if the uid no longer has a node. */
  readonly node: NodeFacts | undefined;
  /** The item itself, read live. */
  readonly latest: LatestAnswer;
  /**
   * One entry for each reference in force, in order: those of `latest.object` if it was found, otherwise those that the graph recorded for
   * an observed node.
   */
  readonly owners: readonly OwnerFacts[];
  /**
   * `trusted` while every monitor is synced and no resourceVersion has gone backwards: only then may the graph answer
   * instead of the server (BETTER-9; PERFORMANCE "where the shortcut must not be taken").
   */
  readonly graph: 'trusted' | 'untrusted';
  /** `spent` after any DELETE met a conflict: the rest of this round reads everything (COL-098). */
  readonly shortcut: 'allowed' | 'spent';
}

export interface NodeFacts {
  readonly state: NodeState;
  /** The last list of its resource lacked it, and a read must decide whether it is gone. */
  readonly unlisted: boolean;
  /** A trusted watch shows the object: an answer that says it is absent is wrong, or newer than the watch. */
  readonly shown: boolean;
  /** The object existed at this version, so a read must not come from an older state. Undefined if any state will do. */
  readonly notOlderThan: string | undefined;
  /** The recorded identity; for a virtual node an assumption (COL-070). */
  readonly identity: Identity;
  /** Undefined if the mapper does not know the kind of the node (row 3). */
  readonly mapping: KindMapping | undefined;
  /** The graph is not trusted for this kind, even if `Facts.graph` says otherwise. */
  readonly doubted?: true;
  readonly beingDeleted: boolean;
  readonly deletingDependents: boolean;
  /** The version of the last event; undefined if there is none that can serve as a precondition. */
  readonly resourceVersion: string | undefined;
  /** The server accepted its deletion, or the removal of its waiting finalizer, at this version, and the watch has not shown it yet. */
  readonly endAccepted: boolean;
  readonly foregroundFinalizer: boolean;
  readonly orphanFinalizer: boolean;
  /** True if finalizers other than these two exist or may exist. */
  readonly otherFinalizers: boolean;
  /** Rows 13 and 14: dependents in the graph, and whether one of them waits itself (COL-097, COL-10C). */
  readonly dependents: 'none' | 'some' | 'someDeletingDependents';
  /** The blocking dependents; used only if the node is deletingDependents. */
  readonly blocking: BlockingDependents;
  /** It waits for dependents that wait for it (see `waiting-cycle.ts`). */
  readonly inWaitingCycle: boolean;
  /** `blocking` at the time when its dependents were last queued for this node; undefined if never (COL-102). */
  readonly blockingWhenQueued: BlockingDependents | undefined;
}

/**
 * The answer to a GET of the item. `absent` only for what `isObjectNotFound` accepts as a proof (COL-116); every other
 * failure is `error`. `target` is the place of the read: if the node has other coordinates by now, the answer is ignored.
 */
export type LatestAnswer =
  | { readonly state: 'unasked' }
  | { readonly state: 'absent'; readonly target: Target }
  | { readonly state: 'found'; readonly target: Target; readonly object: LiveObject }
  | { readonly state: 'error'; readonly target: Target };

export interface OwnerFacts {
  readonly reference: OwnerReference;
  /**
   * True if the absent-owner cache or a tombstone has these coordinates, without namespace or with the dependent's, and may be trusted
   * (COL-111).
   */
  readonly knownAbsent: boolean;
  /** The owner is proven absent, and was deleted with policy Orphan (LIFE-560): its dependents are orphaned, not deleted. */
  readonly orphaned?: true;
  /** Undefined if the mapper does not know the kind (COL-112). */
  readonly mapping: KindMapping | undefined;
  /**
   * The graph's knowledge: the state of an observed node with this uid and exactly the identity that the reference means in the dependent's
   * namespace. `unproven` for virtual nodes, other coordinates, or no node. `Facts.graph` says whether it may be trusted.
   */
  readonly graph: 'solid' | 'waiting' | 'unproven';
  /** The graph is not trusted for this kind, even if `Facts.graph` says otherwise. */
  readonly doubted?: true;
  /** A watch showed the deletion of this uid, and the object was exactly what the reference means. */
  readonly uidGone?: true;
  /** The owner existed at this version, because a dependent referred to it, so a read must not come from an older state. */
  readonly notOlderThan?: string;
  /** The live read at the reference's coordinates. */
  readonly live: OwnerAnswer;
}

/**
 * `absent`: proven, either by an object-level NotFound or because another uid has the name. `error`: anything that is
 * no proof (COL-114).
 */
export type OwnerAnswer = 'unasked' | 'absent' | 'solid' | 'waiting' | 'error';
