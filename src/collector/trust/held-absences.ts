import type { MonitoredResource, VanishLimit } from '../types/event.ts';

/** From so many objects on, and from this share of a resource on, one list is not believed. */
export const DEFAULT_VANISH_LIMIT: VanishLimit = { objects: 50, share: 0.2 };

/** What is known of a resource of which too much vanished at once. */
export interface HeldAbsence {
  readonly resource: MonitoredResource;
  readonly missing: number;
  readonly known: number;
}

/** How a hold ended: the list after it lacked the same again, or showed most of it. */
export type HoldEnd = 'confirmed' | 'refuted';

interface Hold extends HeldAbsence {
  /** `held`: nothing is believed. `asked`: the next list is the second opinion. */
  readonly state: 'held' | 'asked';
  /** The list that ends now lacked too much again. */
  readonly again: boolean;
}

/**
 * Resources of which more vanished from one list than a list may tell. Nothing is deleted because of what is missing until a second list,
 * a while later, lacks it too, and each owner was read. Pure. Bound: one entry for each resource.
 *
 * | state | list lacks too much | list is complete otherwise | {@link HeldAbsences.ask} |
 * | --- | --- | --- | --- |
 * | – | held | – | – |
 * | held | held | – (refuted) | asked |
 * | asked | – (confirmed) | – (confirmed) | asked |
 */
export class HeldAbsences {
  readonly #limit: VanishLimit;
  readonly #holds = new Map<string, Hold>();

  constructor(limit: VanishLimit = DEFAULT_VANISH_LIMIT) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#holds.size;
  }

  get all(): readonly HeldAbsence[] {
    return [...this.#holds.values()];
  }

  /** How much the list that ends now may lack; undefined: whatever it lacks is believed to have vanished, and read. */
  limitOf(resource: MonitoredResource): VanishLimit | undefined {
    const hold = this.#holds.get(keyOf(resource));
    if (hold !== undefined) this.#holds.set(keyOf(resource), { ...hold, again: false });
    return hold?.state === 'asked' ? undefined : this.#limit;
  }

  /** A list lacked more than that. `goesOn`: as the one before. */
  begin(absence: HeldAbsence): 'begins' | 'goesOn' {
    const key = keyOf(absence.resource);
    const before = this.#holds.get(key);
    this.#holds.set(key, { ...absence, state: 'held', again: true });
    return before === undefined ? 'begins' : 'goesOn';
  }

  /** The next list of the resource confirms the one before, or refutes it. */
  ask(resource: MonitoredResource): void {
    const hold = this.#holds.get(keyOf(resource));
    if (hold !== undefined) this.#holds.set(keyOf(resource), { ...hold, state: 'asked' });
  }

  /** A list of the resource has ended, after {@link HeldAbsences.begin} if it lacked too much. Answers whether that ended a hold. */
  listed(resource: MonitoredResource): HoldEnd | undefined {
    const hold = this.#holds.get(keyOf(resource));
    if (hold === undefined || hold.again) return undefined;
    this.#holds.delete(keyOf(resource));
    return hold.state === 'asked' ? 'confirmed' : 'refuted';
  }

  /** The resource is not watched any more. */
  forget(resource: MonitoredResource): void {
    this.#holds.delete(keyOf(resource));
  }

  /** Whether nothing is believed about the absence of objects of this kind. */
  holds(apiVersion: string, kind: string): boolean {
    if (this.#holds.size === 0) return false;
    return this.all.some(({ resource }) => resource.kind === kind && resource.apiVersion === apiVersion);
  }
}

function keyOf({ apiVersion, resource }: MonitoredResource): string {
  return `${apiVersion} ${resource}`;
}
