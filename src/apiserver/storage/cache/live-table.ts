import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { KeyValue, Revision, Store, StoreEvent } from '../interface.ts';
import { StoreFollower } from './store-follower.ts';
import { parseStored } from '../stored-json.ts';

export interface LiveTableOptions<T> {
  readonly store: Store;
  /** The prefix of the keys of one resource: `resourcePrefix(info)`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The kept part of an object. An error is logged, and the object counts as absent. */
  read(object: KubeObject): T;
  /** Called after a change of the table. Must not throw. */
  changed?(key: string, next: T | undefined, previous: T | undefined): void;
}

/**
 * A table of all objects of a resource, so that the server decides without reading the store: role bindings, service accounts. The store's
 * own watch updates it before the write is answered, so on an embedded store the next request sees the write. It holds every object, so it
 * is only for resources with few.
 */
export class LiveTable<T> {
  readonly #options: LiveTableOptions<T>;
  readonly #follower: StoreFollower;
  readonly #rows = new Map<string, T>();
  #synced: 'no' | 'yes' = 'no';

  constructor(options: LiveTableOptions<T>) {
    const { store, prefix, clock, logger } = options;
    this.#options = options;
    this.#follower = new StoreFollower({
      store,
      prefix,
      clock,
      logger,
      replace: (items) => this.#replace(items),
      observe: (events) => {
        for (const event of events) this.#observe(event);
      },
    });
  }

  /** Resolves when the table is complete. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  stop(): void {
    this.#follower.stop();
  }

  /** True once the table was complete. Before, objects may exist that it lacks. */
  get synced(): boolean {
    return this.#synced === 'yes';
  }

  /** `key` is `<namespace>/<name>`, or `<name>` for cluster-scoped kinds. */
  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  entries(): IterableIterator<[string, T]> {
    return this.#rows.entries();
  }

  get size(): number {
    return this.#rows.size;
  }

  #replace(items: readonly KeyValue[]): void {
    const gone = new Set(this.#rows.keys());
    for (const { key, value, modRevision } of items) {
      const name = key.slice(this.#options.prefix.length);
      gone.delete(name);
      this.#put(name, value, modRevision);
    }
    for (const name of gone) this.#remove(name);
    this.#synced = 'yes';
  }

  #observe({ key, current, revision }: StoreEvent): void {
    const name = key.slice(this.#options.prefix.length);
    if (current !== undefined) this.#put(name, current.value, revision);
    else this.#remove(name);
  }

  #put(name: string, value: Uint8Array, revision: Revision): void {
    const { read, changed, logger, prefix } = this.#options;
    let row: T;
    try {
      row = read(parseStored(value, revision));
    } catch (error) {
      logger.warn('a stored object cannot be read', { prefix, name, error: String(error) });
      this.#remove(name);
      return;
    }
    const previous = this.#rows.get(name);
    this.#rows.set(name, row);
    changed?.(name, row, previous);
  }

  #remove(name: string): void {
    const previous = this.#rows.get(name);
    if (previous === undefined) return;
    this.#rows.delete(name);
    this.#options.changed?.(name, undefined, previous);
  }
}
