import type { Reason } from '../../collector/types/reasons.ts';
import type { Via } from '../documents/cascade-plan.ts';

/** Why an object was deleted, kept or orphaned in a simulation. */
export type TrailCause =
  /** A person requested it. */
  | 'requested'
  /** The collector decided it; `decided` has the reason. */
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
  /** The collector had no final decision and would retry for ever. */
  requeued?: true;
  /** Order of its removal, from 1. */
  sequence?: number;
  /**
   * The objects that must be gone before it. An owner that waits in the foreground waits for blocking references to it, not for the objects
   * that have them. A dependent whose reference the collector may remove instead, because another owner is solid, is therefore no member.
   */
  waitsFor: ReadonlySet<string>;
  /** It waited for its dependents (foreground), so these may be deleted before or after it. */
  waited?: true;
  /** Owners whose references it loses. */
  loses: ReadonlySet<string>;
  /** It lost them because their owner is deleted with policy Orphan. */
  orphaned?: true;
  /** Finalizers that another program removes, by assumption. */
  assumed: ReadonlySet<string>;
  /** The grace period that its node has, in seconds. */
  graceSeconds?: number;
  /** The server refused to delete it. */
  refused?: string;
  /** Pods that use the claim. */
  usedBy: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** Adds to a set of a trail. Most trails have none of them, so each is made with its first member. */
export function addTo(trail: Trail, set: 'waitsFor' | 'loses' | 'assumed' | 'usedBy', member: string): void {
  const members = trail[set];
  if (members === NONE) trail[set] = new Set([member]);
  else (members as Set<string>).add(member);
}

/** Takes an object out of those that it waits for. */
export function waitsNoMore(trail: Trail, other: string): void {
  if (trail.waitsFor.has(other)) (trail.waitsFor as Set<string>).delete(other);
}

/** All trails of a simulation, created on first use. */
export class Trails {
  readonly #trails = new Map<string, Trail>();

  /** @param via the cause that reaches the object, unless there already is one */
  of(uid: string, via: Via = 'ownerReference'): Trail {
    let trail = this.#trails.get(uid);
    if (trail === undefined) {
      trail = { uid, via, waitsFor: NONE, loses: NONE, assumed: NONE, usedBy: NONE };
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
