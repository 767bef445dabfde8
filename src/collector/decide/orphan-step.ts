import type { Uid } from '../types/identity.ts';
import type { LatestAnswer, NodeFacts } from './facts.ts';
import type { NeedLatest, Verdict } from './step.ts';
import type { Target } from './target.ts';

/** Everything `attemptToOrphan` looks at (section 9). */
export interface OrphanFacts {
  /** Undefined when the uid has no node any more. */
  readonly node: OrphanNodeFacts | undefined;
  /**
   * The owner's when this round began, or as it was read then, if the graph is not to be trusted. An owner that has changed since then may
   * have been asked to orphan anew, after others came to refer to it: the finalizer is taken off this version or none.
   */
  readonly version: string | undefined;
  /**
   * What the graph has of the owner may be of another history of the server: it tries again what failed before, as a server does not
   * answer while its backup is restored, or the graph is not to be trusted. The owner is read before anything is written.
   */
  readonly doubtful: boolean;
  /** The owner, read live. */
  readonly latest: LatestAnswer;
  /** Dependents in the graph when this round began (COL-120). */
  readonly dependents: readonly Uid[];
  /** The results of removing their references. `failed`: at least one answer was neither success nor a proof of absence. */
  readonly released: Released;
  /**
   * BETTER-13: fresh lists begun after the deletion was seen. `clear`: nothing else refers to the owner. `gaveUp`:
   * switched off, out of time or over the size limit. `found`: these also refer to it; `incomplete`: there may be more.
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

/** P1/P2 on each dependent, at most a fixed number in flight (COL-128). Come back with `released`. */
export interface NeedReleased {
  readonly need: 'released';
  readonly owner: Uid;
  readonly dependents: readonly Uid[];
}

/** The same for dependents that only the barrier knows. Come back with `foundReleased`. */
export interface NeedFoundReleased {
  readonly need: 'foundReleased';
  readonly owner: Uid;
  readonly dependents: readonly Target[];
}

/** Ask the barrier; come back with `barrier`. */
export interface NeedBarrier {
  readonly need: 'barrier';
  readonly owner: Target;
}

export type OrphanStep = NeedLatest | NeedReleased | NeedFoundReleased | NeedBarrier | Verdict;
