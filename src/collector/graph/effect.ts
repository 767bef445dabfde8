import type { AbsenceReason, EventReason, QueueReason } from '../reasons.ts';
import type { Coordinates, Identity, Uid } from './identity.ts';

/**
 * Under which state a uid was queued. An entry made for a virtual node is worth nothing once the node is observed
 * (COL-072), so the two are different entries.
 */
export type QueuedAs = 'virtual' | 'observed';

export interface EnqueueEffect {
  readonly effect: 'enqueue';
  readonly queue: 'attemptToDelete' | 'attemptToOrphan';
  readonly uid: Uid;
  readonly as: QueuedAs;
  /** `rateLimited`: through the queue's back-off (COL-075); otherwise at once. */
  readonly delay: 'none' | 'rateLimited';
  readonly reason: QueueReason;
}

/** Data of the Event `OwnerRefInvalidNamespace` (COL-143, COL-144). */
export interface InvalidNamespaceReport {
  readonly effect: 'reportInvalidNamespace';
  /** The dependent: `involvedObject`. */
  readonly dependent: Identity;
  /** The first reference of the dependent with the owner's uid. */
  readonly ownerReference: Coordinates;
  readonly reason: EventReason;
}

/** This identity is proven absent: add it to the AbsentOwnerCache (COL-133) before any later effect is carried out. */
export interface NoteAbsentOwnerEffect {
  readonly effect: 'noteAbsentOwner';
  readonly identity: Identity;
  readonly reason: AbsenceReason;
}

/** An object of this uid is alive: remove what the AbsentOwnerCache knows of it (BETTER-14), before any later effect. */
export interface DropAbsentOwnerEffect {
  readonly effect: 'dropAbsentOwner';
  readonly uid: Uid;
  readonly reason: AbsenceReason;
}

export type Effect = EnqueueEffect | InvalidNamespaceReport | NoteAbsentOwnerEffect | DropAbsentOwnerEffect;

/**
 * - `ignored`: the event concerns a uid the graph does not know (COL-058).
 * - `unchanged`: nothing that matters changed; only the resourceVersion was stored (BETTER-4, COL-046).
 * - `changed`: the node was inserted, changed or removed. Whoever holds backed-off keys wakes those of this uid and of
 *   its dependents (BETTER-8).
 */
export type ApplyOutcome = 'ignored' | 'unchanged' | 'changed';
