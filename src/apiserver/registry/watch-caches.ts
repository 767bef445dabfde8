import type { AfterTurn } from '../../base/time/after-turn.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Store } from '../storage/interface.ts';
import { WatchCache } from '../storage/cache/watch-cache.ts';

/** The watch caches of one server, one for each stored resource, created by its first watch. */
export class WatchCaches {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #afterTurn: AfterTurn;
  readonly #caches = new Map<string, WatchCache>();
  /** Caches of dropped resources that older watches still read. */
  readonly #finishing = new Set<WatchCache>();

  constructor({ store, clock, afterTurn }: { store: Store; clock: Clock; afterTurn: AfterTurn }) {
    this.#store = store;
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** `prefix` is that of all keys of the resource. */
  of(prefix: string): WatchCache {
    let cache = this.#caches.get(prefix);
    if (cache === undefined) {
      cache = new WatchCache({ store: this.#store, prefix, clock: this.#clock, afterTurn: this.#afterTurn });
      this.#caches.set(prefix, cache);
    }
    return cache;
  }

  /** Ends the watches of one resource after they have delivered all events so far; it does not affect new ones. */
  drop(prefix: string): void {
    const cache = this.#caches.get(prefix);
    if (cache === undefined) return;
    this.#caches.delete(prefix);
    this.#finishing.add(cache);
    cache.finish(() => this.#finishing.delete(cache));
  }

  /** Ends all watches. */
  stop(): void {
    for (const cache of [...this.#caches.values(), ...this.#finishing]) cache.stop();
    this.#caches.clear();
    this.#finishing.clear();
  }
}
