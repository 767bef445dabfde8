import { type Clock, sleep } from '../../../../base/time/clock.ts';
import type { Random } from '../../../../base/random/random.ts';
import type { Revision, Store } from '../../../storage/interface.ts';
import { REGISTRY_ROOT } from '../../../storage/storage-keys.ts';

/** The limited resource, which is the last part of a claim's prefix. */
export type ClaimedRange = 'serviceips' | 'servicenodeports';

/** The claims of addresses across servers. */
export interface AddressClaims {
  /** The revision of the claim; undefined if another server has allocated the address or is about to. */
  claim(range: ClaimedRange, item: string): Promise<Revision | undefined>;
  /** The same for an address that a client requested. It retries briefly, because no other address can replace it. */
  claimWanted(range: ClaimedRange, item: string): Promise<Revision | undefined>;
  /**
   * Releases a claim. If no revision is given, any server may have made the claim of the stored service. Best effort, without a wait;
   * {@link ClaimSweep} releases the rest.
   */
  giveBack(range: ClaimedRange, item: string, claim?: Revision): void;
}

/** For a single server, whose memory has all allocations. */
export const noAddressClaims: AddressClaims = {
  claim: () => Promise.resolve(0),
  claimWanted: () => Promise.resolve(0),
  giveBack: () => undefined,
};

/** The prefix of all claims. */
export function claimPrefix(range: ClaimedRange): string {
  return `${REGISTRY_ROOT}ranges/${range}/`;
}

/** Retry interval: a service that another server has just deleted may not have released its address yet. */
const AGAIN_MS = 50;
const ATTEMPTS = 6;

export interface StoredAddressClaimsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** A claim is a key that only one create can make. It costs a write for each address, and is needed only if several servers write. */
export class StoredAddressClaims implements AddressClaims {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor({ store, clock, random }: StoredAddressClaimsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  async claim(range: ClaimedRange, item: string): Promise<Revision | undefined> {
    // If an answer is lost, the store recognizes its own write by the bytes, which are unique to each claim.
    const value = Buffer.from(JSON.stringify({ uid: this.#random.uuid() }));
    const written = await this.#store.create(claimPrefix(range) + item, value);
    return written.succeeded ? written.kv.modRevision : undefined;
  }

  claimWanted(range: ClaimedRange, item: string): Promise<Revision | undefined> {
    return tryForAMoment(this.#clock, () => this.claim(range, item));
  }

  giveBack(range: ClaimedRange, item: string, claim?: Revision): void {
    // The sweep removes claims that cannot be released now.
    this.#giveBack(claimPrefix(range) + item, claim).catch(() => undefined);
  }

  async #giveBack(key: string, claim: Revision | undefined): Promise<void> {
    const revision = claim ?? (await this.#store.get(key)).kv?.modRevision;
    if (revision !== undefined) await this.#store.delete(key, revision);
  }
}

/** For a dry run, which claims nothing (API-236): it reports an unclaimed address as claimed, at revision 0. */
export class AddressLooks implements AddressClaims {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor({ store, clock }: Pick<StoredAddressClaimsOptions, 'store' | 'clock'>) {
    this.#store = store;
    this.#clock = clock;
  }

  async claim(range: ClaimedRange, item: string): Promise<Revision | undefined> {
    const { kv } = await this.#store.get(claimPrefix(range) + item);
    return kv === undefined ? 0 : undefined;
  }

  claimWanted(range: ClaimedRange, item: string): Promise<Revision | undefined> {
    return tryForAMoment(this.#clock, () => this.claim(range, item));
  }

  giveBack(): void {
    // A dry run has claimed nothing, so there is nothing to release.
  }
}

async function tryForAMoment(clock: Clock, claim: () => Promise<Revision | undefined>): Promise<Revision | undefined> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const revision = await claim();
    if (revision !== undefined) return revision;
    await sleep(clock, AGAIN_MS);
  }
  return claim();
}
