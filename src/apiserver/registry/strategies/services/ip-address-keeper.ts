import type { KubeObject } from '../../../../api/meta/object-meta.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { Logger } from '../../../../base/logs/logger.ts';
import type { Random } from '../../../../base/random/random.ts';
import { StoreFollower } from '../../../storage/cache/store-follower.ts';
import type { KeyValue, Store, StoreEvent } from '../../../storage/interface.ts';
import { objectKey, resourcePrefix } from '../../../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../../../storage/stored-object.ts';
import { stampCreated } from '../../object/object-meta.ts';
import { addressesOf } from './service-addresses.ts';
import { HEADLESS, type ServiceSpec } from './service-spec.ts';

const SERVICES = { group: '', resource: 'services' };
const IP_ADDRESSES = { group: 'networking.k8s.io', resource: 'ipaddresses', namespaced: false };

const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family';
const MANAGED_BY_LABEL = 'ipaddress.kubernetes.io/managed-by';
const MANAGER = 'ipallocator.k8s.io';

/** Maximum number of attempts when another server or a user writes the same object at the same time. */
const MAX_ATTEMPTS = 5;

export interface IpAddressKeeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The service that has an address. */
interface Holder {
  readonly namespace: string;
  readonly name: string;
}

/** An object as it was read, or its absence. */
interface Listed {
  readonly kv?: KeyValue | undefined;
}

/**
 * Keeps an IPAddress for each cluster address of a service (API-513), as the allocator of kube-apiserver does. The services decide which
 * addresses are taken; these objects follow them, and only those that bear the label of the allocator are changed or deleted.
 */
export class IpAddressKeeper {
  readonly #options: IpAddressKeeperOptions;
  readonly #services: StoreFollower;
  readonly #objects: StoreFollower;
  /** By address. */
  readonly #holders = new Map<string, Holder>();
  /** The last known addresses of each service, by key. */
  readonly #held = new Map<string, readonly string[]>();
  #state: 'new' | 'running' | 'stopped' = 'new';
  /** True after the first list of the objects, which compares all services. Before it, a change of services needs no comparison. */
  #compared = false;
  /** Writes run one after another. At most one waits for each service that changed in this turn. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: IpAddressKeeperOptions) {
    this.#options = options;
    const { store, clock, logger } = options;
    this.#services = new StoreFollower({
      store,
      clock,
      logger,
      prefix: resourcePrefix(SERVICES),
      replace: (items) => this.#replace(items),
      observe: (events) => this.#observe(events),
    });
    this.#objects = new StoreFollower({
      store,
      clock,
      logger,
      prefix: resourcePrefix(IP_ADDRESSES),
      replace: (items) => this.#compare(items),
      observe: (events) => {
        for (const { type, key } of events) if (type === 'DELETE') this.#keep(addressIn(key));
      },
    });
  }

  /** Resolves when the services of the start have their objects. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    await this.#services.start();
    await this.#objects.start();
    await this.#work;
  }

  stop(): void {
    this.#state = 'stopped';
    this.#services.stop();
    this.#objects.stop();
  }

  #replace(items: readonly KeyValue[]): void {
    const gone = new Set(this.#held.keys());
    for (const item of items) {
      gone.delete(item.key);
      this.#see(item.key, new StoredObject(item).object());
    }
    for (const key of gone) this.#see(key, undefined);
  }

  /**
   * After a list of the objects: objects without a service are deleted, services without an object get one, and an object of another
   * service is changed.
   */
  #compare(items: readonly KeyValue[]): void {
    this.#compared = true;
    const there = new Map(items.map((item) => [addressIn(item.key), item]));
    for (const [address, item] of there) {
      if (stepFor(item, this.#holders.get(address)) !== 'stay') this.#keep(address, { kv: item });
    }
    for (const address of this.#holders.keys()) if (!there.has(address)) this.#keep(address, { kv: undefined });
  }

  #observe(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#see(event.key, event.current === undefined ? undefined : new StoredObject(event.current).object());
    }
  }

  #see(key: string, service: KubeObject | undefined): void {
    const before = this.#held.get(key) ?? [];
    const after = service === undefined ? [] : clusterAddresses(service);
    if (after.length === 0) this.#held.delete(key);
    else this.#held.set(key, after);
    const { namespace = '', name = '' } = service?.metadata ?? {};
    for (const address of before) {
      if (after.includes(address)) continue;
      // Another service may have it by now.
      if (serviceKey(this.#holders.get(address)) === key) this.#holders.delete(address);
      if (this.#compared) this.#keep(address);
    }
    for (const address of after) {
      if (before.includes(address)) continue;
      this.#holders.set(address, { namespace, name });
      if (this.#compared) this.#keep(address);
    }
  }

  /** @param listed the object as a list has just shown it, which saves a read */
  #keep(address: string, listed?: Listed): void {
    this.#work = this.#work.then(async () => {
      if (this.#state !== 'running') return;
      await this.#settle(address, listed).catch((error: unknown) => {
        if (this.#state !== 'running') return;
        this.#options.logger.warn('IPAddress not written, will retry at the next start', {
          address,
          error: String(error),
        });
      });
    });
  }

  /** Creates, changes or deletes one object, by the present state of its service. Each write fails if the object is no longer the one that was read. */
  async #settle(address: string, listed: Listed | undefined): Promise<void> {
    const { store, clock, random } = this.#options;
    const key = objectKey(IP_ADDRESSES, '', address);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { kv }: Listed = attempt === 0 && listed !== undefined ? listed : await store.get(key);
      const holder = this.#holders.get(address);
      if (kv === undefined) {
        if (holder === undefined) return;
        const made = ipAddress(address, holder);
        stampCreated(made, random.uuid(), clock.now());
        if ((await store.create(key, encodeStored(made))).succeeded) return;
        continue;
      }
      const step = stepFor(kv, holder);
      if (step === 'stay') return;
      if (step === 'delete') {
        if ((await store.delete(key, kv.modRevision)).succeeded) return;
      } else {
        const changed = { ...new StoredObject(kv).object(), spec: ipAddress(address, step)['spec'] };
        if ((await store.update(key, encodeStored(changed), kv.modRevision)).succeeded) return;
      }
    }
  }
}

/** The step that an object needs: nothing, its deletion, or a change to its service. An object of a user stays. */
function stepFor(kv: KeyValue, holder: Holder | undefined): 'stay' | 'delete' | Holder {
  const there = new StoredObject(kv).object();
  if (there.metadata?.labels?.[MANAGED_BY_LABEL] !== MANAGER) return 'stay';
  if (holder === undefined) return 'delete';
  return isOf(there, holder) ? 'stay' : holder;
}

function clusterAddresses(service: KubeObject): readonly string[] {
  return addressesOf((service['spec'] ?? {}) as ServiceSpec).filter((text) => text !== '' && text !== HEADLESS);
}

function serviceKey(holder: Holder | undefined): string | undefined {
  return holder === undefined ? undefined : objectKey({ ...SERVICES, namespaced: true }, holder.namespace, holder.name);
}

function addressIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function ipAddress(address: string, { namespace, name }: Holder): KubeObject {
  return {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: address,
      labels: { [FAMILY_LABEL]: address.includes(':') ? 'IPv6' : 'IPv4', [MANAGED_BY_LABEL]: MANAGER },
    },
    spec: { parentRef: { group: '', resource: 'services', namespace, name } },
  };
}

function isOf({ spec }: KubeObject, { namespace, name }: Holder): boolean {
  const { parentRef } = (spec ?? {}) as { parentRef?: Partial<Holder> };
  return parentRef?.namespace === namespace && parentRef.name === name;
}
