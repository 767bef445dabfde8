import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Store } from '../storage/interface.ts';
import { objectKey, REGISTRY_ROOT } from '../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';

/** The address of a server for clients. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface EndpointReconcilerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The address of this server. */
  readonly address: () => ServerAddress;
}

/** The prefix of one key for each running server. A key expires if its server does not renew it. */
export const SERVERS_PREFIX = `${REGISTRY_ROOT}masterleases/`;

const RENEW_EVERY_MS = 10_000;
const LIFETIME_MS = 15_000;

const ENDPOINTS = { group: '', resource: 'endpoints', namespaced: true };
const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices', namespaced: true };

/**
 * Keeps the running servers in Endpoints and EndpointSlice `default/kubernetes` (upstream `controlplane/reconcilers/lease.go`). A
 * server with a store of its own writes its address once, because it may differ from that of the last start. If several servers share a
 * store, each writes every ten seconds the servers that have renewed their keys.
 */
export class EndpointReconciler {
  readonly #options: EndpointReconcilerOptions;
  #timer: Timer | undefined;
  #state: 'stopped' | 'running' = 'stopped';
  #round: Promise<void> = Promise.resolve();

  constructor(options: EndpointReconcilerOptions) {
    this.#options = options;
  }

  /** Resolves when this server is among the endpoints. */
  async start(): Promise<void> {
    this.#state = 'running';
    await this.reconcile();
    if (this.#options.store.writers !== undefined) this.#arm();
  }

  /** Removes this server, so that clients stop using it before its key expires. A failure is ignored. */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#timer?.cancel();
    await this.#round;
    const { store, logger } = this.#options;
    if (store.writers === undefined) return;
    try {
      const { kv } = await store.get(this.#key());
      if (kv !== undefined) await store.delete(kv.key, kv.modRevision);
      const others = await this.#servers();
      if (others.length > 0) await this.#point(others);
    } catch (error) {
      logger.warn('failed to remove this server from the endpoints', { error: String(error) });
    }
  }

  async reconcile(): Promise<void> {
    const { store, address } = this.#options;
    if (store.writers === undefined) return this.#point([address()]);
    await this.#renew();
    await this.#point(await this.#servers());
  }

  #key(): string {
    const { host, port } = this.#options.address();
    return `${SERVERS_PREFIX}${host}:${port}`;
  }

  async #renew(): Promise<void> {
    const { store, address } = this.#options;
    const value = Buffer.from(JSON.stringify(address()));
    const { kv } = await store.get(this.#key());
    const lifetime = { ttlMs: LIFETIME_MS };
    // The write was refused because the key has expired, or another server has the same address. The next round decides.
    if (kv === undefined) await store.create(this.#key(), value, lifetime);
    else await store.update(kv.key, value, kv.modRevision, lifetime);
  }

  async #servers(): Promise<ServerAddress[]> {
    const { items } = await this.#options.store.list(SERVERS_PREFIX);
    return items.map(({ value }) => JSON.parse(Buffer.from(value).toString()) as ServerAddress);
  }

  async #point(servers: readonly ServerAddress[]): Promise<void> {
    await this.#write(ENDPOINTS, { subsets: subsetsOf(servers) });
    await this.#write(ENDPOINT_SLICES, sliceOf(servers));
  }

  /** Another server was faster and wrote the same, or the next round corrects the difference. */
  async #write(resource: typeof ENDPOINTS, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const { store } = this.#options;
    const { kv } = await store.get(objectKey(resource, 'default', 'kubernetes'));
    // The object was deleted. It will be restored together with its server's bootstrap objects.
    if (kv === undefined) return;
    const object = new StoredObject(kv).object();
    if (Object.entries(fields).every(([name, value]) => deepEqual(object[name], value))) return;
    await store.update(kv.key, encodeStored({ ...object, ...fields }), kv.modRevision);
  }

  #arm(): void {
    const { clock, logger } = this.#options;
    this.#timer = clock.setTimer(RENEW_EVERY_MS, () => {
      this.#round = this.reconcile()
        .catch((error: unknown) => {
          logger.warn('failed to update the endpoints of the servers', { error: String(error) });
        })
        .finally(() => {
          if (this.#state === 'running') this.#arm();
        });
    });
  }
}

/** Servers by port, in order, because a subset has addresses with the same ports. */
function byPort(servers: readonly ServerAddress[]): [number, string[]][] {
  const hosts = new Map<number, Set<string>>();
  for (const { host, port } of servers) hosts.set(port, (hosts.get(port) ?? new Set()).add(host));
  return [...hosts]
    .map(([port, known]): [number, string[]] => [port, [...known].toSorted()])
    .toSorted(([left], [right]) => left - right);
}

function subsetsOf(servers: readonly ServerAddress[]): object[] {
  return byPort(servers).map(([port, hosts]) => ({
    addresses: hosts.map((ip) => ({ ip })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  }));
}

/** A slice has one set of ports: that of most servers, which is usually that of all. */
function sliceOf(servers: readonly ServerAddress[]): Record<string, unknown> {
  const [most] = byPort(servers).toSorted(([, left], [, right]) => right.length - left.length);
  const [port, hosts] = most ?? [0, []];
  const isV6 = (host: string): boolean => host.includes(':');
  const first = hosts[0] ?? '';
  return {
    addressType: isV6(first) ? 'IPv6' : 'IPv4',
    endpoints: hosts
      .filter((host) => isV6(host) === isV6(first))
      .map((host) => ({ addresses: [host], conditions: { ready: true } })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}
