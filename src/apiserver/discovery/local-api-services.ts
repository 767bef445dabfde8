import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { stampCreated } from '../registry/object/object-meta.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import {
  apiServiceName,
  decideLocalApiService,
  hasLocalApiService,
  type ServedGroupVersion,
} from './local-api-service.ts';

const PREFIX = resourcePrefix({ group: 'apiregistration.k8s.io', resource: 'apiservices' });
const RETRY_MS = 10_000;

export interface LocalApiServicesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A served group version, and its resources: it is served as long as it has one. */
interface Served extends ServedGroupVersion {
  readonly resources: Set<string>;
}

/**
 * The APIServices of the group versions that this server serves itself (API-606). They are created, corrected, restored and deleted, so that
 * they follow the served resources. Writes directly to the store, with a guard, because another server on the same store does the same.
 */
export class LocalApiServices {
  readonly #options: LocalApiServicesOptions;
  readonly #follower: StoreFollower;
  /** By name of the APIService. */
  readonly #served = new Map<string, Served>();
  readonly #stored = new Map<string, KeyValue>();
  /** Names whose next state must be decided. */
  readonly #due = new Set<string>();
  #work: Promise<void> | undefined;
  #retry: Timer | undefined;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: LocalApiServicesOptions) {
    this.#options = options;
    const { store, clock, logger } = options;
    this.#follower = new StoreFollower({
      store,
      clock,
      logger,
      prefix: PREFIX,
      replace: (items) => {
        this.#stored.clear();
        for (const item of items) this.#stored.set(nameOf(item.key), item);
        for (const name of [...this.#stored.keys(), ...this.#served.keys()]) this.#due.add(name);
        this.#begin();
      },
      observe: (events) => {
        for (const { key, current } of events) {
          const name = nameOf(key);
          if (current === undefined) this.#stored.delete(name);
          else this.#stored.set(name, current);
          this.#due.add(name);
        }
        this.#begin();
      },
    });
  }

  /** A resource is served from now on, or has changed. */
  added({ group, version, resource, typeName }: ResourceInfo): void {
    const origin = typeName === undefined ? 'custom' : 'builtin';
    const name = apiServiceName({ group, version });
    const known = this.#served.get(name);
    if (known !== undefined) {
      known.resources.add(resource);
      return;
    }
    const served: Served = { group, version, origin, resources: new Set([resource]) };
    if (!hasLocalApiService(served)) return;
    this.#served.set(name, served);
    this.#due.add(name);
    this.#begin();
  }

  /** A resource is no longer served. */
  removed({ group, version, resource }: Pick<ResourceInfo, 'group' | 'version' | 'resource'>): void {
    const name = apiServiceName({ group, version });
    const served = this.#served.get(name);
    served?.resources.delete(resource);
    if (served?.resources.size !== 0) return;
    this.#served.delete(name);
    this.#due.add(name);
    this.#begin();
  }

  /** Resolves when the APIService of each served group version exists. Call it when all definitions are served. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    await this.#follower.start();
    await this.#work;
  }

  /** Resolves when no write is under way. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#follower.stop();
    this.#retry?.cancel();
    await this.#work;
  }

  #begin(): void {
    if (this.#state !== 'running' || this.#work !== undefined) return;
    this.#work = this.#decideDue().finally(() => {
      this.#work = undefined;
      if (this.#due.size > 0) this.#begin();
    });
  }

  async #decideDue(): Promise<void> {
    while (this.#due.size > 0 && this.#state === 'running') {
      const names = [...this.#due];
      this.#due.clear();
      await Promise.all(names.map((name) => this.#bring(name).catch((error: unknown) => this.#failed(name, error))));
    }
  }

  /** Writes the next state. If another write came first, its event makes the name due again. */
  async #bring(name: string): Promise<void> {
    const { store, clock, random } = this.#options;
    const kv = this.#stored.get(name);
    const current = kv === undefined ? undefined : new StoredObject(kv).object();
    const decision = decideLocalApiService(current, this.#served.get(name), clock.now());
    if (decision.verdict === 'create') {
      stampCreated(decision.object, random.uuid(), clock.now());
      await store.create(PREFIX + name, encodeStored(decision.object));
    } else if (kv === undefined || decision.verdict === 'keep') return;
    else if (decision.verdict === 'delete') await store.delete(kv.key, kv.modRevision);
    else await store.update(kv.key, encodeStored(decision.object), kv.modRevision);
  }

  #failed(name: string, error: unknown): void {
    if (this.#state !== 'running') return;
    const { clock, logger } = this.#options;
    logger.warn('unable to write a local APIService, will retry', { name, error: String(error) });
    this.#retry ??= clock.setTimer(RETRY_MS, () => {
      this.#retry = undefined;
      for (const each of [...this.#stored.keys(), ...this.#served.keys()]) this.#due.add(each);
      this.#begin();
    });
  }
}

function nameOf(key: string): string {
  return key.slice(PREFIX.length);
}
