import type { MonitoredResource } from '../types/event.ts';
import { formatUuid } from '../../base/random/uuid.ts';
import type { AbsenceReason, EventReason, QueueReason } from '../types/reasons.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';
import type { NodeStore } from './tables/node-store.ts';
import { UID, UID_IS_TEXT } from './tables/node-table.ts';

/**
 * The state under which a uid was queued. An entry for a virtual node is worthless once the node is observed (COL-072), so the two are
 * different entries.
 */
export type QueuedAs = 'virtual' | 'observed';

/** How a node is queued. */
export interface Enqueueing {
  readonly queue: 'attemptToDelete' | 'attemptToOrphan';
  readonly as: QueuedAs;
  /** `rateLimited` uses the queue's back-off (COL-075); otherwise the key is queued immediately. */
  readonly delay: 'none' | 'rateLimited';
  readonly reason: QueueReason;
}

/**
 * The uid of a node to queue, as the words of the node, because a queue needs no text. At start-up there is one such uid for every owner
 * that is listed after its dependents.
 */
export class EnqueueEffect implements Enqueueing {
  readonly effect = 'enqueue';
  readonly queue: Enqueueing['queue'];
  readonly as: QueuedAs;
  readonly delay: Enqueueing['delay'];
  readonly reason: QueueReason;
  /** The uid as text, if its form is unusual; the words mean nothing then. */
  readonly text: Uid | undefined;
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;

  constructor(nodes: NodeStore, node: number, { queue, as, delay, reason }: Enqueueing) {
    const { table } = nodes;
    this.queue = queue;
    this.as = as;
    this.delay = delay;
    this.reason = reason;
    this.text = table.has(node, UID_IS_TEXT) ? nodes.uid(node) : undefined;
    this.w0 = table.get(node, UID);
    this.w1 = table.get(node, UID + 1);
    this.w2 = table.get(node, UID + 2);
    this.w3 = table.get(node, UID + 3);
  }

  get uid(): Uid {
    return this.text ?? formatUuid(this.w0, this.w1, this.w2, this.w3);
  }
}

/** Data of the Event `OwnerRefInvalidNamespace` (COL-143, COL-144). */
export interface InvalidNamespaceReport {
  readonly effect: 'reportInvalidNamespace';
  /** The dependent, which becomes `involvedObject`. */
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

/** An object with this uid is alive: remove it from the AbsentOwnerCache (BETTER-14) before any later effect. */
export interface DropAbsentOwnerEffect {
  readonly effect: 'dropAbsentOwner';
  readonly uid: Uid;
  readonly reason: AbsenceReason;
}

/** A list lacked so many known objects of its resource that it is not trusted until another list confirms it. */
export interface HeldAbsencesEffect {
  readonly effect: 'heldAbsences';
  readonly resource: MonitoredResource;
  readonly missing: number;
  readonly known: number;
}

export type Effect =
  | EnqueueEffect
  | InvalidNamespaceReport
  | NoteAbsentOwnerEffect
  | DropAbsentOwnerEffect
  | HeldAbsencesEffect;

/**
 * - `ignored`: the event concerns a uid the graph does not know (COL-058).
 * - `unchanged`: nothing that matters changed; only the resourceVersion was stored (BETTER-4, COL-046), or another resource has shown a
 *   newer version of the object, and only the fact that this one shows it, too, was stored.
 * - `changed`: the node was inserted, changed or removed. The holder of backed-off keys wakes the keys of this uid and of its dependents
 *   (BETTER-8).
 * - `wentBack`: as `changed`, but only a server whose history was replaced shows such a change (designs/0011). Known absences may belong to
 *   the other history.
 */
export type ApplyOutcome = 'ignored' | 'unchanged' | 'changed' | 'wentBack';
