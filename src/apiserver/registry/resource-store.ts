import type { Clock } from '../../base/time/clock.ts';
import { assert } from '../../base/errors/assert.ts';
import type { Random } from '../../base/random/random.ts';
import { fromStorage, storageResource, toStorage } from '../../api/conversion/convert.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newNotFound, newServiceUnavailable, newRequestEntityTooLarge } from '../../api/status-error.ts';
import type { AdmissionChain } from '../admission/chain/admission-chain.ts';
import type { KeyValue, Store, WriteOptions } from '../storage/interface.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import type { WatchCache } from '../storage/cache/watch-cache.ts';
import { TIME_TO_LIVE_MS } from './event-expiry.ts';
import type { Features } from '../emulation/features.ts';
import type { UpdateTurns } from './update-turns.ts';
import type { WatchCaches } from './watch-caches.ts';
import { listPrefix, objectKey, resourcePrefix } from '../storage/storage-keys.ts';
import { objectSchema, type ObjectSchema } from './object/object-schema.ts';
import { ConvertedObject, type ServedObject } from './object/served-object.ts';
import type { StorageConversion, Strategy } from './strategy.ts';

/** Maximum size of a stored object, which equals that of a request (API-007). etcd's own limit is half of that. */
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;

const EVENT_LIFETIME: WriteOptions = { ttlMs: TIME_TO_LIVE_MS };
const FOR_EVER: WriteOptions = {};

/** Finds another resource of the same server: pods for a binding, budgets for an eviction. */
export interface ResourceLookup {
  find(group: string, version: string, resource: string): ResourceStore | undefined;
  /** The same array until something changes. */
  resources(): readonly ResourceInfo[];
}

/** The users whose writes `owner-guard.ts` checks: nobody, the controllers in the server's process, or everybody. */
export type OwnerGuard = 'off' | 'controllers' | 'all';

/** The parts that all resources of one server share. */
export interface RegistryEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  readonly watchCaches: WatchCaches;
  readonly updateTurns: UpdateTurns;
  readonly features: Features;
  readonly ownerGuard: OwnerGuard;
}

export interface ResourceStoreOptions {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  readonly environment: RegistryEnvironment;
  readonly siblings: ResourceLookup;
}

/**
 * One resource in one served version over the store. Kinds that are served in several versions share keys (those of the storage version).
 * Only here are objects converted between served and stored version.
 */
export class ResourceStore {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  readonly schema: ObjectSchema;
  readonly environment: RegistryEnvironment;
  readonly siblings: ResourceLookup;
  /** The group and resource of the storage version, which determine the keys. */
  readonly storage: { readonly group: string; readonly resource: string; readonly namespaced: boolean };
  readonly #conversion: StorageConversion | undefined;
  /** The webhook's conversions of stored objects while they are in use by an answer or a watch cache. */
  readonly #converted = new WeakMap<object, KubeObject>();
  #state: 'served' | 'retired' = 'served';

  constructor({ info, strategy, environment, siblings }: ResourceStoreOptions) {
    this.info = info;
    this.strategy = strategy;
    this.schema = strategy.schema ?? objectSchema(info);
    this.environment = environment;
    this.siblings = siblings;
    const storage = storageResource(info.group, info.resource);
    this.storage = { group: storage.group, resource: storage.resource, namespaced: info.namespaced };
    const converted = storage.group !== info.group || storage.version !== info.version;
    const builtin = converted && info.typeName !== undefined ? builtinConversion(info) : undefined;
    this.#conversion = strategy.conversion ?? builtin;
  }

  key(namespace: string, name: string): string {
    return objectKey(this.storage, namespace, name);
  }

  /** The options of each write to the store. Events live for an hour (API-564). */
  get lifetime(): WriteOptions {
    return this.storage.resource === 'events' && this.storage.group === '' ? EVENT_LIFETIME : FOR_EVER;
  }

  /** The prefix of one namespace; of all if empty. */
  prefix(namespace: string): string {
    return listPrefix(this.storage, namespace);
  }

  /** Called when the resource is no longer served, or changed. Requests that already found it start no watch. */
  retire(): void {
    this.#state = 'retired';
  }

  /** Metadata does not need the webhook, because only labels and annotations could differ in another version. */
  #prepared({ content }: StoredObject) {
    return {
      keepsMetadata: true,
      fromStorage: ({ metadata }: KubeObject): KubeObject => {
        const converted = this.#converted.get(content);
        assert(converted !== undefined, 'an object is shown before its webhook was asked');
        const { resourceVersion } = metadata ?? {};
        return {
          ...converted,
          metadata: { ...converted.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        };
      },
    };
  }

  /** The events of all namespaces. */
  get watchCache(): WatchCache {
    if (this.#state === 'retired') throw newServiceUnavailable(`${this.info.resource} are served in another way now`);
    return this.environment.watchCaches.of(resourcePrefix(this.storage));
  }

  /** True if stored bytes are those of the served version and can be sent unchanged. */
  get servesStoredBytes(): boolean {
    return this.#conversion?.servesStoredBytes ?? true;
  }

  stored(kv: KeyValue): ServedObject {
    return this.serve(new StoredObject(kv));
  }

  serve(stored: StoredObject): ServedObject {
    const conversion = this.#conversion;
    if (conversion?.remote !== undefined) return new ConvertedObject(stored, this.#prepared(stored));
    return conversion === undefined || conversion.servesStoredBytes ? stored : new ConvertedObject(stored, conversion);
  }

  /** Converts an object from another version of this resource. Never changes its input. */
  async convertFrom(source: ResourceStore, object: KubeObject): Promise<KubeObject> {
    const remote = this.#conversion?.remote;
    if (remote !== undefined) return (await remote.fromStorage([object]))[0] ?? object;
    const toStorage = source.#conversion?.remote?.toStorage;
    const stored = toStorage === undefined ? source.#toStorage(object) : await toStorage(object);
    return this.#conversion === undefined ? stored : this.#conversion.fromStorage(stored);
  }

  /** True if a webhook has to convert objects before they can be served (API-464). */
  get convertsRemotely(): boolean {
    return this.#conversion?.remote !== undefined;
  }

  /** Lets the webhook convert all objects that are not converted yet, so that {@link serve} can return them. */
  async prepare(objects: readonly StoredObject[]): Promise<void> {
    const remote = this.#conversion?.remote;
    if (remote === undefined) return;
    const missing = objects.filter(({ content }) => !this.#converted.has(content));
    if (missing.length === 0) return;
    const converted = await remote.fromStorage(missing.map((stored) => stored.object()));
    for (const [index, { content }] of missing.entries()) {
      const object = converted[index];
      if (object !== undefined) this.#converted.set(content, object);
    }
  }

  /** {@link stored} for kinds that a webhook may have to convert. */
  async read(kv: KeyValue): Promise<ServedObject> {
    const stored = new StoredObject(kv);
    if (this.convertsRemotely) await this.prepare([stored]);
    return this.serve(stored);
  }

  async readAll(kvs: readonly KeyValue[]): Promise<readonly ServedObject[]> {
    const stored = kvs.map((kv) => new StoredObject(kv));
    await this.prepare(stored);
    return stored.map((object) => this.serve(object));
  }

  /** The same objects, after conversion. */
  async shown(objects: Iterable<ServedObject>): Promise<Iterable<ServedObject>> {
    if (!this.convertsRemotely) return objects;
    const all = [...objects];
    await this.prepare(all.flatMap((object) => (object instanceof ConvertedObject ? [object.source] : [])));
    return all;
  }

  #toStorage(object: KubeObject): KubeObject {
    return this.#conversion === undefined ? object : this.#conversion.toStorage(object);
  }

  encode(object: KubeObject): Uint8Array | Promise<Uint8Array> {
    const remote = this.#conversion?.remote;
    if (remote !== undefined) return remote.toStorage(object).then(encodeStored);
    return encodeStored(this.#toStorage(object));
  }

  /**
   * Encodes a client's object. Throws a 413 above {@link MAX_OBJECT_BYTES}, which repeated patches could exceed. An object that is too
   * large only because of its managers loses them, in the caller's own `object` (API-155).
   */
  async encodeBounded(object: KubeObject): Promise<Uint8Array> {
    const encoding = this.encode(object);
    const bytes = encoding instanceof Promise ? await encoding : encoding;
    if (bytes.length <= MAX_OBJECT_BYTES) return bytes;
    const { metadata } = object;
    if (metadata?.managedFields === undefined) throw newRequestEntityTooLarge(`limit is ${MAX_OBJECT_BYTES}`);
    delete metadata.managedFields;
    return this.encodeBounded(object);
  }

  async find(namespace: string, name: string): Promise<ServedObject | undefined> {
    const { kv } = await this.environment.store.get(this.key(namespace, name));
    return kv === undefined ? undefined : this.read(kv);
  }

  /** Throws a 404 if it does not exist. */
  async get(namespace: string, name: string): Promise<ServedObject> {
    const found = await this.find(namespace, name);
    if (found === undefined) throw newNotFound(this.info, name);
    return found;
  }
}

function builtinConversion(info: ResourceInfo): StorageConversion {
  return {
    servesStoredBytes: false,
    // Fields that an old version lacks are in its annotations.
    keepsMetadata: false,
    toStorage: (object) => toStorage(object, info),
    fromStorage: (object) => fromStorage(object, info),
  };
}
