import { Lru } from '../../../base/collections/lru.ts';
import { newNamespaceTerminating, newNotFound } from '../../../api/status-error.ts';
import type { Store } from '../../storage/interface.ts';
import { objectKey } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import type { AdmissionAttributes, AdmissionPlugin, CreatedObject } from '../chain/admission-chain.ts';

const namespaces = { group: '', resource: 'namespaces', namespaced: false };
/** Namespaces whose state is remembered between creates; more only cost a parse each. */
const REMEMBERED_NAMESPACES = 10_000;

interface NamespaceState {
  readonly revision: number;
  readonly terminating: boolean;
}

/**
 * Nothing is created in a namespace that does not exist or is on its way out (API-154, API-303). The namespace is read from the
 * store each time, so the answer never lags behind a write (a create right after its namespace must work); only the reading of
 * its bytes is saved, per revision.
 *
 * It is read once more when the object is stored. Between the two readings the namespace may have been emptied and removed, and
 * what is created after its last list would stay behind for ever. A namespace that still lives then is emptied later, by a
 * list that sees the object.
 */
export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  readonly operations = ['CREATE'] as const;
  readonly #store: Store;
  readonly #known = new Lru<string, NamespaceState>({ capacity: REMEMBERED_NAMESPACES });

  constructor(store: Store) {
    this.#store = store;
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    return this.stored(attributes);
  }

  stored(created: CreatedObject): Promise<void> | undefined {
    const { info, namespace } = created;
    if (!info.namespaced || namespace === '') return undefined;
    if (info.group === 'authorization.k8s.io') return undefined;
    return this.#check(created);
  }

  async #check({ info, namespace, name }: CreatedObject): Promise<void> {
    const { kv } = await this.#store.get(objectKey(namespaces, '', namespace));
    if (kv === undefined) {
      this.#known.delete(namespace);
      throw newNotFound(namespaces, namespace);
    }
    let state = this.#known.get(namespace);
    if (state === undefined || state.revision !== kv.modRevision) {
      const { metadata } = new StoredObject(kv).object();
      state = { revision: kv.modRevision, terminating: Boolean(metadata?.deletionTimestamp) };
      this.#known.set(namespace, state);
    }
    if (state.terminating) throw newNamespaceTerminating(info, name, namespace);
  }
}
