import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { BlockingDependents, NodeState } from '../graph/graph.ts';
import type { QueuedAs } from '../graph/effect.ts';
import type { Identity } from '../types/identity.ts';
import type { LiveObject } from './live-object.ts';
import type { KindMapping, Target } from './target.ts';

/**
 * Everything `attemptToDelete` uses. `gather-facts.ts` builds it from the graph, the REST mapper and the answers
 * fetched so far; a worker starts with no answers, asks, fetches what is needed and asks again with the answers added.
 */
export interface Facts {
  readonly queuedAs: QueuedAs;
  /** Undefined when the uid has no node any more. */
  readonly node: NodeFacts | undefined;
  /** The item itself, read live. */
  readonly latest: LatestAnswer;
  /**
   * One entry for each reference in force, in order: those of `latest.object` when it was found, else those the graph
   * recorded for an observed node.
   */
  readonly owners: readonly OwnerFacts[];
  /**
   * `trusted` while every monitor is synced and no resourceVersion has gone backwards: only then may the graph answer
   * instead of the server (BETTER-9; PERFORMANCE "where the shortcut must not be taken").
   */
  readonly graph: 'trusted' | 'untrusted';
  /** `spent` after a DELETE met a conflict, whatever it rested on: what follows in this round reads everything (COL-098). */
  readonly shortcut: 'allowed' | 'spent';
}

export interface NodeFacts {
  readonly state: NodeState;
  /** The last list of its resource lacked it, and a read must decide whether it is gone. */
  readonly unlisted: boolean;
  /** A watch that can be believed shows it: whoever says that it is absent is wrong, or ahead of the watch. */
  readonly shown: boolean;
  /** The object existed at this version: a read of it must come from no older state. Undefined: any state will do. */
  readonly notOlderThan: string | undefined;
  /** As recorded; of a virtual node a guess (COL-070). */
  readonly identity: Identity;
  /** Undefined: the mapper does not know the kind of the node (row 3). */
  readonly mapping: KindMapping | undefined;
  /** The graph may not answer for this kind, whatever `Facts.graph` says. */
  readonly doubted?: true;
  readonly beingDeleted: boolean;
  readonly deletingDependents: boolean;
  /** The version of the last event; undefined when there is none to use as a precondition. */
  readonly resourceVersion: string | undefined;
  /** At this version its deletion, or the removal of the finalizer it waited with, was accepted: the graph has not heard of it yet. */
  readonly endAccepted: boolean;
  readonly foregroundFinalizer: boolean;
  readonly orphanFinalizer: boolean;
  /** Finalizers other than these two were, or may have been, there. */
  readonly otherFinalizers: boolean;
  /** Rows 13 and 14: dependents in the graph, and whether one of them waits itself (COL-097, COL-10C). */
  readonly dependents: 'none' | 'some' | 'someDeletingDependents';
  /** The blocking dependents; only used when the node is deletingDependents. */
  readonly blocking: BlockingDependents;
  /** It waits for dependents that wait for it (see `waiting-cycle.ts`). */
  readonly inWaitingCycle: boolean;
  /** `blocking` at the time its dependents were last queued for this node; undefined: never (COL-102). */
  readonly blockingWhenQueued: BlockingDependents | undefined;
}

/**
 * The answer to a GET of the item. `absent` only for what `isObjectNotFound` accepts as a proof (COL-116); every other
 * failure is `error`. `target` is where it was asked: when the node has got other coordinates meanwhile, the answer
 * says nothing about these and is ignored.
 */
export type LatestAnswer =
  | { readonly state: 'unasked' }
  | { readonly state: 'absent'; readonly target: Target }
  | { readonly state: 'found'; readonly target: Target; readonly object: LiveObject }
  | { readonly state: 'error'; readonly target: Target };

export interface OwnerFacts {
  readonly reference: OwnerReference;
  /** The absent-owner cache or a tombstone has these coordinates, without namespace or with the dependent's, with trust (COL-111). */
  readonly knownAbsent: boolean;
  /** It is proven absent, and known to have gone with policy Orphan (LIFE-560): its dependents are orphaned, not deleted. */
  readonly orphaned?: true;
  /** Undefined: the mapper does not know the kind (COL-112). */
  readonly mapping: KindMapping | undefined;
  /**
   * The graph's knowledge: the state of an observed node with this uid whose identity is exactly what the reference
   * means from the dependent's namespace. `unproven` for virtual nodes, other coordinates, or no node. Whether it may be
   * believed is `Facts.graph`.
   */
  readonly graph: 'solid' | 'waiting' | 'unproven';
  /** The graph may not answer for this kind, whatever `Facts.graph` says. */
  readonly doubted?: true;
  /** The graph has seen the object with this uid go, and it was exactly what the reference means. */
  readonly uidGone?: true;
  /** The owner existed at this version, because a dependent referred to it: a read of it must come from no older state. */
  readonly notOlderThan?: string;
  /** The live read at the reference's coordinates. */
  readonly live: OwnerAnswer;
}

/**
 * `absent`: proven, either by an object-level NotFound or because another uid has the name. `error`: anything that is
 * no proof (COL-114).
 */
export type OwnerAnswer = 'unasked' | 'absent' | 'solid' | 'waiting' | 'error';
