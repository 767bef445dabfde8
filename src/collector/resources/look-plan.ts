import type { DiscoveryReason } from '../types/reasons.ts';

/** The shortest time from the request to the discovery refresh, and from the start of the last refresh, ms. */
interface Sooner {
  readonly afterMs: number;
  readonly apartMs: number;
}

/** Each retry of each object may make such a request. */
const SOONER: Readonly<Record<Exclude<DiscoveryReason, 'definitionChanged'>, Sooner>> = {
  unknownKind: { afterMs: 100, apartMs: 5000 },
  pathNotFound: { afterMs: 1000, apartMs: 10_000 },
};

/**
 * A definition changes rarely, and a client waits for the effect, so a refresh follows after 50 ms. The effects of the change appear a
 * little later than the changed object, and on some servers much later. So another refresh follows half a second after the last change.
 */
const CHANGED = { afterMs: 50, againMs: 500 } as const;
/**
 * The limit for any number of changed definitions: ten refreshes, and two more per second. Two refreshes start at least 100 ms apart. If
 * four times the duration of the last one is longer, that counts instead, up to one second: a server with many thousand definitions has
 * more to send.
 */
const BOUND = { burst: 10, everyMs: 500, apartMs: 100, apartTimes: 4, mostApartMs: 1000 } as const;

/**
 * Plans the discovery refreshes that come before the period is over. Does nothing by itself: the caller reports each event. All times in
 * ms.
 */
export class LookPlan {
  #beganAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  /** Each refresh moves this time on by {@link BOUND} `everyMs`. */
  #paidUntil = Number.NEGATIVE_INFINITY;
  /** Set while the effects of a changed definition may not have been seen yet. */
  #againAt: number | undefined;

  /** A definition has changed, and no refresh has yet succeeded that was late enough to show all its effects. */
  get expectsChange(): boolean {
    return this.#againAt !== undefined;
  }

  /** Requests a refresh. Returns when it may begin. */
  sooner(reason: DiscoveryReason, now: number): number {
    if (reason === 'definitionChanged') {
      this.#againAt = now + CHANGED.againMs;
      return Math.max(now + CHANGED.afterMs, this.#boundedTo());
    }
    const { afterMs, apartMs } = SOONER[reason];
    return Math.max(now + afterMs, this.#beganAt + apartMs);
  }

  began(now: number): void {
    this.#beganAt = now;
    this.#paidUntil = Math.max(this.#paidUntil, now) + BOUND.everyMs;
  }

  /** The refresh has succeeded. Returns when the next one is to begin; infinity if nothing is expected. */
  succeeded(now: number): number {
    this.#tookMs = now - this.#beganAt;
    if (this.#againAt !== undefined && this.#againAt <= this.#beganAt) this.#againAt = undefined;
    return this.#againAt === undefined ? Number.POSITIVE_INFINITY : Math.max(this.#againAt, this.#boundedTo());
  }

  #boundedTo(): number {
    const { burst, everyMs, apartMs, apartTimes, mostApartMs } = BOUND;
    const apart = Math.min(Math.max(apartMs, apartTimes * this.#tookMs), mostApartMs);
    return Math.max(this.#beganAt + apart, this.#paidUntil - (burst - 1) * everyMs);
  }
}
