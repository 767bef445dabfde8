import type { Action } from '../decide/actions.ts';
import type { QueueReason, Reason } from '../reasons.ts';
import type { Identity, Uid } from '../graph/identity.ts';

export interface DecisionAbout {
  readonly uid: Uid;
  /** As the graph knew the object when the decision began; undefined when it was gone. */
  readonly identity: Identity | undefined;
  /** Why it was looked at; undefined when it is tried again. */
  readonly queuedFor: QueueReason | undefined;
}

/** What was decided about one object, for whoever wants to tell people. `sentenceOf(reason)` says why in words. */
export interface Decision extends DecisionAbout {
  /** `requeue` also when an action failed. */
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  /** What was wanted, in order. */
  readonly actions: readonly Action[];
}
