import type { Action } from './actions.ts';
import type { OwnerLookup } from './owner-lookup.ts';
import type { Reason } from '../types/reasons.ts';
import type { Target } from './target.ts';

/** GET the item; come back with `latest`. */
export interface NeedLatest {
  readonly need: 'latest';
  readonly target: Target;
  /** The read must come from no older state than this version. */
  readonly notOlderThan?: string;
}

/** GET these owners (in any order, at once); come back with their answers. Never empty. */
export interface NeedOwners {
  readonly need: 'owners';
  readonly lookups: readonly OwnerLookup[];
}

/**
 * The end of the round. Carry out the actions in order. `forget` resets the key's failures, `requeue` puts it back with
 * rate limiting; a failing action turns `forget` into `requeue`.
 */
export interface Verdict {
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  readonly actions: readonly Action[];
}

export type Step = NeedLatest | NeedOwners | Verdict;
