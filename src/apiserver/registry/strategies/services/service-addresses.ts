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
/** Marks of what stored services gave up; above that the next request looks which are in vain. */
const MOST_LEFT_MARKED = 4096;
/** Random tries before a free one is searched from a random place on. */
const TRIES = 16;

/** The addresses of one request, with the claim of each; undefined while that is being made. */
export interface Reservation {
  /** `look`: of a dry run, which keeps nobody from anything. */
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
 * Cluster addresses and node ports in use. Held in memory and rebuilt from the stored services when first needed. Addresses that stored services
 * give up stay marked, because another service may have them by then; so nothing is refused before the stored services were read again.
 * Addresses held by a create or update that is not stored yet count all the same ({@link ServiceAddresses.begin}). Where several servers write
 * to the store, memory only suggests candidates: the claim decides ({@link AddressClaims}).
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
  /** Since the last look. */
  #leftMarked = 0;
  /** By the prepared object. */
  readonly #reservations = new WeakMap<KubeObject, Reservation>();
  /** The reservations of creates and updates under way. */
  readonly #unstored = new Set<Reservation>();
  /** Until it resolves, the stored services are being read. */
  #look: Promise<void> = Promise.resolve();

  constructor({ store, random, clock, serviceRange = defaultServiceRange }: ServiceAddressesOptions) {
    this.#store = store;
    this.#range = serviceRange;
    this.#addresses = new Set([this.#own]);
    this.#random = random;
    this.#claims = store.writers === undefined ? noAddressClaims : new StoredAddressClaims({ store, clock, random });
    this.#looks = store.writers === undefined ? noAddressClaims : new AddressLooks({ store, clock });
  }

  /** Of Service `default/kubernetes`, which comes back when it is deleted. */
  get #own(): number {
    return this.#range.first;
  }

  /** Must have resolved before anything else is called. When the store cannot be read, the next call reads it again. */
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
   * Reserves addresses for a service that is to be created or updated. They are reserved until {@link ended} is called with
   * the same object, whatever is read from the store in between.
   */
  begin(service: KubeObject): Reservation {
    const reservation = emptyReservation('hold');
    this.#reservations.set(service, reservation);
    this.#unstored.add(reservation);
    return reservation;
  }

  /**
   * The addresses are free again only if the service certainly was not stored. Otherwise the next read of the stored services decides; an unused
   * claim is left to the sweep, which takes longer than a write may be on its way.
   */
  ended(service: KubeObject, outcome: StoreOutcome): void {
    const reservation = this.#reservations.get(service);
    if (reservation === undefined) return;
    if (outcome === 'not stored') this.#giveBack(reservation);
    // A read that has begun may not have seen the service.
    else void this.#look.then(() => this.#unstored.delete(reservation));
  }

  /** Undefined when the range is exhausted. */
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
    // Ends: what is taken is marked, each round marks one more, and marks are forgotten once.
    let reloads = 0;
    for (;;) {
      const item = pick();
      // A read of the stored services in between forgets the choice of a dry run.
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

  /** Held before the claim is made, so that a read of the stored services in between does not forget it. */
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

  /** The finding when the address is not ours or taken; only IPv4 addresses are managed. */
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

  /** The addresses that a stored service no longer has: all of it, unless another state of it followed. */
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

  /** Nobody else can have had any of it in the meantime, so that its marks go too. */
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

  /** One read after another, so that an older one never undoes a newer one; as many wait as there are requests under way. */
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

/** A headless service has the word None. None at all where the type has none, whatever stands there. */
export function addressesOf(spec: ServiceSpec): readonly string[] {
  if (!hasClusterAddress(spec)) return [];
  const { clusterIP, clusterIPs } = spec;
  const all = new Set(clusterIPs ?? []);
  if (clusterIP !== undefined) all.add(clusterIP);
  return [...all];
}

/** Only those that the type has, whatever stands there; each once, though two protocols may share one. */
export function portsOf(spec: ServiceSpec): number[] {
  const ports = usesNodePorts(spec) ? (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0) : [];
  if (needsHealthCheckPort(spec)) ports.push(spec.healthCheckNodePort ?? 0);
  return [...new Set(ports)].filter((port) => port > 0);
}
