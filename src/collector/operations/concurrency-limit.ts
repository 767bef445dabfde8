/** A finished call, as a sign of the server's load. `overloaded`: the server refused, or did not answer in time. */
export interface CallOutcome {
  readonly outcome: 'answered' | 'overloaded';
  /** The kind of request, such as its method. Calls of one kind take about as long when no call waits. There are few kinds. */
  readonly kind: string;
  /** Calls that were under way when this call began, itself included. */
  readonly underWay: number;
  readonly startedAt: number;
  /** `startedAt` and `endedAt` are ms of one monotonic clock. */
  readonly endedAt: number;
  /** The wait that the server asked for, ms. */
  readonly retryAfterMs?: number | undefined;
}

export interface ConcurrencyLimitOptions {
  readonly ceiling: number;
  /**
   * The limit at the start, at most the ceiling. Default 8. Slowness alone does not reduce the limit below it: other clients may cause the
   * slowness, and then waiting would help nobody. Eight calls keep a server busy while we are busy ourselves, and a request of others waits
   * for no more than eight of ours. Four calls are too few (bench/README.md).
   */
  readonly few?: number | undefined;
}

const FEW = 8;
/** Up to this multiple of the best time, one more call does not make others wait. */
const UNHURRIED = 2;
/** Beyond this multiple of the best time, a call spends more than half of its time waiting for our other calls. */
const SLOW = 3;
/** The time for which the best time counts, ms. */
const BEST_COUNTS_MS = 60_000;
const SLOW_FACTOR = 0.9;
const OVERLOADED_FACTOR = 0.5;
/** The longest pause of all calls that the server may ask for, ms. */
const MAX_PAUSE_MS = 30_000;
/** The minimum number of answers in a round. */
const LEAST_WINDOW = 10;

/**
 * Sets how many calls may be under way, by the load that the server's answers show (BETTER-19). A server that works on one request at a
 * time gets nearly as much done with eight calls as with twenty, but other clients then wait for twenty calls. The limit begins low, and
 * stays between one and the ceiling. Pure: the caller passes the times.
 *
 * A round of answers that took at most twice the best time of their kind raises the limit, if all places were in use. The limit doubles
 * until a round took longer; then it rises by one. A round that took more than three times as long lowers it by a tenth, but not below the
 * initial limit. A refusal (429, or 503 with `Retry-After`) or a timeout halves it.
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
      // Calls that were under way at the last reduction say nothing about the new limit.
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
      // Answers to fewer calls than the limit say nothing about a higher limit.
      if (most >= this.limit) this.#rise();
    } else if (this.#phase === 'searching') {
      this.#phase = 'steady';
      // Back to the limit that the round before last had found good.
      this.#fall(0.5, endedAt);
    } else if (slowness > SLOW) this.#fall(SLOW_FACTOR, endedAt);
  }

  #rise(): void {
    const more = this.#phase === 'searching' ? this.#limit * 2 : this.#limit + 1;
    this.#limit = Math.min(this.#ceiling, more);
  }

  /** Lowers the limit because of slowness, but not below the initial limit. A limit that is already lower stays. */
  #fall(factor: number, now: number): void {
    if (this.#limit > this.#few) this.#reduce(Math.max(this.#few, this.#limit * factor), now);
  }

  #paceOf(kind: string, now: number): Pace {
    const known = this.#paces.get(kind);
    if (known !== undefined && now - known.since <= BEST_COUNTS_MS) return known;
    // A best time that is measured under many calls would let their number grow, minute by minute.
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

/** The times of calls of one kind: the best since `since`, and the sum of the present round. */
class Pace {
  readonly since: number;
  #bestMs = Number.POSITIVE_INFINITY;
  #totalMs = 0;
  answers = 0;
  /** The highest number of concurrent calls in this round. */
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

  /** The average time of the round, divided by the best time. */
  get slowness(): number {
    return this.#totalMs === 0 ? 1 : this.#totalMs / this.answers / this.#bestMs;
  }

  startRound(): void {
    this.#totalMs = 0;
    this.answers = 0;
    this.most = 0;
  }
}
