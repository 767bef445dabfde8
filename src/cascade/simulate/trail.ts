import type { Reason } from '../../collector/types/reasons.ts';
import type { Via } from '../documents/cascade-plan.ts';

/** Why an object was deleted, kept or orphaned in a simulation. */
export type TrailCause =
  /** A person asked for it. */
  | 'requested'
  /** The collector decided it; `decided` says why. */
  | 'collected'
  | 'namespaceEmptied'
  | 'definitionDeleted'
  | 'volumeReleased'
  | 'nodeRemoved'
  | 'nodeShutDown';

/** The history of one object in a simulation. Mutable: the simulation writes it, the plan reads it. */
export interface Trail {
  readonly uid: string;
  /** The first cause that reached it. */
  via: Via;
  cause?: TrailCause;
  /** The collector's last decision about it. */
  decided?: Reason;
  /** The collector could not end its decision and would try for ever. */
  requeued?: true;
  /** Order of its removal, from 1. */
  sequence?: number;
  /** Whom it has to wait for before it goes. */
  readonly waitsFor: Set<string>;
  /** It waited for its dependents (foreground), so these may go before it or after it. */
  waited?: true;
  /** Owners whose references it loses. */
  readonly loses: Set<string>;
  /** It lost them because their owner goes with policy Orphan. */
  orphaned?: true;
  /** Owners that the last decision found absent or waiting. */
  readonly lostOwners: Set<string>;
  /** Finalizers that somebody else removes, by assumption. */
  readonly assumed: Set<string>;
  /** Seconds that its node is given. */
  graceSeconds?: number;
  /** The server refused to delete it. */
  refused?: string;
  /** Pods that use the claim. */
  readonly usedBy: Set<string>;
}

/** All trails of a simulation, made when first asked for. */
export class Trails {
  readonly #trails = new Map<string, Trail>();

  /** @param via what reaches the object, if nothing has before */
  of(uid: string, via: Via = 'ownerReference'): Trail {
    let trail = this.#trails.get(uid);
    if (trail === undefined) {
      trail = {
        uid,
        via,
        waitsFor: new Set(),
        loses: new Set(),
        lostOwners: new Set(),
        assumed: new Set(),
        usedBy: new Set(),
      };
      this.#trails.set(uid, trail);
    }
    return trail;
  }

  find(uid: string): Trail | undefined {
    return this.#trails.get(uid);
  }

  values(): Iterable<Trail> {
    return this.#trails.values();
  }
}
