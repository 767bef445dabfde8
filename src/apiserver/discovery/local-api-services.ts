import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersion } from '../../api/meta/group-version-kind.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { stampCreated } from '../registry/object/object-meta.ts';
import type { KeyValue, Store, StoreEvent } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import {
  apiServiceName,
  decideLocalApiService,
  hasLocalApiService,
  type ServedGroupVersion,
} from './local-api-service.ts';

/** The prefix of the keys of APIServices. */
export const API_SERVICES_PREFIX = resourcePrefix({ group: 'apiregistration.k8s.io', resource: 'apiservices' });
const RETRY_MS = 10_000;

export interface LocalApiServicesOptions {
  readonly store: Pick<Store, 'create' | 'update' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Whether this server serves a group version itself. */
  readonly isLocal: (groupVersion: GroupVersion) => boolean;
}

/**
 * The APIServices of the group versions that this server serves itself (API-606). They are created, corrected, restored and deleted, so that
 * they follow the served resources. Writes directly to the store, with a guard, because another server on the same store does the same. That
 * server may serve other group versions or be of another release. So that the two do not undo each other's writes for ever, an APIService is
 * deleted once each time its group version is withdrawn, and corrected once in {@link RETRY_MS}.
 */
export class LocalApiServices {
  readonly #options: LocalApiServicesOptions;
  /** By name of the APIService. */
  readonly #served = new Map<string, ServedGroupVersion>();
  readonly #stored = new Map<string, KeyValue>();
  /** Names whose next state must be decided. */
  readonly #due = new Set<string>();
  /** Names that this server has stopped serving, or did not serve at its start, and has not deleted since. */
  readonly #withdrawn = new Set<string>();
  /** Names that were corrected since the timer was set. */
  readonly #corrected = new Set<string>();
  #work: Promise<void> | undefined;
  #retry: Timer | undefined;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: LocalApiServicesOptions) {
    this.#options = options;
  }

  /** A list of all APIServices. Writes only after the start. */
  replace(items: readonly KeyValue[]): void {
    this.#stored.clear();
    for (const item of items) this.#stored.set(nameOf(item.key), item);
    this.#decideAll();
  }

  /** Changes after the list. */
  observe(events: readonly StoreEvent[]): void {
    for (const { key, current } of events) {
      const name = nameOf(key);
      if (current === undefined) this.#stored.delete(name);
      else this.#stored.set(name, current);
      this.#due.add(name);
    }
    this.#begin();
  }

  /** A resource is served from now on, or has changed. */
  added({ group, version, typeName }: ResourceInfo): void {
    const served: ServedGroupVersion = { group, version, origin: typeName === undefined ? 'custom' : 'builtin' };
    const name = apiServiceName(served);
    if (this.#served.has(name) || !hasLocalApiService(served)) return;
    this.#served.set(name, served);
    this.#withdrawn.delete(name);
    this.#due.add(name);
    this.#begin();
  }

  /** A resource is no longer served. */
  removed(removed: GroupVersion): void {
    const name = apiServiceName(removed);
    if (this.#options.isLocal(removed) || !this.#served.delete(name)) return;
    this.#withdrawn.add(name);
    this.#due.add(name);
    this.#begin();
  }

  /**
   * Resolves when the APIService of each served group version exists. Call it when all definitions are served and the APIServices have been
   * listed.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    for (const name of this.#stored.keys()) if (!this.#served.has(name)) this.#withdrawn.add(name);
    this.#decideAll();
    await this.#work;
  }

  /** Resolves when no write is under way. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#retry?.cancel();
    await this.#work;
  }

  #decideAll(): void {
    for (const name of [...this.#stored.keys(), ...this.#served.keys()]) this.#due.add(name);
    this.#begin();
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
    const served = this.#served.get(name) ?? (this.#withdrawn.has(name) ? 'withdrawn' : 'elsewhere');
    const decision = decideLocalApiService(current, served, clock.now());
    if (decision.verdict === 'create') {
      stampCreated(decision.object, random.uuid(), clock.now());
      await store.create(API_SERVICES_PREFIX + name, encodeStored(decision.object));
    } else if (kv === undefined) this.#withdrawn.delete(name);
    else if (decision.verdict === 'delete') {
      if ((await store.delete(kv.key, kv.modRevision)).succeeded) this.#withdrawn.delete(name);
    } else if (decision.verdict === 'update' && !this.#corrected.has(name)) {
      if (!(await store.update(kv.key, encodeStored(decision.object), kv.modRevision)).succeeded) return;
      this.#corrected.add(name);
      this.#decideLater();
    }
  }

  #failed(name: string, error: unknown): void {
    if (this.#state !== 'running') return;
    this.#options.logger.warn('unable to write a local APIService, will retry', { name, error: String(error) });
    this.#decideLater();
  }

  #decideLater(): void {
    if (this.#state !== 'running') return;
    this.#retry ??= this.#options.clock.setTimer(RETRY_MS, () => {
      this.#retry = undefined;
      this.#corrected.clear();
      this.#decideAll();
    });
  }
}

function nameOf(key: string): string {
  return key.slice(API_SERVICES_PREFIX.length);
}
