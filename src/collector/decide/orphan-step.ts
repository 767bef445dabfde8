import type { Uid } from '../graph/identity.ts';
import type { Verdict } from './step.ts';
import type { Target } from './target.ts';
import type { NodeFacts } from './facts.ts';

/** Everything `attemptToOrphan` looks at (section 9). */
export interface OrphanFacts {
  /** Undefined when the uid has no node any more. */
  readonly node: OrphanNodeFacts | undefined;
  /**
   * The owner's when this round began. An owner that has changed since then may have been asked to orphan anew, after others came to
   * refer to it: the finalizer is taken off this version or none.
   */
  readonly version: string | undefined;
  /** Dependents in the graph when this round began (COL-120). */
  readonly dependents: readonly Uid[];
  /** What became of removing their references. `failed`: at least one answer was neither success nor a proof of absence. */
  readonly released: Released;
  /**
   * BETTER-13: fresh lists begun after the deletion was seen. `clear`: nothing else refers to the owner. `gaveUp`:
   * switched off, out of time or over the size limit. `found`: these also refer to it.
   */
  readonly barrier: 'unasked' | 'clear' | 'gaveUp' | { readonly found: readonly Target[] };
  /** What became of removing the references of those that the barrier found. */
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

export type OrphanStep = NeedReleased | NeedFoundReleased | NeedBarrier | Verdict;
