import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { TableEnvironment } from './table-environment.ts';

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** All objects of a namespaced core resource, by namespace and name. Nearly every namespace has none, and then the answer needs no I/O. */
export class ByNamespace<T> {
  readonly #table: LiveTable<T>;
  readonly #namespaces = new Map<string, Map<string, T>>();

  constructor(environment: TableEnvironment, resource: string, read: (object: KubeObject) => T) {
    this.#table = new LiveTable({
      ...environment,
      prefix: resourcePrefix({ group: '', resource }),
      read,
      changed: (key, next) => this.#change(key, next),
    });
  }

  start(): Promise<void> {
    return this.#table.start();
  }

  stop(): void {
    this.#table.stop();
  }

  in(namespace: string): ReadonlyMap<string, T> {
    return this.#namespaces.get(namespace) ?? NONE;
  }

  #change(key: string, next: T | undefined): void {
    const slash = key.indexOf('/');
    const namespace = key.slice(0, slash);
    const name = key.slice(slash + 1);
    const there = this.#namespaces.get(namespace) ?? new Map<string, T>();
    if (next === undefined) there.delete(name);
    else there.set(name, next);
    if (there.size === 0) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, there);
  }
}
