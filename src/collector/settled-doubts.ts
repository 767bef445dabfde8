import type { Clock } from '../base/time/clock.ts';

/**
 * A kube-apiserver that has just begun to answer may not offer its custom resources yet: what discovery lacks so soon after an outage is no
 * proof that it is gone, ms.
 */
const SETTLES_MS = 10_000;
/** Doubts that come together count as one, ms. */
const TOGETHER_MS = 1000;

/**
 * How many of the doubts about a server (AbsentOwnerCache) are so old that what it offers now can be believed (designs/0011).
 *
 * Bound: a dozen counts, one a second of the time that they take.
 */
export class SettledDoubts {
  readonly #clock: Clock;
  /** In the order of time; `doubts`: so many there had been at the end of that second. */
  readonly #recent: { readonly at: number; doubts: number }[] = [];
  #settled = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One more has come: so many there have been, with it. */
  note(doubts: number): void {
    this.#settle();
    const now = this.#clock.monotonic();
    const last = this.#recent.at(-1);
    if (last !== undefined && now - last.at < TOGETHER_MS) last.doubts = doubts;
    else this.#recent.push({ at: now, doubts });
  }

  /** So many doubts there had been ten seconds ago, or a little earlier. */
  get count(): number {
    this.#settle();
    return this.#settled;
  }

  #settle(): void {
    const until = this.#clock.monotonic() - SETTLES_MS - TOGETHER_MS;
    while (this.#recent[0] !== undefined && this.#recent[0].at <= until) this.#settled = this.#recent.shift()!.doubts;
  }
}
