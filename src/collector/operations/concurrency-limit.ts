/** What an answer says about the load of the server. `overloaded`: it refused, or did not answer in time. */
export interface CallOutcome {
  readonly outcome: 'answered' | 'overloaded';
  /** What was asked for, such as the method: calls of one kind take about as long when nobody waits. A handful of values. */
  readonly kind: string;
  /** Calls that were under way when it began, itself included. */
  readonly underWay: number;
  readonly startedAt: number;
  /** Both in ms of one monotonic clock. */
  readonly endedAt: number;
  /** What the server asked to wait for, ms. */
  readonly retryAfterMs?: number | undefined;
}

export interface ConcurrencyLimitOptions {
  readonly ceiling: number;
  /**
   * Where it begins, at most the ceiling, default 8. Slowness alone reduces no further: it may be others' doing, and then
   * waiting for them would help nobody. Eight keep a server busy while we are busy ourselves, and let a request of others
   * wait for no more than eight of ours; four do not (bench/README.md).
   */
  readonly few?: number | undefined;
}

const FEW = 8;
/** While answers take no longer than this many times the best, one more does not make others wait. */
const UNHURRIED = 2;
/** Beyond this many times the best, more than half of the time is spent behind our own calls. */
const SLOW = 3;
/** How long the best one counts, ms. */
const BEST_COUNTS_MS = 60_000;
const SLOW_FACTOR = 0.9;
const OVERLOADED_FACTOR = 0.5;
/** The longest the server may hold everything back, ms. */
const MAX_PAUSE_MS = 30_000;
/** Answers that are looked at together, at least. */
const LEAST_WINDOW = 10;

/**
 * How many calls may be under way, by what the server lets us see of its load (BETTER-19). A server that works on one request
 * at a time gets nearly as much done with eight as with twenty, but others then wait for twenty. So it begins with a few; twice as
 * many after each round of answers that took at most twice the best of their kind, if all places were in use, until a round took
 * longer; then one more after each such round, and a tenth fewer, but not below the few, after one that took more than three
 * times as long; half as many after the server refused (429, or 503 with
 * `Retry-After`) or did not answer in time. Between one and the ceiling. Pure: times are told.
 */
export class ConcurrencyLimit {
  readonly #ceiling: number;
  readonly #few: number;
  readonly #paces = new Map<string, Pace>();
  #limit: number;
  /** `searching`: no round was slow yet. */
  #phase: 'searching' | 'steady' = 'searching';
  #reducedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor({ ceiling, few = FEW }: ConcurrencyLimitOptions) {
    this.#ceiling = Math.max(1, Math.floor(ceiling));
    this.#few = Math.min(few, this.#ceiling);
    this.#limit = this.#few;
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** No call begins before this time. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  ended({ outcome, kind, underWay, startedAt, endedAt, retryAfterMs = 0 }: CallOutcome): void {
    if (outcome === 'overloaded') {
      this.#pausedUntil = Math.max(this.#pausedUntil, endedAt + Math.min(retryAfterMs, MAX_PAUSE_MS));
      // Those that were under way when it was reduced say nothing about the new limit.
      if (startedAt >= this.#reducedAt) this.#reduce(this.#limit * OVERLOADED_FACTOR, endedAt);
      this.#phase = 'steady';
      return;
    }
    const pace = this.#paceOf(kind, endedAt);
    pace.note(endedAt - startedAt, underWay);
    if (pace.answers < Math.max(LEAST_WINDOW, this.limit)) return;
    const { slowness, most } = pace;
    pace.startRound();
    if (slowness <= UNHURRIED) {
      // Answers to a few calls say nothing about more.
      if (most >= this.limit) this.#rise();
    } else if (this.#phase === 'searching') {
      this.#phase = 'steady';
      // Back to what the round before last had found good.
      this.#fall(0.5, endedAt);
    } else if (slowness > SLOW) this.#fall(SLOW_FACTOR, endedAt);
  }

  #rise(): void {
    const more = this.#phase === 'searching' ? this.#limit * 2 : this.#limit + 1;
    this.#limit = Math.min(this.#ceiling, more);
  }

  /** For slowness: never below the few, and never up to them. */
  #fall(factor: number, now: number): void {
    if (this.#limit > this.#few) this.#reduce(Math.max(this.#few, this.#limit * factor), now);
  }

  #paceOf(kind: string, now: number): Pace {
    const known = this.#paces.get(kind);
    if (known !== undefined && now - known.since <= BEST_COUNTS_MS) return known;
    // A best that is found in a crowd would let the crowd grow, minute by minute.
    if (known !== undefined) {
      this.#fall(0, now);
      this.#phase = 'searching';
    }
    const fresh = new Pace(now);
    this.#paces.set(kind, fresh);
    return fresh;
  }

  #reduce(limit: number, now: number): void {
    this.#limit = Math.max(1, limit);
    this.#reducedAt = now;
    for (const pace of this.#paces.values()) pace.startRound();
  }
}

/** How long calls of one kind take: the best since some time, and those of the present round. */
class Pace {
  readonly since: number;
  #bestMs = Number.POSITIVE_INFINITY;
  #totalMs = 0;
  answers = 0;
  /** Calls under way in this round. */
  most = 0;

  constructor(since: number) {
    this.since = since;
  }

  note(ms: number, underWay: number): void {
    this.most = Math.max(this.most, underWay);
    this.#bestMs = Math.min(this.#bestMs, ms);
    this.#totalMs += ms;
    this.answers++;
  }

  /** The average of the round as so many times the best. */
  get slowness(): number {
    return this.#totalMs === 0 ? 1 : this.#totalMs / this.answers / this.#bestMs;
  }

  startRound(): void {
    this.#totalMs = 0;
    this.answers = 0;
    this.most = 0;
  }
}
