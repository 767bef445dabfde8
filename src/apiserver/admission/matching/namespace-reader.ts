import { newNotFound } from '../../../api/status-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { Lru } from '../../../base/collections/lru.ts';
import type { Store } from '../../storage/interface.ts';
import { objectKey } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';

const namespaces = { group: '', resource: 'namespaces', namespaced: false };
/** Maximum number of cached parsed namespaces. Others are parsed again. */
const KEPT_NAMESPACES = 1_000;

/** Reads namespaces from the store each time, and parses each revision once. */
export class NamespaceReader {
  readonly #store: Store;
  readonly #parsed = new Lru<string, StoredObject>({ capacity: KEPT_NAMESPACES });

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws a 404 if it does not exist. The result is shared and must not be changed. */
  async get(name: string): Promise<KubeObject> {
    const { kv } = await this.#store.get(objectKey(namespaces, '', name));
    if (kv === undefined) {
      this.#parsed.delete(name);
      throw newNotFound(namespaces, name);
    }
    const known = this.#parsed.get(name);
    if (known?.revision === kv.modRevision) return known.object();
    const stored = new StoredObject(kv);
    this.#parsed.set(name, stored);
    return stored.object();
  }
}
