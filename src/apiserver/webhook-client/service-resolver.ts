import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Random } from '../../base/random/random.ts';
import type { Store } from '../storage/interface.ts';
import { listPrefix, objectKey } from '../storage/storage-keys.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { WebhookCallError } from './webhook-call-error.ts';

export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/** Resolves the address at which the port of a service can be reached now. Rejects with a {@link WebhookCallError} if there is none. */
export interface ServiceResolver {
  resolve(namespace: string, name: string, port: number): Promise<ServiceAddress>;
}

export interface StoreServiceResolverOptions {
  readonly store: Store;
  readonly random: Pick<Random, 'integer'>;
  /** The first source: maps `<namespace>/<name>` to the address of the whole service, with any port. */
  readonly hosts?: ReadonlyMap<string, ServiceAddress>;
}

const services = { group: '', resource: 'services', namespaced: true };
const endpoints = { group: '', resource: 'endpoints', namespaced: true };
const endpointSlices = { group: 'discovery.k8s.io', resource: 'endpointslices', namespaced: true };
/** Maximum number of slices of one namespace that are read; later ones are not found. */
const MAX_SLICES = 1_000;

interface Port {
  readonly name?: string;
  readonly port?: number;
}

interface Service extends KubeObject {
  readonly spec?: { readonly type?: string; readonly externalName?: string; readonly ports?: readonly Port[] };
}

interface Slice extends KubeObject {
  readonly addressType?: string;
  readonly ports?: readonly Port[];
  readonly endpoints?: readonly { readonly addresses?: readonly string[]; readonly conditions?: { ready?: boolean } }[];
}

interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip?: string }[];
    readonly ports?: readonly Port[];
  }[];
}

/**
 * There is no pod network here, so a service has the address of its EndpointSlices or Endpoints, its external name, or the address in a
 * host map (API-358). One of several endpoints is chosen at random.
 */
export class StoreServiceResolver implements ServiceResolver {
  readonly #options: StoreServiceResolverOptions;

  constructor(options: StoreServiceResolverOptions) {
    this.#options = options;
  }

  async resolve(namespace: string, name: string, port: number): Promise<ServiceAddress> {
    const mapped = this.#options.hosts?.get(`${namespace}/${name}`);
    if (mapped !== undefined) return mapped;
    const service = await this.#read<Service>(objectKey(services, namespace, name));
    if (service === undefined) throw new WebhookCallError('service', `service ${JSON.stringify(name)} not found`);
    const { type, externalName = '', ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName, port };
    const servicePort = ports.find((candidate) => candidate.port === port);
    if (servicePort === undefined) {
      throw new WebhookCallError('service', `no service port ${port} found for service ${JSON.stringify(name)}`);
    }
    const portName = servicePort.name ?? '';
    const found = [
      ...(await this.#inSlices({ namespace, name, portName })),
      ...(await this.#inEndpoints({ namespace, name, portName })),
    ];
    const chosen = found.length === 0 ? undefined : found[this.#options.random.integer(found.length)];
    if (chosen !== undefined) return chosen;
    throw new WebhookCallError('service', `no endpoints available for service ${JSON.stringify(name)}`);
  }

  async #inSlices({ namespace, name, portName }: Wanted): Promise<ServiceAddress[]> {
    const prefix = listPrefix(endpointSlices, namespace);
    const { items } = await this.#options.store.list(prefix, { limit: MAX_SLICES });
    return items
      .map((kv) => new StoredObject(kv))
      .filter((stored) => stored.metadata().labels?.['kubernetes.io/service-name'] === name)
      .flatMap((stored) => {
        const { ports = [], endpoints: members = [] } = stored.object() as Slice;
        const ready = members.filter(({ conditions }) => conditions?.ready !== false);
        return addresses(
          ready.flatMap(({ addresses: hosts = [] }) => hosts),
          portNamed(ports, portName),
        );
      });
  }

  async #inEndpoints({ namespace, name, portName }: Wanted): Promise<ServiceAddress[]> {
    const object = await this.#read<Endpoints>(objectKey(endpoints, namespace, name));
    return (object?.subsets ?? []).flatMap(({ addresses: hosts = [], ports = [] }) =>
      addresses(
        hosts.flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
        portNamed(ports, portName),
      ),
    );
  }

  async #read<T extends KubeObject>(key: string): Promise<T | undefined> {
    const { kv } = await this.#options.store.get(key);
    return kv === undefined ? undefined : (new StoredObject(kv).object() as T);
  }
}

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly portName: string;
}

function portNamed(ports: readonly Port[], name: string): number | undefined {
  return ports.find((port) => (port.name ?? '') === name)?.port;
}

function addresses(hosts: readonly string[], port: number | undefined): ServiceAddress[] {
  return port === undefined ? [] : hosts.map((host) => ({ host, port }));
}
