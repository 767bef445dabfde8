import type { DiscoveryReason } from '../types/reasons.ts';

/** How long after the request the look begins, and how long after the last one at the earliest, ms. */
interface Sooner {
  readonly afterMs: number;
  readonly apartMs: number;
}

/** A request of these may come from every retry of every object. */
const SOONER: Readonly<Record<Exclude<DiscoveryReason, 'definitionChanged'>, Sooner>> = {
  unknownKind: { afterMs: 100, apartMs: 5000 },
  pathNotFound: { afterMs: 1000, apartMs: 10_000 },
};

/**
 * A change of a definition is rare, and waited for: a look comes after 50 ms. What the change brings about is there a little
 * later than the object that asks for it, and on some servers much later: half a second after the last change comes another.
 */
const CHANGED = { afterMs: 50, againMs: 500 } as const;
/**
 * However many definitions change, however often: ten looks, and two more a second. Two of them are 100 ms apart, or four
 * times what the last one took if that is more, up to a second: a server of many thousand definitions has more to tell.
 */
const BOUND = { burst: 10, everyMs: 500, apartMs: 100, apartTimes: 4, mostApartMs: 1000 } as const;

/** When discovery is looked at sooner than after a period. Does nothing by itself: is told what happens, all times in ms. */
export class LookPlan {
  #beganAt = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  /** Each look costs {@link BOUND} `everyMs` of time to come. */
  #paidUntil = Number.NEGATIVE_INFINITY;
  /** Set while what a changed definition brings about may not have been seen yet. */
  #againAt: number | undefined;

  /** A definition has changed, and no look has succeeded that was late enough to show all that comes of it. */
  get expectsChange(): boolean {
    return this.#againAt !== undefined;
  }

  /** A look is asked for. Answers when it may begin. */
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

  /** The look has succeeded. Answers when the next one is to begin, infinity if nothing is expected. */
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
