import type { AfterTurn } from '../../base/time/after-turn.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Store } from '../storage/interface.ts';
import { WatchCache } from '../storage/cache/watch-cache.ts';

/** The watch caches of one server, one a stored resource, made when the resource is first watched. */
export class WatchCaches {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #afterTurn: AfterTurn;
  readonly #caches = new Map<string, WatchCache>();
  /** Still read from, by watches opened before the resource was dropped. */
  readonly #finishing = new Set<WatchCache>();

  constructor({ store, clock, afterTurn }: { store: Store; clock: Clock; afterTurn: AfterTurn }) {
    this.#store = store;
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** `prefix`: of all keys of the resource. */
  of(prefix: string): WatchCache {
    let cache = this.#caches.get(prefix);
    if (cache === undefined) {
      cache = new WatchCache({ store: this.#store, prefix, clock: this.#clock, afterTurn: this.#afterTurn });
      this.#caches.set(prefix, cache);
    }
    return cache;
  }

  /** The watches of one resource end when they have delivered what happened until now; new ones have nothing to do with them. */
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
