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
  cause: TrailCause | undefined;
  /** The collector's last decision about it. */
  decided: Reason | undefined;
  /** Order of its removal, from 1. */
  sequence: number | undefined;
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

/** All trails of a simulation, created on first use. */
export class Trails {
  readonly #trails = new Map<string, Trail>();
  /** The set of one member that was made last. */
  #lastSet: ReadonlySet<string> = NONE;

  /** @param via the cause that reaches the object, unless there already is one */
  of(uid: string, via: Via = 'ownerReference'): Trail {
    let trail = this.#trails.get(uid);
    if (trail === undefined) {
      // Every field that most trails get has its place from the start, so that a million of them stay small.
      trail = {
        uid,
        via,
        cause: undefined,
        decided: undefined,
        sequence: undefined,
        waitsFor: NONE,
        loses: NONE,
        assumed: NONE,
        usedBy: NONE,
      };
      this.#trails.set(uid, trail);
    }
    return trail;
  }

  /**
   * Adds to a set of a trail. Most sets have no member, and most others one, which dependents of one owner have in common. So a set of one
   * member is shared, and never changed.
   */
  add(trail: Trail, set: 'waitsFor' | 'loses' | 'assumed' | 'usedBy', member: string): void {
    const members = trail[set];
    if (members.has(member)) return;
    if (members.size === 0) trail[set] = this.#setOf(member);
    else if (members.size === 1) trail[set] = new Set([...members, member]);
    else (members as Set<string>).add(member);
  }

  /** Takes an object out of those that another waits for. */
  waitsNoMore(trail: Trail, other: string): void {
    const { waitsFor } = trail;
    if (!waitsFor.has(other)) return;
    if (waitsFor.size === 1) trail.waitsFor = NONE;
    else (waitsFor as Set<string>).delete(other);
  }

  #setOf(member: string): ReadonlySet<string> {
    if (!this.#lastSet.has(member)) this.#lastSet = new Set([member]);
    return this.#lastSet;
  }

  find(uid: string): Trail | undefined {
    return this.#trails.get(uid);
  }

  values(): Iterable<Trail> {
    return this.#trails.values();
  }
}
