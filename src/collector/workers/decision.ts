import type { Action } from '../decide/actions.ts';
import type { Reason } from '../decide/reasons.ts';
import type { Identity, Uid } from '../graph/identity.ts';

/** What was decided about one object, for whoever wants to tell people. `sentenceOf(reason)` says why in words. */
export interface Decision {
  readonly uid: Uid;
  /** As the graph knew the object when the decision began; undefined when it was gone. */
  readonly identity: Identity | undefined;
  /** `requeue` also when an action failed. */
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  /** What was wanted, in order. */
  readonly actions: readonly Action[];
}
