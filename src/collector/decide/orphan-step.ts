import type { Uid } from '../types/identity.ts';
import type { LatestAnswer, NodeFacts } from './facts.ts';
import type { NeedLatest, Verdict } from './step.ts';
import type { Target } from './target.ts';

/** Everything that `attemptToOrphan` uses. */
export interface OrphanFacts {
  /** Undefined if the uid no longer has a node. */
  readonly node: OrphanNodeFacts | undefined;
  /**
   * The owner's version when this round began. If the graph is not trusted: the version that was read then. An owner that changed since may
   * have been deleted with Orphan again, after new dependents appeared, so the finalizer is removed at this version only.
   */
  readonly version: string | undefined;
  /**
   * The owner is read before any write, because the facts about it in the graph may come from another history of the server. That is
   * possible while the graph is not trusted. It is also possible when this round repeats one that failed, because a server does not answer
   * while its backup is restored.
   */
  readonly doubtful: boolean;
  /** The owner, read live. */
  readonly latest: LatestAnswer;
  /** Dependents in the graph at the start of this round (COL-120). */
  readonly dependents: readonly Uid[];
  /** The results of removing their references. `failed`: at least one answer did not show that the reference is gone. */
  readonly released: Released;
  /**
   * The answer of the barrier, which relists dependents after the deletion was seen (BETTER-13). `clear` means that nothing else refers to
   * the owner, `found` that these objects do, `incomplete` that there may be more, and `gaveUp` that it is switched off, timed out or
   * exceeded the size limit.
   */
  readonly barrier: 'unasked' | 'clear' | 'gaveUp' | { readonly found: readonly Target[]; readonly incomplete?: true };
  /** The results of removing the references of dependents that the barrier found. */
  readonly foundReleased: Released;
}

export type Released = 'unasked' | 'all' | 'failed';

export type OrphanNodeFacts = Pick<
  NodeFacts,
  'identity' | 'mapping' | 'resourceVersion' | 'beingDeleted' | 'orphanFinalizer' | 'otherFinalizers'
>;

/** Run P1 or P2 for each dependent, with a fixed maximum of concurrent patches (COL-128), and decide again with `released`. */
interface NeedReleased {
  readonly need: 'released';
  readonly owner: Uid;
  readonly dependents: readonly Uid[];
}

/** Do the same for dependents that only the barrier found, and decide again with `foundReleased`. */
interface NeedFoundReleased {
  readonly need: 'foundReleased';
  readonly owner: Uid;
  readonly dependents: readonly Target[];
}

/** Ask the barrier, and decide again with `barrier`. */
interface NeedBarrier {
  readonly need: 'barrier';
  readonly owner: Target;
}

export type OrphanStep = NeedLatest | NeedReleased | NeedFoundReleased | NeedBarrier | Verdict;
