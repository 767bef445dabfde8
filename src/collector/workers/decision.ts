import type { Action } from '../decide/actions.ts';
import type { QueueReason, Reason } from '../types/reasons.ts';
import type { Identity, Uid } from '../types/identity.ts';

export interface DecisionAbout {
  readonly uid: Uid;
  /** As the graph knew the object when the decision began; undefined when it was gone. */
  readonly identity: Identity | undefined;
  /** Why it was looked at; undefined when it is tried again, or was not queued at all. */
  readonly queuedFor: QueueReason | undefined;
}

/** What was decided about one object, for whoever wants to tell people. `sentenceOf(reason)` says why in words. */
export interface Decision extends DecisionAbout {
  /** `requeue` also when an action failed. */
  readonly verdict: 'forget' | 'requeue';
  readonly reason: Reason;
  /** What was wanted, in order. */
  readonly actions: readonly Action[];
  /** Of an owner that is orphaned: late dependents were not looked for, or not everywhere in time (BETTER-13), and it goes all the same. */
  readonly barrier?: 'gaveUp';
}

/** What came of one action. */
export interface ActionResult {
  readonly action: Action;
  /** What the answer to the write came to; undefined of what this process does by itself. */
  readonly answered: Reason | undefined;
  /** Not sent, because this collector only observes. */
  readonly withheld?: true;
}

/** A decision after it was carried out. */
export interface CarriedOut extends Decision {
  /** What had been decided, also where the answer to a write took its place in `reason`. */
  readonly decided: Reason;
  /**
   * Of the actions that were begun, in order: the first that fails ends them (COL-094). Before them those of earlier decisions about the
   * same object, each of which ended with a DELETE that was refused as a conflict (COL-098): what they had done stays done.
   */
  readonly results: readonly ActionResult[];
}
