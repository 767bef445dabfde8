import type { Action } from './actions.ts';
import type { OwnerLookup } from './owner-lookup.ts';
import type { Reason } from '../types/reasons.ts';
import type { Target } from './target.ts';

/** GET the item, and decide again with `latest`. */
export interface NeedLatest {
  readonly need: 'latest';
  readonly target: Target;
  /** The read must not come from an older state than this version. */
  readonly notOlderThan?: string;
}

/** GET these owners in any order, also concurrently, and decide again with their answers. Never empty. */
interface NeedOwners {
  readonly need: 'owners';
  readonly lookups: readonly OwnerLookup[];
}

/**
 * The result of the round. The actions are carried out in order. `forget` resets the key's failures, `requeue` requeues it with back-off; a
 * failing action turns `forget` into `requeue`.
 */
export interface Verdict {
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  readonly actions: readonly Action[];
}

export type Step = NeedLatest | NeedOwners | Verdict;
