import { fieldInvalid } from '../../../api/field-error.ts';
import type { FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import type { Store } from '../../storage/interface.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import { type AddressClaims, type ClaimedRange, noAddressClaims, StoredAddressClaims } from './address-claims.ts';
import { defaultServiceRange, formatAddress, parseAddress, type ServiceRange } from './service-range.ts';

const FIRST_PORT = 30_000;
const LAST_PORT = 32_767;
/** Random tries before a free one is searched from a random place on. */
const TRIES = 16;

export interface ServiceSpec {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly healthCheckNodePort?: number;
  readonly ports?: readonly { readonly nodePort?: number }[];
}

export interface ServiceAddressesOptions {
  readonly store: Store;
  readonly random: Random;
  readonly clock: Clock;
  /** Default: {@link defaultServiceRange}. */
  readonly serviceRange?: ServiceRange | undefined;
}

/**
 * Cluster addresses and node ports in use. Held in memory and rebuilt from the stored services when first needed. An update that
 * fails after it was given something leaves it marked; therefore nothing is refused before the stored services were read again.
 * Where several servers write to the store, memory only says what is worth trying: what counts is the claim ({@link AddressClaims}).
 */
export class ServiceAddresses {
  readonly #store: Store;
  readonly #random: Random;
  readonly #claims: AddressClaims;
  readonly #range: ServiceRange;
  #addresses: Set<number>;
  #ports = new Set<number>();
  #loaded: Promise<void> | undefined;

  constructor({ store, random, clock, serviceRange = defaultServiceRange }: ServiceAddressesOptions) {
    this.#store = store;
    this.#range = serviceRange;
    this.#addresses = new Set([this.#own]);
    this.#random = random;
    this.#claims = store.writers === undefined ? noAddressClaims : new StoredAddressClaims({ store, clock });
  }

  /** Of Service `default/kubernetes`, which comes back when it is deleted. */
  get #own(): number {
    return this.#range.first;
  }

  /** Must have resolved before anything else is called. */
  load(): Promise<void> {
    this.#loaded ??= this.#reload();
    return this.#loaded;
  }

  /** Undefined when the range is exhausted. */
  async allocateAddress(): Promise<string | undefined> {
    const address = await this.#allocate('serviceips', formatAddress, () =>
      this.#free(this.#addresses, this.#range.first, this.#range.last),
    );
    return address === undefined ? undefined : formatAddress(address);
  }

  allocatePort(): Promise<number | undefined> {
    return this.#allocate('servicenodeports', String, () => this.#free(this.#ports, FIRST_PORT, LAST_PORT));
  }

  async #allocate(
    range: ClaimedRange,
    format: (item: number) => string,
    pick: () => number | undefined,
  ): Promise<number | undefined> {
    // Ends: what is taken is marked, each round marks one more, and marks are forgotten once.
    let reloads = 0;
    for (;;) {
      const item = pick();
      if (item !== undefined && (await this.#claims.claim(range, format(item))) === 'ours') return item;
      if (item === undefined && reloads++ > 0) return undefined;
      if (item === undefined) await this.#reload();
    }
  }

  /** The finding when the address is not ours or taken; addresses that are no IPv4 are not looked after. */
  async reserveAddress(text: string, path: string): Promise<FieldError | undefined> {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    if (address < this.#range.first || address > this.#range.last) {
      return fieldInvalid(
        path,
        [text],
        `failed to allocate IP: the provided IP is not in the valid range. The range of valid IPs is ${this.#range.cidr}`,
      );
    }
    if (this.#addresses.has(address)) await this.#reload();
    if (this.#addresses.has(address)) {
      return fieldInvalid(path, [text], 'failed to allocate IP: provided IP is already allocated');
    }
    this.#addresses.add(address);
    if ((await this.#claims.claimWanted('serviceips', text)) === 'ours') return undefined;
    return fieldInvalid(path, [text], 'failed to allocate IP: provided IP is already allocated');
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
    if ((await this.#claims.claimWanted('servicenodeports', String(port))) === 'ours') return undefined;
    return fieldInvalid(path, port, 'provided port is already allocated');
  }

  releaseAddress(text: string): void {
    const address = parseAddress(text);
    if (address === undefined || address === this.#own) return;
    this.#addresses.delete(address);
    this.#claims.giveBack('serviceips', text);
  }

  releasePort(port: number): void {
    this.#ports.delete(port);
    this.#claims.giveBack('servicenodeports', String(port));
  }

  /** Gives back all that a service holds. */
  release(service: KubeObject): void {
    const spec = (service['spec'] ?? {}) as ServiceSpec;
    for (const address of addressesOf(spec)) this.releaseAddress(address);
    for (const port of portsOf(spec)) this.releasePort(port);
  }

  async #reload(): Promise<void> {
    const { items } = await this.#store.list(resourcePrefix({ group: '', resource: 'services' }));
    this.#addresses = new Set([this.#own]);
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

/** Of a headless service it is the word None. */
export function addressesOf({ clusterIP, clusterIPs }: ServiceSpec): readonly string[] {
  const all = new Set(clusterIPs ?? []);
  if (clusterIP !== undefined) all.add(clusterIP);
  return [...all];
}

export function portsOf({ ports, healthCheckNodePort }: ServiceSpec): number[] {
  return [...(ports ?? []).map(({ nodePort }) => nodePort ?? 0), healthCheckNodePort ?? 0].filter((port) => port > 0);
}
