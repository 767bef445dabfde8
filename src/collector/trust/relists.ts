import type { Clock, Timer } from '../../base/time/clock.ts';
import { Lru } from '../../base/collections/lru.ts';

export interface RelistsOptions {
  readonly clock: Clock;
  /** Lists a resource anew; the key is that of {@link Relists.ask}. */
  readonly list: (key: string) => void;
}

/** Before the first list of a resource that was contradicted, and at most, ms. */
const FIRST_MS = 1000;
const CAP_MS = 60_000;
/** Without a contradiction for so long it begins anew, ms. */
const CALM_MS = 300_000;
/** Resources of which the last wait is known. */
const MAX_RESOURCES = 1000;

interface Wait {
  readonly ms: number;
  readonly until: number;
}

/**
 * Lists a resource anew after a read and its watch, or its list, said different things. Each time twice as much later, as long as they go on
 * to differ: a server whose answers differ for ever costs one list a minute. Bound: one timer for each resource.
 */
export class Relists {
  readonly #options: RelistsOptions;
  readonly #timers = new Map<string, Timer>();
  readonly #waits = new Lru<string, Wait>({ capacity: MAX_RESOURCES });

  constructor(options: RelistsOptions) {
    this.#options = options;
  }

  /** How many are to come. */
  get size(): number {
    return this.#timers.size;
  }

  /** `afterMs`: exactly then, and none sooner. */
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
