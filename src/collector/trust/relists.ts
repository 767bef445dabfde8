import type { Clock, Timer } from '../../base/time/clock.ts';
import { Lru } from '../../base/collections/lru.ts';

interface RelistsOptions {
  readonly clock: Clock;
  /** Relists a resource; the key is that of {@link Relists.ask}. */
  readonly list: (key: string) => void;
}

/** The wait before the first list of a contradicted resource, and the longest wait, ms. */
const FIRST_MS = 1000;
const CAP_MS = 60_000;
/** After this time without a contradiction, the next wait is the shortest again, ms. */
const CALM_MS = 300_000;
/** Maximum number of resources whose last wait is remembered. */
const MAX_RESOURCES = 1000;

interface Wait {
  readonly ms: number;
  readonly until: number;
}

/**
 * Relists a resource after a read disagreed with the watch or the list of the resource. The wait doubles each time, as long as they keep
 * disagreeing: a server whose answers differ for ever costs one list a minute. Bound: one timer for each resource.
 */
export class Relists {
  readonly #options: RelistsOptions;
  readonly #timers = new Map<string, Timer>();
  readonly #waits = new Lru<string, Wait>({ capacity: MAX_RESOURCES });

  constructor(options: RelistsOptions) {
    this.#options = options;
  }

  /** The number of lists that are still to come. */
  get size(): number {
    return this.#timers.size;
  }

  /** `afterMs`: the list begins after exactly this time, and not sooner. */
  ask(key: string, afterMs = this.#nextWait(key)): void {
    if (this.#timers.has(key)) return;
    const { clock, list } = this.#options;
    const timer = clock.setTimer(afterMs, () => {
      this.#timers.delete(key);
      list(key);
    });
    this.#timers.set(key, timer);
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #nextWait(key: string): number {
    if (this.#timers.has(key)) return 0;
    const now = this.#options.clock.monotonic();
    const last = this.#waits.get(key);
    const ms = last === undefined || now >= last.until ? FIRST_MS : Math.min(CAP_MS, 2 * last.ms);
    this.#waits.set(key, { ms, until: now + ms + CALM_MS });
    return ms;
  }
}
