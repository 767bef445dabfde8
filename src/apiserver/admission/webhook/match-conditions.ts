import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { Invocation } from '../matching/match-resources.ts';
import type { VersionedObjects } from './admission-review.ts';
import type { MatchCondition } from './configuration.ts';

export interface ConditionSubject extends VersionedObjects {
  readonly attributes: AdmissionAttributes;
  readonly invocation: Invocation;
}

/** `excluded` means that a condition is false; `failed` means that none is, but one has no value. */
export type ConditionOutcome =
  | { readonly outcome: 'matched' }
  | { readonly outcome: 'excluded'; readonly condition: string }
  | { readonly outcome: 'failed'; readonly message: string };

/** Evaluates `matchConditions`. */
export interface MatchConditions {
  evaluate(conditions: readonly MatchCondition[], subject: ConditionSubject): Promise<ConditionOutcome>;
}
