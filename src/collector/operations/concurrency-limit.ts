/** What an answer says about the load of the server. `overloaded`: it refused, or did not answer in time. */
export interface CallOutcome {
  readonly outcome: 'answered' | 'overloaded';
  readonly startedAt: number;
  /** Both in ms of one monotonic clock. */
  readonly endedAt: number;
  /** What the server asked to wait for, ms. */
  readonly retryAfterMs?: number;
}

/** Answers faster than this are never a sign of load, ms: what waits for a disk or a quorum is not slow. */
const FAST_MS = 250;
/** Slowness alone reduces no further: it may be others' doing, and then waiting for them would help nobody. */
const LEAST_WHEN_SLOW = 8;
/** Beyond it, answers that take this many times the best of late are. */
const TOLERATED = 3;
/** How long the best one counts, ms. */
const BEST_COUNTS_MS = 60_000;
const SLOW_FACTOR = 0.9;
const OVERLOADED_FACTOR = 0.5;
/** The longest the server may hold everything back, ms. */
const MAX_PAUSE_MS = 30_000;
/** Answers that are looked at together, at least. */
const LEAST_WINDOW = 10;

/**
 * How many calls may be under way, by what the server lets us see of its load (BETTER-19): half as many after it refused
 * (429, or 503 with `Retry-After`) or did not answer in time, a tenth fewer, but not below eight, while its answers take much
 * longer than they could, one more after each round of good ones. Between one and the ceiling, where it begins. Pure: times are told.
 */
export class ConcurrencyLimit {
  readonly #ceiling: number;
  #limit: number;
  #reducedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Of this minute or so, and of the one before. */
  #best: { readonly since: number; fastest: number; readonly before: number } | undefined;
  #answers = 0;
  #totalMs = 0;

  constructor(ceiling: number) {
    this.#ceiling = Math.max(1, Math.floor(ceiling));
    this.#limit = this.#ceiling;
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** No call begins before this time. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  ended({ outcome, startedAt, endedAt, retryAfterMs = 0 }: CallOutcome): void {
    if (outcome === 'overloaded') {
      this.#pausedUntil = Math.max(this.#pausedUntil, endedAt + Math.min(retryAfterMs, MAX_PAUSE_MS));
      // Those that were under way when it was reduced say nothing about the new limit.
      if (startedAt >= this.#reducedAt) this.#reduce(OVERLOADED_FACTOR, endedAt);
      return;
    }
    const latency = endedAt - startedAt;
    this.#noteBest(latency, endedAt);
    this.#answers++;
    this.#totalMs += latency;
    if (this.#answers < Math.max(LEAST_WINDOW, this.limit)) return;
    const average = this.#totalMs / this.#answers;
    this.#answers = 0;
    this.#totalMs = 0;
    if (average > this.#toleratedMs) {
      if (this.limit > LEAST_WHEN_SLOW) this.#reduce(SLOW_FACTOR, endedAt);
    } else this.#limit = Math.min(this.#ceiling, this.#limit + 1);
  }

  get #toleratedMs(): number {
    const best = Math.min(this.#best?.fastest ?? 0, this.#best?.before ?? Number.POSITIVE_INFINITY);
    return Math.max(FAST_MS, TOLERATED * best);
  }

  #reduce(factor: number, now: number): void {
    this.#limit = Math.max(1, this.#limit * factor);
    this.#reducedAt = now;
    this.#answers = 0;
    this.#totalMs = 0;
  }

  #noteBest(latency: number, now: number): void {
    if (this.#best === undefined) this.#best = { since: now, fastest: latency, before: Number.POSITIVE_INFINITY };
    else if (now - this.#best.since > BEST_COUNTS_MS) {
      this.#best = { since: now, fastest: latency, before: this.#best.fastest };
    } else this.#best.fastest = Math.min(this.#best.fastest, latency);
  }
}
