import { fieldInvalid } from '../../../api/field-error.ts';
import type { FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Random } from '../../../base/random.ts';
import type { Store } from '../../storage/interface.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';

/** 10.96.0.0/12 without the network's and the broadcast address. */
const FIRST_ADDRESS = 0x0a600001;
const LAST_ADDRESS = 0x0a6ffffe;
const FIRST_PORT = 30_000;
const LAST_PORT = 32_767;
/** Random tries before a free one is searched from a random place on. */
const TRIES = 16;

interface ServiceSpec {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly healthCheckNodePort?: number;
  readonly ports?: readonly { readonly nodePort?: number }[];
}

/**
 * Cluster addresses and node ports in use. Held in memory and rebuilt from the stored services when first needed. An update that
 * fails after it was given something leaves it marked; therefore nothing is refused before the stored services were read again.
 * Several servers on one store would need this in the store.
 */
export class ServiceAddresses {
  readonly #store: Store;
  readonly #random: Random;
  #addresses = new Set<number>();
  #ports = new Set<number>();
  #loaded: Promise<void> | undefined;

  constructor({ store, random }: { readonly store: Store; readonly random: Random }) {
    this.#store = store;
    this.#random = random;
  }

  /** Must have resolved before anything else is called. */
  load(): Promise<void> {
    this.#loaded ??= this.#reload();
    return this.#loaded;
  }

  /** Undefined when the range is exhausted. */
  async allocateAddress(): Promise<string | undefined> {
    const pick = (): number | undefined => this.#free(this.#addresses, FIRST_ADDRESS, LAST_ADDRESS);
    const address = pick() ?? (await this.#reload().then(pick));
    return address === undefined ? undefined : formatAddress(address);
  }

  async allocatePort(): Promise<number | undefined> {
    const pick = (): number | undefined => this.#free(this.#ports, FIRST_PORT, LAST_PORT);
    return pick() ?? (await this.#reload().then(pick));
  }

  /** The finding when the address is not ours or taken; addresses that are no IPv4 are not looked after. */
  async reserveAddress(text: string, path: string): Promise<FieldError | undefined> {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    if (address < FIRST_ADDRESS || address > LAST_ADDRESS) {
      return fieldInvalid(
        path,
        [text],
        'failed to allocate IP: the provided IP is not in the valid range. The range of valid IPs is 10.96.0.0/12',
      );
    }
    if (this.#addresses.has(address)) await this.#reload();
    if (this.#addresses.has(address)) {
      return fieldInvalid(path, [text], 'failed to allocate IP: provided IP is already allocated');
    }
    this.#addresses.add(address);
    return undefined;
  }

  async reservePort(port: number, path: string): Promise<FieldError | undefined> {
    if (port < FIRST_PORT || port > LAST_PORT) {
      return fieldInvalid(
        path,
        port,
        `provided port is not in the valid range. The range of valid ports is ${FIRST_PORT}-${LAST_PORT}`,
      );
    }
    if (this.#ports.has(port)) await this.#reload();
    if (this.#ports.has(port)) return fieldInvalid(path, port, 'provided port is already allocated');
    this.#ports.add(port);
    return undefined;
  }

  releaseAddress(text: string): void {
    const address = parseAddress(text);
    if (address !== undefined) this.#addresses.delete(address);
  }

  releasePort(port: number): void {
    this.#ports.delete(port);
  }

  /** Gives back all that a service holds. */
  release(service: KubeObject): void {
    const spec = (service['spec'] ?? {}) as ServiceSpec;
    for (const address of addressesOf(spec)) this.releaseAddress(address);
    for (const port of portsOf(spec)) this.#ports.delete(port);
  }

  async #reload(): Promise<void> {
    const { items } = await this.#store.list(resourcePrefix({ group: '', resource: 'services' }));
    this.#addresses = new Set();
    this.#ports = new Set();
    for (const kv of items) {
      const spec = (new StoredObject(kv).object()['spec'] ?? {}) as ServiceSpec;
      for (const text of addressesOf(spec)) {
        const address = parseAddress(text);
        if (address !== undefined) this.#addresses.add(address);
      }
      for (const port of portsOf(spec)) this.#ports.add(port);
    }
  }

  #free(used: Set<number>, first: number, last: number): number | undefined {
    const size = last - first + 1;
    let candidate = first + this.#random.integer(size);
    for (let i = 1; i < TRIES && used.has(candidate); i++) candidate = first + this.#random.integer(size);
    for (let i = 0; i < size && used.has(candidate); i++) candidate = candidate === last ? first : candidate + 1;
    if (used.has(candidate)) return undefined;
    used.add(candidate);
    return candidate;
  }
}

function addressesOf({ clusterIP, clusterIPs }: ServiceSpec): readonly string[] {
  const all = new Set(clusterIPs ?? []);
  if (clusterIP !== undefined) all.add(clusterIP);
  return [...all];
}

function portsOf({ ports, healthCheckNodePort }: ServiceSpec): number[] {
  return [...(ports ?? []).map(({ nodePort }) => nodePort ?? 0), healthCheckNodePort ?? 0].filter((port) => port > 0);
}

function parseAddress(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let address = 0;
  for (const part of match.slice(1)) {
    if (Number(part) > 255) return undefined;
    address = address * 256 + Number(part);
  }
  return address;
}

function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}
