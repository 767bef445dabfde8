import type { Action } from '../decide/actions.ts';
import type { QueueReason, Reason } from '../types/reasons.ts';
import type { Identity, Uid } from '../types/identity.ts';

export interface DecisionAbout {
  readonly uid: Uid;
  /** The object as the graph knew it when the decision began; undefined if the graph did not have it. */
  readonly identity: Identity | undefined;
  /** Why the object was queued; undefined when it is tried again, or was not queued at all. */
  readonly queuedFor: QueueReason | undefined;
}

/** A decision about one object, for reports. `sentenceOf(reason)` is the reason in words. */
export interface Decision extends DecisionAbout {
  /** `requeue` also when an action failed. */
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  /** The wanted actions, in order. */
  readonly actions: readonly Action[];
  /**
   * Set for an orphaned owner if late dependents were not searched for, or not everywhere in time (BETTER-13). The owner is deleted all the
   * same.
   */
  readonly barrier?: 'gaveUp';
}

/** The result of one action. */
export interface ActionResult {
  readonly action: Action;
  /** The meaning of the answer to the write; undefined for an action that this process carries out by itself. */
  readonly answered: Reason | undefined;
  /** The write was not sent, because this collector only observes. */
  readonly withheld?: true;
}

/** A decision after it was carried out. */
export interface CarriedOut extends Decision {
  /** The reason that was decided, also if the answer to a write took its place in `reason`. */
  readonly decided: Reason;
  /**
   * The results of the actions that were begun, in order. The first action that fails ends the list (COL-094). Before them come the results
   * of earlier decisions about the same object. Each of those ended with a DELETE that was refused as a conflict (COL-098); their earlier
   * writes stay.
   */
  readonly results: readonly ActionResult[];
}
