import { Lru } from '../../../base/collections/lru.ts';
import { newNamespaceTerminating, newNotFound } from '../../../api/status-error.ts';
import type { KeyValue, Store } from '../../storage/interface.ts';
import { objectKey } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import type { AdmissionAttributes, AdmissionPlugin, CreatedObject } from '../chain/admission-chain.ts';
import type { AdmissionOperation } from '../chain/attributes.ts';

const namespaces = { group: '', resource: 'namespaces', namespaced: false };
/** Maximum number of namespaces whose state is cached. Others are parsed again. */
const REMEMBERED_NAMESPACES = 10_000;

interface NamespaceState {
  readonly revision: number;
  readonly terminating: boolean;
}

/**
 * Refuses creates in a namespace that does not exist or is terminating (API-154, API-303). The namespace is read from the store each time,
 * so that a create directly after that of its namespace works; only parsing is cached, by revision. It is read once more after the object
 * is stored: between the two reads the namespace may have been emptied and removed, and the object would stay behind for ever. A namespace
 * that still exists at the second read is emptied later, by a list that includes the object. Up to version 1.36, updates also need a
 * namespace that exists (API-607).
 */
export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  readonly operations: readonly AdmissionOperation[];
  readonly #store: Store;
  readonly #known = new Lru<string, NamespaceState>({ capacity: REMEMBERED_NAMESPACES });

  constructor(store: Store, updates: 'with namespace' | 'always') {
    this.#store = store;
    this.operations = updates === 'always' ? ['CREATE'] : ['CREATE', 'UPDATE'];
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    if (attributes.operation === 'CREATE') return this.stored(attributes);
    const { info, namespace } = attributes;
    if (!info.namespaced || namespace === '') return undefined;
    return this.#requireExisting(namespace).then(() => undefined);
  }

  stored(created: CreatedObject): Promise<void> | undefined {
    const { info, namespace } = created;
    if (!info.namespaced || namespace === '') return undefined;
    if (info.group === 'authorization.k8s.io') return undefined;
    return this.#requireLive(created);
  }

  async #requireExisting(namespace: string): Promise<KeyValue> {
    const { kv } = await this.#store.get(objectKey(namespaces, '', namespace));
    if (kv !== undefined) return kv;
    this.#known.delete(namespace);
    throw newNotFound(namespaces, namespace);
  }

  async #requireLive({ info, namespace, name }: CreatedObject): Promise<void> {
    const kv = await this.#requireExisting(namespace);
    let state = this.#known.get(namespace);
    if (state === undefined || state.revision !== kv.modRevision) {
      const { metadata } = new StoredObject(kv).object();
      state = { revision: kv.modRevision, terminating: Boolean(metadata?.deletionTimestamp) };
      this.#known.set(namespace, state);
    }
    if (state.terminating) throw newNamespaceTerminating(info, name, namespace);
  }
}
