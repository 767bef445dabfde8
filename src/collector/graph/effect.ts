import type { Coordinates, Identity, Uid } from './identity.ts';

/**
 * Under which state a uid was queued. An entry made for a virtual node is worth nothing once the node is observed
 * (COL-072), so the two are different entries.
 */
export type QueuedAs = 'virtual' | 'observed';

export type EnqueueReason =
  /** A reference named a uid that no node has (COL-070). */
  | 'virtualOwner'
  /** The recorded coordinates of a virtual node were proven wrong; others are tried (COL-075, COL-076). */
  | 'alternativeIdentity'
  /** An observed node lost its observation: its resource vanished, or a cached list lacked it (BETTER-2). */
  | 'observationLost'
  /** A reference does not fit the node of its uid (COL-073, COL-078). */
  | 'potentiallyInvalid'
  /** A reference names a uid that is known to be gone (BETTER-15). */
  | 'ownerKnownAbsent'
  /** An owner of this node is gone (COL-057, COL-075, COL-077). */
  | 'ownerGone'
  /** An owner of this node began to wait for its dependents (COL-062). */
  | 'ownerStartsWaiting'
  /** The node itself began to wait for its dependents (COL-062). */
  | 'startsWaiting'
  /** A dependent of this waiting node is gone, or does not block it any more (COL-054, COL-057). */
  | 'dependentReleased'
  /** The node began to wait for its dependents to be orphaned (COL-061). */
  | 'startsOrphaning';

export interface EnqueueEffect {
  readonly effect: 'enqueue';
  readonly queue: 'attemptToDelete' | 'attemptToOrphan';
  readonly uid: Uid;
  readonly as: QueuedAs;
  /** `rateLimited`: through the queue's back-off (COL-075); otherwise at once. */
  readonly delay: 'none' | 'rateLimited';
  readonly reason: EnqueueReason;
}

/** Data of the Event `OwnerRefInvalidNamespace` (COL-143, COL-144). */
export interface InvalidNamespaceReport {
  readonly effect: 'reportInvalidNamespace';
  /** The dependent: `involvedObject`. */
  readonly dependent: Identity;
  /** The first reference of the dependent with the owner's uid. */
  readonly ownerReference: Coordinates;
}

/** This identity is proven absent: add it to the AbsentOwnerCache (COL-133) before any later effect is carried out. */
export interface NoteAbsentOwnerEffect {
  readonly effect: 'noteAbsentOwner';
  readonly identity: Identity;
}

/** An object of this uid is alive: remove what the AbsentOwnerCache knows of it (BETTER-14), before any later effect. */
export interface DropAbsentOwnerEffect {
  readonly effect: 'dropAbsentOwner';
  readonly uid: Uid;
}

export type Effect = EnqueueEffect | InvalidNamespaceReport | NoteAbsentOwnerEffect | DropAbsentOwnerEffect;

/**
 * - `ignored`: the event concerns a uid the graph does not know (COL-058).
 * - `unchanged`: nothing that matters changed; only the resourceVersion was stored (BETTER-4, COL-046).
 * - `changed`: the node was inserted, changed or removed. Whoever holds backed-off keys wakes those of this uid and of
 *   its dependents (BETTER-8).
 */
export type ApplyOutcome = 'ignored' | 'unchanged' | 'changed';
