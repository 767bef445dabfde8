import type { Clock } from '../../base/clock.ts';
import type { Store } from '../storage/interface.ts';
import { WatchCache } from '../storage/watch-cache.ts';

/** The watch caches of one server, one a stored resource, made when the resource is first watched. */
export class WatchCaches {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #caches = new Map<string, WatchCache>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** `prefix`: of all keys of the resource. */
  of(prefix: string): WatchCache {
    let cache = this.#caches.get(prefix);
    if (cache === undefined) {
      cache = new WatchCache({ store: this.#store, prefix, clock: this.#clock });
      this.#caches.set(prefix, cache);
    }
    return cache;
  }

  /** Ends the watches of one resource. */
  drop(prefix: string): void {
    this.#caches.get(prefix)?.stop();
    this.#caches.delete(prefix);
  }

  /** Ends all watches. */
  stop(): void {
    for (const cache of this.#caches.values()) cache.stop();
    this.#caches.clear();
  }
}
