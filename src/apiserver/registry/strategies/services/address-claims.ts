import { type Clock, sleep } from '../../../../base/time/clock.ts';
import type { Random } from '../../../../base/random/random.ts';
import type { Revision, Store } from '../../../storage/interface.ts';
import { REGISTRY_ROOT } from '../../../storage/storage-keys.ts';

/** The limited resource; the last part of a claim's prefix. */
export type ClaimedRange = 'serviceips' | 'servicenodeports';

/** The owners of addresses, across servers. */
export interface AddressClaims {
  /** Revision of the claim; undefined: another server has given it away, or is about to. */
  claim(range: ClaimedRange, item: string): Promise<Revision | undefined>;
  /** The same for one that a client has asked for by name: tries for a moment, because no other one will do. */
  claimWanted(range: ClaimedRange, item: string): Promise<Revision | undefined>;
  /**
   * Without a revision it is the address of a stored service, whose claim any server may have made. It is best effort and has no wait;
   * {@link ClaimSweep} returns what is left over.
   */
  giveBack(range: ClaimedRange, item: string, claim?: Revision): void;
}

/** One server only: what is free in its memory is free. */
export const noAddressClaims: AddressClaims = {
  claim: () => Promise.resolve(0),
  claimWanted: () => Promise.resolve(0),
  giveBack: () => undefined,
};

/** Under it lies a key for each claim. */
export function claimPrefix(range: ClaimedRange): string {
  return `${REGISTRY_ROOT}ranges/${range}/`;
}

/** A service that was deleted on another server a moment ago may not have given its address back yet. */
const AGAIN_MS = 50;
const ATTEMPTS = 6;

export interface StoredAddressClaimsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** A key that only one create can make is a claim. Costs a write for each address; needed where several servers write. */
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
    // A store that has lost an answer knows its own write by the bytes: no two claims have the same.
    const value = Buffer.from(JSON.stringify({ uid: this.#random.uuid() }));
    const written = await this.#store.create(claimPrefix(range) + item, value);
    return written.succeeded ? written.kv.modRevision : undefined;
  }

  claimWanted(range: ClaimedRange, item: string): Promise<Revision | undefined> {
    return tryForAMoment(this.#clock, () => this.claim(range, item));
  }

  giveBack(range: ClaimedRange, item: string, claim?: Revision): void {
    // The sweep finds claims that cannot be returned now.
    this.#giveBack(claimPrefix(range) + item, claim).catch(() => undefined);
  }

  async #giveBack(key: string, claim: Revision | undefined): Promise<void> {
    const revision = claim ?? (await this.#store.get(key)).kv?.modRevision;
    if (revision !== undefined) await this.#store.delete(key, revision);
  }
}

/** For a dry run, which claims nothing (API-236): an unclaimed address is reported as its own, at revision 0. */
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
    // Nothing was claimed.
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
