import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { fromStorage, storageResource, toStorage } from '../../api/conversion/convert.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newNotFound } from '../../api/status-error.ts';
import type { AdmissionChain } from '../admission/admission-chain.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import type { WatchCache } from '../storage/watch-cache.ts';
import type { UpdateTurns } from './update-turns.ts';
import type { WatchCaches } from './watch-caches.ts';
import { listPrefix, objectKey, resourcePrefix } from '../storage/storage-keys.ts';
import { objectSchema, type ObjectSchema } from './object-schema.ts';
import { type ServedObject, TransientObject } from './served-object.ts';
import type { Strategy } from './strategy.ts';

/** Another resource of the same server: pods for a binding, budgets for an eviction. */
export interface ResourceLookup {
  find(group: string, version: string, resource: string): ResourceStore | undefined;
}

/** What every resource of one server shares. */
export interface RegistryEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  readonly watchCaches: WatchCaches;
  readonly updateTurns: UpdateTurns;
}

export interface ResourceStoreOptions {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  readonly environment: RegistryEnvironment;
  readonly siblings: ResourceLookup;
}

/**
 * One resource in one served version over the store. Kinds served in several versions share keys (the storage version's);
 * the served version is converted to and from at this edge and nowhere else.
 */
export class ResourceStore {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  readonly schema: ObjectSchema;
  readonly environment: RegistryEnvironment;
  readonly siblings: ResourceLookup;
  /** Where the objects lie: group and resource of the storage version. */
  readonly storage: { readonly group: string; readonly resource: string; readonly namespaced: boolean };
  readonly #convert: boolean;

  constructor({ info, strategy, environment, siblings }: ResourceStoreOptions) {
    this.info = info;
    this.strategy = strategy;
    this.schema = strategy.schema ?? objectSchema(info);
    this.environment = environment;
    this.siblings = siblings;
    const storage = storageResource(info.group, info.resource);
    this.storage = { group: storage.group, resource: storage.resource, namespaced: info.namespaced };
    this.#convert = storage.group !== info.group || storage.version !== info.version;
  }

  key(namespace: string, name: string): string {
    return objectKey(this.storage, namespace, name);
  }

  /** Of one namespace, or of all for the empty one. */
  prefix(namespace: string): string {
    return listPrefix(this.storage, namespace);
  }

  /** Events of all namespaces. */
  get watchCache(): WatchCache {
    return this.environment.watchCaches.of(resourcePrefix(this.storage));
  }

  /** Whether stored bytes are those of the served version, so that they can be sent as they are. */
  get servesStoredBytes(): boolean {
    return !this.#convert;
  }

  stored(kv: KeyValue): ServedObject {
    return this.serve(new StoredObject(kv));
  }

  serve(stored: StoredObject): ServedObject {
    if (!this.#convert) return stored;
    return new TransientObject(fromStorage(stored.object(), this.info), stored.revision);
  }

  encode(object: KubeObject): Uint8Array {
    return encodeStored(this.#convert ? toStorage(object, this.info) : object);
  }

  async find(namespace: string, name: string): Promise<ServedObject | undefined> {
    const { kv } = await this.environment.store.get(this.key(namespace, name));
    return kv === undefined ? undefined : this.stored(kv);
  }

  /** 404 when it does not exist. */
  async get(namespace: string, name: string): Promise<ServedObject> {
    const found = await this.find(namespace, name);
    if (found === undefined) throw newNotFound(this.info, name);
    return found;
  }
}
