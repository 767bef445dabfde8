import type { KubeObject } from '../../api/meta/object-meta.ts';
import { apiVersionOf, type GroupVersion } from '../../api/meta/group-version-kind.ts';
import { type Condition, findCondition, withCondition } from '../../api/meta/conditions.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { KeyValue, Store, StoreEvent } from '../storage/interface.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';

export interface RemoteGroupsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether this server serves a group version itself; that has precedence. */
  readonly isLocal: (groupVersion: GroupVersion) => boolean;
}

interface Remote {
  readonly groupVersion: GroupVersion;
  /** The APIService that names it. */
  readonly kv: KeyValue;
}

/**
 * The group versions that APIServices assign to other servers (API-606). Requests are not proxied: such a group version is listed by
 * discovery without its resources, its requests are answered with 503, and its APIService has the condition Available=False. Clients
 * therefore know that the group may have objects.
 */
export class RemoteGroups {
  readonly #options: RemoteGroupsOptions;
  /** By key of the APIService. */
  readonly #remote = new Map<string, Remote>();
  #listed: readonly GroupVersion[] = [];
  #state: 'running' | 'stopped' = 'running';

  constructor(options: RemoteGroupsOptions) {
    this.#options = options;
  }

  /** A list of all APIServices. */
  replace(items: readonly KeyValue[]): void {
    this.#remote.clear();
    for (const item of items) this.#see(item.key, item);
    this.#listed = Array.from(this.#remote.values(), ({ groupVersion }) => groupVersion);
  }

  /** Changes after the list. */
  observe(events: readonly StoreEvent[]): void {
    for (const { key, current } of events) this.#see(key, current);
    this.#listed = Array.from(this.#remote.values(), ({ groupVersion }) => groupVersion);
  }

  stop(): void {
    this.#state = 'stopped';
  }

  /** A new array after each change. */
  listed(): readonly GroupVersion[] {
    return this.#listed;
  }

  has({ group, version }: GroupVersion): boolean {
    return (
      this.#listed.some((remote) => remote.group === group && remote.version === version) &&
      !this.#options.isLocal({ group, version })
    );
  }

  /** This server has stopped to serve a resource of the group version. If it was the last one, the condition is written now. */
  removed({ group, version }: GroupVersion): void {
    if (this.#state !== 'running') return;
    for (const { kv, groupVersion } of this.#remote.values()) {
      if (groupVersion.group === group && groupVersion.version === version)
        this.#report(kv, new StoredObject(kv).object(), groupVersion);
    }
  }

  #see(key: string, kv: KeyValue | undefined): void {
    const service = kv === undefined ? undefined : new StoredObject(kv).object();
    const groupVersion = remoteGroupVersion(service);
    if (kv === undefined || service === undefined || groupVersion === undefined) {
      this.#remote.delete(key);
      return;
    }
    this.#remote.set(key, { kv, groupVersion });
    this.#report(kv, service, groupVersion);
  }

  /**
   * Another server on the same store writes the same. If another write was first, this one is retried. LocalApiServices writes the condition
   * of a local group version.
   */
  #report(kv: KeyValue, service: KubeObject, groupVersion: GroupVersion): void {
    const { store, clock, logger, isLocal } = this.#options;
    if (isLocal(groupVersion)) return;
    const status = (service['status'] ?? {}) as { conditions?: readonly Condition[] | null };
    const said = findCondition(status.conditions, 'Available');
    if (said?.status === 'False' && said.reason === REASON) return;
    const available: Condition = {
      type: 'Available',
      status: 'False',
      reason: REASON,
      message: `this server does not proxy requests to other API servers: requests for ${apiVersionOf(groupVersion)} are answered with 503`,
    };
    const conditions = withCondition(status.conditions, available, clock.now());
    const next = { ...service, status: { ...status, conditions } };
    store.update(kv.key, encodeStored(next), kv.modRevision).catch((error: unknown) => {
      if (this.#state === 'running')
        logger.warn('condition of APIService not written', { key: kv.key, error: String(error) });
    });
  }
}

const REASON = 'ProxyNotSupported';

/** Undefined for an APIService without a Service: its group version is served here or nowhere. */
function remoteGroupVersion(service: KubeObject | undefined): GroupVersion | undefined {
  const { group, version, service: at } = (service?.['spec'] ?? {}) as Partial<GroupVersion> & { service?: unknown };
  if (at === undefined || at === null || !group || !version) return undefined;
  return { group, version };
}
