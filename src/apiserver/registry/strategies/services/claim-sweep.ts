import type { Clock, Timer } from '../../../../base/time/clock.ts';
import type { Logger } from '../../../../base/logs/logger.ts';
import type { Revision, Store } from '../../../storage/interface.ts';
import { resourcePrefix } from '../../../storage/storage-keys.ts';
import { StoredObject } from '../../../storage/stored-object.ts';
import { type ClaimedRange, claimPrefix } from './address-claims.ts';
import { addressesOf, portsOf } from './service-addresses.ts';
import type { ServiceSpec } from './service-spec.ts';

/**
 * Interval between sweeps. It is much longer than a request, which claims first and stores its service last. kube-apiserver
 * repairs its ranges at the same interval.
 */
const SWEEP_EVERY_MS = 180_000;

const RANGES: Readonly<Record<ClaimedRange, (spec: ServiceSpec) => readonly string[]>> = {
  serviceips: addressesOf,
  servicenodeports: (spec) => portsOf(spec).map(String),
};

export interface ClaimSweepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Releases unused claims: a server died between the claim and its service, the store did not answer whether it wrote the service, or could
 * not release the claim. A claim is unused if two sweeps in a row found it unchanged and without a service. A service without a claim gets
 * one. Several servers may sweep at once, because every deletion has a precondition.
 */
export class ClaimSweep {
  readonly #options: ClaimSweepOptions;
  /** The revisions of claims without a service at the last sweep. */
  #suspects = new Map<string, Revision>();
  #timer: Timer | undefined;
  #state: 'stopped' | 'running' = 'stopped';

  constructor(options: ClaimSweepOptions) {
    this.#options = options;
  }

  /** Does nothing if the store has one writer, which needs no claims. */
  start(): void {
    if (this.#state === 'running' || this.#options.store.writers === undefined) return;
    this.#state = 'running';
    this.#arm();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#timer?.cancel();
  }

  /** The number of released claims, and of claims for services that had none. */
  async sweep(): Promise<{ readonly returned: number; readonly made: number }> {
    const { store } = this.#options;
    // Claims are listed before services, so a claim that is created in between is not in this list and is not released.
    const claims = new Map<string, Revision>();
    for (const range of Object.keys(RANGES) as ClaimedRange[]) {
      for (const { key, modRevision } of (await store.list(claimPrefix(range))).items) claims.set(key, modRevision);
    }
    const needed = await this.#needed();
    let made = 0;
    for (const key of needed) {
      if (!claims.has(key) && (await store.create(key, Buffer.from('{}'))).succeeded) made++;
    }
    const suspects = new Map([...claims].filter(([key]) => !needed.has(key)));
    let returned = 0;
    for (const [key, revision] of suspects) {
      if (this.#suspects.get(key) === revision && (await store.delete(key, revision)).succeeded) returned++;
    }
    this.#suspects = suspects;
    return { returned, made };
  }

  async #needed(): Promise<Set<string>> {
    const { items } = await this.#options.store.list(resourcePrefix({ group: '', resource: 'services' }));
    const keys = new Set<string>();
    for (const kv of items) {
      const spec = (new StoredObject(kv).object()['spec'] ?? {}) as ServiceSpec;
      for (const [range, itemsOf] of Object.entries(RANGES) as [ClaimedRange, (spec: ServiceSpec) => string[]][]) {
        for (const item of itemsOf(spec)) if (item !== 'None') keys.add(claimPrefix(range) + item);
      }
    }
    return keys;
  }

  #arm(): void {
    const { clock, logger } = this.#options;
    this.#timer = clock.setTimer(SWEEP_EVERY_MS, () => {
      this.sweep()
        .then(({ returned, made }) => {
          if (returned + made > 0) logger.info('repaired claims of service addresses', { returned, made });
        })
        .catch((error: unknown) => {
          if (this.#state !== 'running') return;
          logger.warn('failed to check the claims of service addresses', { error: String(error) });
        })
        .finally(() => {
          if (this.#state === 'running') this.#arm();
        });
    });
  }
}
