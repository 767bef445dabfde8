import { fieldInvalid } from '../../../../api/field-error.ts';
import type { FieldError } from '../../../../api/field-error.ts';
import type { KubeObject } from '../../../../api/meta/object-meta.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { Random } from '../../../../base/random/random.ts';
import type { Revision, Store } from '../../../storage/interface.ts';
import { resourcePrefix } from '../../../storage/storage-keys.ts';
import { StoredObject } from '../../../storage/stored-object.ts';
import type { StoreOutcome } from '../../store-outcome.ts';
import {
  type AddressClaims,
  AddressLooks,
  type ClaimedRange,
  noAddressClaims,
  StoredAddressClaims,
} from './address-claims.ts';
import { defaultServiceRange, formatAddress, parseAddress, type ServiceRange } from './service-range.ts';
import { hasClusterAddress, needsHealthCheckPort, type ServiceSpec, usesNodePorts } from './service-spec.ts';

const FIRST_PORT = 30_000;
const LAST_PORT = 32_767;
/** Maximum number of marks of released addresses. Beyond it the next request reads the stored services again. */
const MOST_LEFT_MARKED = 4096;
/** Number of random attempts before a linear search from a random address. */
const TRIES = 16;

/** The addresses of one request, with the claim of each; undefined while the claim is being made. */
export interface Reservation {
  /** `look` is for a dry run, which reserves nothing. */
  readonly mode: 'hold' | 'look';
  readonly addresses: Map<string, Revision | undefined>;
  readonly ports: Map<number, Revision | undefined>;
}

export function emptyReservation(mode: Reservation['mode'] = 'hold'): Reservation {
  return { mode, addresses: new Map(), ports: new Map() };
}

interface AllocationPlace<T extends string | number> {
  readonly format: (item: number) => T;
  readonly held: Map<T, Revision | undefined>;
  readonly claims: AddressClaims;
}

export interface ServiceAddressesOptions {
  readonly store: Store;
  readonly random: Random;
  readonly clock: Clock;
  /** Default: {@link defaultServiceRange}. */
  readonly serviceRange?: ServiceRange | undefined;
}

/**
 * Cluster addresses and node ports in use. They are held in memory and rebuilt from the stored services on first use. Addresses that stored
 * services release stay marked, because another service may have them by then; so the stored services are read again before a
 * request is refused. Addresses of a create or update in progress count as well ({@link ServiceAddresses.begin}). If several servers write
 * to the store, memory only suggests candidates, and the claim decides ({@link AddressClaims}).
 */
export class ServiceAddresses {
  readonly #store: Store;
  readonly #random: Random;
  readonly #claims: AddressClaims;
  readonly #looks: AddressClaims;
  readonly #range: ServiceRange;
  #addresses: Set<number>;
  #ports = new Set<number>();
  #loaded: Promise<void> | undefined;
  /** The number of released addresses since the stored services were last read. */
  #leftMarked = 0;
  /** By the prepared object. */
  readonly #reservations = new WeakMap<KubeObject, Reservation>();
  /** The reservations of creates and updates in progress. */
  readonly #unstored = new Set<Reservation>();
  /** Resolves when the current read of the stored services ends. */
  #look: Promise<void> = Promise.resolve();

  constructor({ store, random, clock, serviceRange = defaultServiceRange }: ServiceAddressesOptions) {
    this.#store = store;
    this.#range = serviceRange;
    this.#addresses = new Set([this.#own]);
    this.#random = random;
    this.#claims = store.writers === undefined ? noAddressClaims : new StoredAddressClaims({ store, clock, random });
    this.#looks = store.writers === undefined ? noAddressClaims : new AddressLooks({ store, clock });
  }

  /** The address of Service `default/kubernetes`, which is restored if deleted. */
  get #own(): number {
    return this.#range.first;
  }

  /** Must resolve before any other call. If the store cannot be read, the next call reads it again. */
  load(): Promise<void> {
    if (this.#leftMarked >= MOST_LEFT_MARKED) {
      this.#leftMarked = 0;
      this.#loaded = undefined;
    }
    this.#loaded ??= this.#reload().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /**
   * Reserves addresses for a service that is to be created or updated. They stay reserved until {@link ended} is called with the same
   * object, whatever is read from the store meanwhile.
   */
  begin(service: KubeObject): Reservation {
    const reservation = emptyReservation('hold');
    this.#reservations.set(service, reservation);
    this.#unstored.add(reservation);
    return reservation;
  }

  /**
   * Frees the addresses only if the service was certainly not stored. Otherwise the next read of the stored services decides; the sweep
   * releases an unused claim, after the longest time that a write may take.
   */
  ended(service: KubeObject, outcome: StoreOutcome): void {
    const reservation = this.#reservations.get(service);
    if (reservation === undefined) return;
    if (outcome === 'not stored') this.#giveBack(reservation);
    // A read that has already begun may lack the service.
    else void this.#look.then(() => this.#unstored.delete(reservation));
  }

  /** Undefined if the range is exhausted. */
  async allocateAddress(into = emptyReservation()): Promise<string | undefined> {
    const place = { format: formatAddress, held: into.addresses, claims: this.#claimsOf(into) };
    const address = await this.#allocate('serviceips', place, () =>
      this.#free(this.#addresses, this.#range.first, this.#range.last),
    );
    return address === undefined ? undefined : formatAddress(address);
  }

  allocatePort(into = emptyReservation()): Promise<number | undefined> {
    return this.#allocate('servicenodeports', { format: Number, held: into.ports, claims: this.#claimsOf(into) }, () =>
      this.#free(this.#ports, FIRST_PORT, LAST_PORT),
    );
  }

  async #allocate<T extends string | number>(
    range: ClaimedRange,
    { format, held, claims }: AllocationPlace<T>,
    pick: () => number | undefined,
  ): Promise<number | undefined> {
    // The loop is bounded: each round marks one more address, and marks are cleared once.
    let reloads = 0;
    for (;;) {
      const item = pick();
      // A read of the stored services during a dry run clears its choice.
      if (item !== undefined && held.has(format(item))) continue;
      if (item !== undefined && (await this.#claim(format(item), held, (text) => claims.claim(range, text)))) {
        return item;
      }
      if (item === undefined && reloads++ > 0) return undefined;
      if (item === undefined) await this.#reload();
    }
  }

  #claimsOf({ mode }: Reservation): AddressClaims {
    return mode === 'look' ? this.#looks : this.#claims;
  }

  /** It is reserved before the claim is made, so that a read of the stored services meanwhile does not clear it. */
  async #claim<T extends string | number>(
    item: T,
    held: Map<T, Revision | undefined>,
    claim: (text: string) => Promise<Revision | undefined>,
  ): Promise<boolean> {
    held.set(item, undefined);
    let revision: Revision | undefined;
    try {
      revision = await claim(String(item));
    } finally {
      if (revision === undefined) held.delete(item);
      else held.set(item, revision);
    }
    return revision !== undefined;
  }

  /** A finding if the address is outside of the range or taken. Only IPv4 addresses are managed. */
  async reserveAddress(text: string, path: string, into = emptyReservation()): Promise<FieldError | undefined> {
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
    if (this.#addresses.has(address) || into.addresses.has(text)) {
      return fieldInvalid(path, [text], 'failed to allocate IP: provided IP is already allocated');
    }
    if (into.mode === 'hold') this.#addresses.add(address);
    if (await this.#claim(text, into.addresses, (item) => this.#claimsOf(into).claimWanted('serviceips', item))) {
      return undefined;
    }
    return fieldInvalid(path, [text], 'failed to allocate IP: provided IP is already allocated');
  }

  async reservePort(port: number, path: string, into = emptyReservation()): Promise<FieldError | undefined> {
    if (port < FIRST_PORT || port > LAST_PORT) {
      return fieldInvalid(
        path,
        port,
        `provided port is not in the valid range. The range of valid ports is ${FIRST_PORT}-${LAST_PORT}`,
      );
    }
    if (this.#ports.has(port)) await this.#reload();
    if (this.#ports.has(port) || into.ports.has(port)) {
      return fieldInvalid(path, port, 'provided port is already allocated');
    }
    if (into.mode === 'hold') this.#ports.add(port);
    if (await this.#claim(port, into.ports, (item) => this.#claimsOf(into).claimWanted('servicenodeports', item))) {
      return undefined;
    }
    return fieldInvalid(path, port, 'provided port is already allocated');
  }

  /** Releases the addresses that a stored service no longer has: all of them, unless another state of it follows. */
  release(service: KubeObject, next?: KubeObject): void {
    const spec = specOf(service);
    const kept = next === undefined ? undefined : specOf(next);
    const keptAddresses = new Set(kept === undefined ? [] : addressesOf(kept));
    for (const text of addressesOf(spec)) {
      const address = parseAddress(text);
      if (address === undefined || address === this.#own || keptAddresses.has(text)) continue;
      this.#leftMarked++;
      this.#claims.giveBack('serviceips', text);
    }
    const keptPorts = new Set(kept === undefined ? [] : portsOf(kept));
    for (const port of portsOf(spec)) {
      if (keptPorts.has(port)) continue;
      this.#leftMarked++;
      this.#claims.giveBack('servicenodeports', String(port));
    }
  }

  /** No other service can have had any of them meanwhile, so their marks are removed too. */
  #giveBack(reservation: Reservation): void {
    this.#unstored.delete(reservation);
    for (const [text, claim] of reservation.addresses) {
      const address = parseAddress(text);
      if (address !== undefined) this.#addresses.delete(address);
      if (claim !== undefined) this.#claims.giveBack('serviceips', text, claim);
    }
    for (const [port, claim] of reservation.ports) {
      this.#ports.delete(port);
      if (claim !== undefined) this.#claims.giveBack('servicenodeports', String(port), claim);
    }
    reservation.addresses.clear();
    reservation.ports.clear();
  }

  /** Reads never overlap, so that an older one never overwrites a newer one. At most one waits for each request in flight. */
  #reload(): Promise<void> {
    const look = this.#look.then(() => this.#readStored());
    this.#look = look.catch(() => undefined);
    return look;
  }

  async #readStored(): Promise<void> {
    const { items } = await this.#store.list(resourcePrefix({ group: '', resource: 'services' }));
    this.#addresses = new Set([this.#own]);
    this.#ports = new Set();
    this.#leftMarked = 0;
    for (const kv of items) {
      const spec = specOf(new StoredObject(kv).object());
      this.#mark(addressesOf(spec), portsOf(spec));
    }
    for (const { addresses, ports } of this.#unstored) this.#mark(addresses.keys(), ports.keys());
  }

  #mark(addresses: Iterable<string>, ports: Iterable<number>): void {
    for (const text of addresses) {
      const address = parseAddress(text);
      if (address !== undefined) this.#addresses.add(address);
    }
    for (const port of ports) this.#ports.add(port);
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

function specOf(service: KubeObject): ServiceSpec {
  return (service['spec'] ?? {}) as ServiceSpec;
}

/**
 * The cluster addresses. A headless service has the word None. A service of a type without addresses has none, even if the fields contain
 * some.
 */
export function addressesOf(spec: ServiceSpec): readonly string[] {
  if (!hasClusterAddress(spec)) return [];
  const { clusterIP, clusterIPs } = spec;
  const all = new Set(clusterIPs ?? []);
  if (clusterIP !== undefined) all.add(clusterIP);
  return [...all];
}

/** The node ports of a service, if its type has them. Each port occurs once, because two protocols may share one. */
export function portsOf(spec: ServiceSpec): number[] {
  const ports = usesNodePorts(spec) ? (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0) : [];
  if (needsHealthCheckPort(spec)) ports.push(spec.healthCheckNodePort ?? 0);
  return [...new Set(ports)].filter((port) => port > 0);
}
