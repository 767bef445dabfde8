import type { Clock, Timer } from '../../base/time/clock.ts';

/** The watch of one resource, as {@link ReopenedWatches} needs it; see Monitor. */
interface ReopenableWatch {
  readonly suspected: boolean;
  suspect(): void;
  reopen(): void;
}

interface ReopenedWatchesOptions {
  readonly clock: Clock;
  readonly watches: () => Iterable<ReopenableWatch>;
}

/** Most watches that broke in the same outage have opened anew by themselves after this time, ms. */
const GATHER_MS = 1000;
/** The shortest time between two rounds, ms. A watch is opened anew at most once a round. */
const APART_MS = 30_000;
/** So many watches are opened anew at once, and the next ones after a pause, ms. */
const AT_ONCE = 10;
const PAUSE_MS = 100;

/**
 * After an outage of the server, opens those watches anew that did not break: they may be open at a server that is no longer the present
 * one. Nothing that such a watch shows is believed until then. A round opens a hundred watches a second, and begins at most every 30 s while
 * a watch is suspected. Without an outage there is no timer and no request.
 */
export class ReopenedWatches {
  readonly #options: ReopenedWatchesOptions;
  #timer: Timer | undefined;
  #roundAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReopenedWatchesOptions) {
    this.#options = options;
  }

  /** True if no watch waits to be opened anew. */
  get settled(): boolean {
    return this.#timer === undefined || this.#suspected().length === 0;
  }

  /** The server was away. */
  suspect(): void {
    const { clock, watches } = this.#options;
    for (const watch of watches()) watch.suspect();
    this.#arm(Math.max(GATHER_MS, this.#roundAt + APART_MS - clock.monotonic()));
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(afterMs: number): void {
    this.#timer ??= this.#options.clock.setTimer(afterMs, () => {
      this.#timer = undefined;
      this.#roundAt = this.#options.clock.monotonic();
      this.#reopen(this.#suspected());
    });
  }

  #reopen(round: readonly ReopenableWatch[]): void {
    // Some may have opened anew meanwhile.
    const still = round.filter(({ suspected }) => suspected);
    for (const watch of still.slice(0, AT_ONCE)) watch.reopen();
    if (still.length > AT_ONCE) {
      this.#timer = this.#options.clock.setTimer(PAUSE_MS, () => this.#reopen(still.slice(AT_ONCE)));
      return;
    }
    this.#timer = undefined;
    // A resource that is being listed is watched after that, and a watch may not be answered.
    if (this.#suspected().length > 0) this.#arm(APART_MS);
  }

  #suspected(): readonly ReopenableWatch[] {
    return [...this.#options.watches()].filter(({ suspected }) => suspected);
  }
}
