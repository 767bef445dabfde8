import { type Clock, sleep } from '../../../base/clock.ts';
import type { Revision, Store } from '../../storage/interface.ts';
import { REGISTRY_ROOT } from '../../storage/storage-keys.ts';

/** What there is only so much of; the last part of a claim's prefix. */
export type ClaimedRange = 'serviceips' | 'servicenodeports';

/** Who may use an address, beyond what one server can know by itself. */
export interface AddressClaims {
  /** `taken`: another server has given it away, or is about to. */
  claim(range: ClaimedRange, item: string): Promise<'ours' | 'taken'>;
  /** The same for one that a client has asked for by name: tries for a moment, because no other one will do. */
  claimWanted(range: ClaimedRange, item: string): Promise<'ours' | 'taken'>;
  /** Best effort, and not waited for; {@link ClaimSweep} returns what is left over. */
  giveBack(range: ClaimedRange, item: string): void;
}

/** One server only: what is free in its memory is free. */
export const noAddressClaims: AddressClaims = {
  claim: () => Promise.resolve('ours'),
  claimWanted: () => Promise.resolve('ours'),
  giveBack: () => undefined,
};

/** Under it lies a key for each claim. */
export function claimPrefix(range: ClaimedRange): string {
  return `${REGISTRY_ROOT}ranges/${range}/`;
}

const EMPTY = Buffer.from('{}');

/** A service that was deleted on another server a moment ago may not have given its address back yet. */
const AGAIN_MS = 50;
const ATTEMPTS = 6;

export interface StoredAddressClaimsOptions {
  readonly store: Store;
  readonly clock: Clock;
}

/** A key that only one create can make is a claim. Costs a write for each address; needed where several servers write. */
export class StoredAddressClaims implements AddressClaims {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Claims of this server, until they are given back; as many as it has made services. */
  readonly #revisions = new Map<string, Revision>();

  constructor({ store, clock }: StoredAddressClaimsOptions) {
    this.#store = store;
    this.#clock = clock;
  }

  async claim(range: ClaimedRange, item: string): Promise<'ours' | 'taken'> {
    const key = claimPrefix(range) + item;
    const written = await this.#store.create(key, EMPTY);
    if (!written.succeeded) return 'taken';
    this.#revisions.set(key, written.kv.modRevision);
    return 'ours';
  }

  async claimWanted(range: ClaimedRange, item: string): Promise<'ours' | 'taken'> {
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      if ((await this.claim(range, item)) === 'ours') return 'ours';
      await sleep(this.#clock, AGAIN_MS);
    }
    return this.claim(range, item);
  }

  giveBack(range: ClaimedRange, item: string): void {
    const key = claimPrefix(range) + item;
    // What cannot be given back now is found by the sweep.
    this.#giveBack(key).catch(() => undefined);
  }

  async #giveBack(key: string): Promise<void> {
    const revision = this.#revisions.get(key) ?? (await this.#store.get(key)).kv?.modRevision;
    this.#revisions.delete(key);
    if (revision !== undefined) await this.#store.delete(key, revision);
  }
}
