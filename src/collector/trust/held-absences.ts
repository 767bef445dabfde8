import type { MonitoredResource, VanishLimit } from '../types/event.ts';

/** A list is not believed if it lacks at least this number of objects and this share of its resource. */
const DEFAULT_VANISH_LIMIT: VanishLimit = { objects: 50, share: 0.2 };

/** A resource of which too many objects vanished together. */
interface HeldAbsence {
  readonly resource: MonitoredResource;
  readonly missing: number;
  readonly known: number;
}

/** How a hold ended: the next list lacked the same objects again, or showed most of them. */
type HoldEnd = 'confirmed' | 'refuted';

interface Hold extends HeldAbsence {
  /** `held`: no absence is believed. `asked`: the next list confirms or refutes the absences. */
  readonly state: 'held' | 'asked';
  /** The list that is ending now lacked too many objects again. */
  readonly again: boolean;
}

/**
 * Resources of which more objects vanished in one list than one list can prove. Nothing is deleted because of the missing objects until a
 * second, later list lacks them too and each owner was read. Pure. Bound: one entry for each resource.
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

  /** How many objects the list that is ending now may lack. Undefined: each object that it lacks counts as vanished, and is read. */
  limitOf(resource: MonitoredResource): VanishLimit | undefined {
    const hold = this.#holds.get(keyOf(resource));
    if (hold !== undefined) this.#holds.set(keyOf(resource), { ...hold, again: false });
    return hold?.state === 'asked' ? undefined : this.#limit;
  }

  /** A list lacked more objects than its limit. `goesOn`: the list before it did too. */
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

  /**
   * A list of the resource has ended, after {@link HeldAbsences.begin} if it lacked too many objects. Returns how a hold ended, or
   * undefined if none did.
   */
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

  /** True if no absence of an object of this kind is believed. */
  holds(apiVersion: string, kind: string): boolean {
    if (this.#holds.size === 0) return false;
    return this.all.some(({ resource }) => resource.kind === kind && resource.apiVersion === apiVersion);
  }
}

function keyOf({ apiVersion, resource }: MonitoredResource): string {
  return `${apiVersion} ${resource}`;
}
