import { Lru } from '../../base/collections/lru.ts';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Uid } from '../types/identity.ts';
import { MinuteCount } from './minute-count.ts';

/** Maximum number of objects that a collector deletes within a minute. */
export interface DeletionLimits {
  /** Limit for one cause: the owner at the top, see {@link CircuitBreaker}. */
  readonly perCause?: number;
  /** Limit for all causes together. */
  readonly overall?: number;
}

/** An object that is garbage, with the owner references that the decision rests on. */
export interface Deletion {
  readonly uid: Uid;
  readonly owners: readonly OwnerReference[];
}

/** The owner at the top of a chain of deletions, as the first reference to this owner named it. */
interface Cause {
  readonly uid: Uid;
  readonly kind: string;
  readonly name: string;
}

/** A limit was reached. `cause` is undefined for the overall limit. */
export interface Trip {
  /** Identifies this trip alone, when somebody agrees to continue. */
  readonly id: string;
  readonly cause: Cause | undefined;
  /** Objects that were deleted within the minute before. */
  readonly deleted: number;
}

/**
 * `go`: delete the object, and undo the count if nothing was deleted. `held`: do not delete it; `tripped` is set if this deletion caused
 * the trip.
 */
export type Admission =
  | { readonly admission: 'go'; readonly uid: Uid; readonly cause: Cause | undefined; readonly at: number }
  | { readonly admission: 'held'; readonly tripped: Trip | undefined };

type Held = Extract<Admission, { admission: 'held' }>;

/** A deletion that asks for a place in a budget. */
interface Asked<Key> {
  readonly key: Key;
  readonly limit: number | undefined;
  readonly cause: Cause | undefined;
  readonly now: number;
}

type Budget<Key> =
  | { readonly state: 'counting'; readonly count: MinuteCount }
  | { readonly state: 'tripped'; readonly trip: Trip; readonly held: Set<Key> }
  | { readonly state: 'lifted'; last: number };

const MINUTE_MS = 60_000;
/** Maximum number of causes that are counted. Beyond it, a cause is forgotten, and counts from zero when it appears again. */
const MOST_CAUSES = 10_000;
/** Number of tripped causes that trips the overall limit. */
const MOST_TRIPPED = 1000;
/**
 * Maximum number of deleted objects whose cause is remembered. When such an object is forgotten, it counts as the cause for its dependents.
 */
const MOST_DELETED = 100_000;

/**
 * Holds the deletions of one cause, or all, when they exceed a limit (CAS-074). The cause of a deletion is the first owner upwards that
 * this collector did not delete. The search follows first owner references through the objects that this collector deleted. Pure.
 *
 * | state | event | next |
 * | --- | --- | --- |
 * | counting | deletion below the limit | counting, go |
 * | counting | deletion at the limit | tripped, held |
 * | tripped | deletion | held |
 * | tripped | agreed | lifted, held keys are handed out |
 * | lifted | deletion | lifted, go |
 * | lifted | a minute without a deletion | counting, from zero |
 */
export class CircuitBreaker<Key> {
  readonly #limits: DeletionLimits;
  readonly #newId: () => string;
  readonly #causeOf = new Lru<Uid, Cause>({ capacity: MOST_DELETED });
  /** Least recently used first. At most {@link MOST_CAUSES} are not tripped. */
  readonly #causes = new Map<Uid, Budget<Key>>();
  #overall: Budget<Key> = counting();
  #tripped = 0;

  constructor(limits: DeletionLimits, newId: () => string) {
    this.#limits = limits;
    this.#newId = newId;
  }

  get trips(): readonly Trip[] {
    return this.#budgets().flatMap((budget) => (budget.state === 'tripped' ? [budget.trip] : []));
  }

  /** Keys that are held. */
  get held(): number {
    return this.#budgets().reduce((sum, budget) => sum + (budget.state === 'tripped' ? budget.held.size : 0), 0);
  }

  /**
   * Whether an object may be deleted now. If so, counts it as deleted.
   *
   * @param key returned when somebody agrees to continue
   * @param now milliseconds of a monotonic clock
   */
  admit(key: Key, { uid, owners }: Deletion, now: number): Admission {
    const cause = this.#causeFor(owners);
    const { perCause, overall } = this.#limits;
    const own = cause === undefined || perCause === undefined ? undefined : this.#budgetOf(cause.uid);
    if (own !== undefined && cause !== undefined) {
      const { budget, held } = this.#ask(own, { key, limit: perCause, cause, now });
      this.#causes.set(cause.uid, budget);
      if (held?.tripped !== undefined) this.#tripped++;
      if (held !== undefined) return held;
    }
    const limit = this.#tripped >= MOST_TRIPPED ? 0 : overall;
    const { budget, held } = this.#ask(this.#overall, { key, limit, cause: undefined, now });
    this.#overall = budget;
    if (held !== undefined) return held;
    note(budget, now);
    if (own !== undefined && cause !== undefined) {
      this.#causeOf.set(uid, cause);
      note(this.#causes.get(cause.uid), now);
    }
    return { admission: 'go', uid, cause, at: now };
  }

  /**
   * The admitted object was not deleted, so it does not count. If it `stays`, it is no link to the cause any more: when somebody else deletes
   * it later, it is the cause itself.
   */
  takeBack(
    { uid, cause, at }: Extract<Admission, { admission: 'go' }>,
    now: number,
    object: 'stays' | 'may be gone',
  ): void {
    if (object === 'stays') this.#causeOf.delete(uid);
    for (const budget of [this.#overall, cause === undefined ? undefined : this.#causes.get(cause.uid)]) {
      if (budget?.state === 'counting') budget.count.takeBack(at, now);
    }
  }

  /** Lifts these trips, because somebody agreed to continue. Returns the keys that were held because of them. */
  agree(ids: readonly string[], now: number): { readonly trips: readonly Trip[]; readonly keys: readonly Key[] } {
    const trips: Trip[] = [];
    const keys: Key[] = [];
    const lift = (budget: Budget<Key>): Budget<Key> | undefined => {
      if (budget.state !== 'tripped' || !ids.includes(budget.trip.id)) return undefined;
      trips.push(budget.trip);
      for (const key of budget.held) keys.push(key);
      return { state: 'lifted', last: now };
    };
    for (const [uid, budget] of this.#causes) {
      const lifted = lift(budget);
      if (lifted === undefined) continue;
      this.#causes.set(uid, lifted);
      this.#tripped--;
    }
    this.#overall = lift(this.#overall) ?? this.#overall;
    return { trips, keys };
  }

  /** Counts from zero, as a process that starts does. Returns all keys that were held. */
  reset(): readonly Key[] {
    const keys = this.#budgets().flatMap((budget) => (budget.state === 'tripped' ? [...budget.held] : []));
    this.#causes.clear();
    this.#causeOf.clear();
    this.#overall = counting();
    this.#tripped = 0;
    return keys;
  }

  /** The next state of a budget when one more deletion is wanted, and the answer if it is held. */
  #ask(budget: Budget<Key>, asked: Asked<Key>): { readonly budget: Budget<Key>; readonly held: Held | undefined } {
    const { key, limit, cause, now } = asked;
    if (budget.state === 'tripped') {
      budget.held.add(key);
      return { budget, held: { admission: 'held', tripped: undefined } };
    }
    if (budget.state === 'lifted') {
      return { budget: now - budget.last < MINUTE_MS ? budget : counting(), held: undefined };
    }
    const deleted = budget.count.at(now);
    if (limit === undefined || deleted < limit) return { budget, held: undefined };
    const trip = { id: this.#newId(), cause, deleted };
    return {
      budget: { state: 'tripped', trip, held: new Set([key]) },
      held: { admission: 'held', tripped: trip },
    };
  }

  #budgets(): readonly Budget<Key>[] {
    return [...this.#causes.values(), this.#overall];
  }

  #causeFor([first]: readonly OwnerReference[]): Cause | undefined {
    if (first === undefined) return undefined;
    const { uid, kind, name } = first;
    return this.#causeOf.get(uid) ?? { uid, kind, name };
  }

  #budgetOf(uid: Uid): Budget<Key> {
    const known = this.#causes.get(uid);
    const budget = known ?? counting<Key>();
    this.#causes.delete(uid);
    this.#causes.set(uid, budget);
    if (known === undefined && this.#causes.size - this.#tripped > MOST_CAUSES) this.#forgetOne();
    return budget;
  }

  /** Forgets the least recently used cause that is not tripped. Tripped causes move behind the others, so that the next search begins after them. */
  #forgetOne(): void {
    for (const [uid, budget] of this.#causes) {
      this.#causes.delete(uid);
      if (budget.state !== 'tripped') return;
      this.#causes.set(uid, budget);
    }
  }
}

function counting<Key>(): Budget<Key> {
  return { state: 'counting', count: new MinuteCount() };
}

function note<Key>(budget: Budget<Key> | undefined, now: number): void {
  if (budget?.state === 'counting') budget.count.add(now);
  else if (budget?.state === 'lifted') budget.last = now;
}
