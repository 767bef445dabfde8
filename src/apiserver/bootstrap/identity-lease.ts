import { createHash } from 'node:crypto';
import { formatMicroTime, parseTime } from '../../api/meta/time.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { stampCreated } from '../registry/object/object-meta.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { listPrefix, objectKey } from '../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';

export interface IdentityLeaseOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Text that no other server has, and that this one has again after a restart. */
  readonly identity: () => string;
}

const LEASES = { group: 'coordination.k8s.io', resource: 'leases', namespaced: true };
const NAMESPACE = 'kube-system';
const LABEL = 'apiserver.kubernetes.io/identity';
const DURATION_SECONDS = 3600;
const RENEW_EVERY_MS = 10_000;
const SWEEP_EVERY_MS = 3_600_000;

interface LeaseObject extends KubeObject {
  spec?: { leaseDurationSeconds?: number | null; renewTime?: string | null } & Record<string, unknown>;
}

/** True for the lease of an API server that is over or was never renewed (LIFE-204). `now` in epoch ms. */
export function isExpiredIdentity(lease: LeaseObject, now: number): boolean {
  if (lease.metadata?.labels?.[LABEL] !== 'kube-apiserver') return false;
  const { renewTime, leaseDurationSeconds } = lease.spec ?? {};
  const renewed = parseTime(renewTime ?? '');
  if (renewed === undefined || typeof leaseDurationSeconds !== 'number') return true;
  return renewed + leaseDurationSeconds * 1000 < now;
}

/**
 * The lease that says that this server lives, among several servers that share a store: Lease `kube-system/apiserver-<hash>` (LIFE-204,
 * upstream `controlplane/apiserver/server.go` and `controller/apiserverleasegc`). A server with a store of its own has no lease, so that it
 * writes nothing while nothing changes (designs/0005-several-servers-over-one-etcd.md). Only this class writes the lease of this server.
 */
export class IdentityLease {
  readonly #options: IdentityLeaseOptions;
  #state: 'stopped' | 'running' = 'stopped';
  #renewal: Timer | undefined;
  #sweep: Timer | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(options: IdentityLeaseOptions) {
    this.#options = options;
  }

  /** Resolves when the lease of an earlier process is replaced by that of this one. */
  async start(): Promise<void> {
    const { store } = this.#options;
    if (store.writers === undefined) return;
    this.#state = 'running';
    const { kv } = await store.get(this.#key());
    if (kv !== undefined) await store.delete(kv.key, kv.modRevision);
    await this.#renew();
    this.#armRenewal();
    this.#armSweep();
  }

  /** Deletes the lease, so that nobody waits an hour for it to expire. A failure is ignored. */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#renewal?.cancel();
    this.#sweep?.cancel();
    await this.#round;
    const { store, logger } = this.#options;
    try {
      const { kv } = await store.get(this.#key());
      if (kv !== undefined) await store.delete(kv.key, kv.modRevision);
    } catch (error) {
      logger.warn('failed to delete the lease of this server', { error: String(error) });
    }
  }

  #name(): string {
    return `apiserver-${createHash('sha256').update(this.#options.identity()).digest('hex').slice(0, 32)}`;
  }

  #key(): string {
    return objectKey(LEASES, NAMESPACE, this.#name());
  }

  /** Another writer may be faster; then the next round renews what it left. */
  async #renew(): Promise<void> {
    const { store, clock, random } = this.#options;
    const renewTime = formatMicroTime(clock.now());
    const { kv } = await store.get(this.#key());
    if (kv !== undefined) {
      const lease: LeaseObject = new StoredObject(kv).object();
      await store.update(kv.key, encodeStored({ ...lease, spec: { ...lease.spec, renewTime } }), kv.modRevision);
      return;
    }
    const name = this.#name();
    const lease: LeaseObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: NAMESPACE, labels: { [LABEL]: 'kube-apiserver' } },
      spec: { holderIdentity: `${name}_${random.uuid()}`, leaseDurationSeconds: DURATION_SECONDS, renewTime },
    };
    stampCreated(lease, random.uuid(), clock.now());
    await store.create(this.#key(), encodeStored(lease));
  }

  /** Deletes the leases of servers that died, each after a second read, and only if it is unchanged since. */
  async #deleteExpired(): Promise<void> {
    const { store, clock, logger } = this.#options;
    const isExpired = (kv: KeyValue): boolean => {
      const lease: LeaseObject = new StoredObject(kv).object();
      return isExpiredIdentity(lease, clock.now()) && (lease.metadata?.finalizers ?? []).length === 0;
    };
    const { items } = await store.list(listPrefix(LEASES, NAMESPACE));
    for (const { key } of items.filter(isExpired)) {
      const { kv } = await store.get(key);
      if (kv === undefined || !isExpired(kv)) continue;
      await store.delete(key, kv.modRevision);
      logger.info('deleted the lease of an API server that is gone', { key });
    }
  }

  #armRenewal(): void {
    this.#renewal = this.#timer(
      RENEW_EVERY_MS,
      () => this.#renew(),
      () => this.#armRenewal(),
    );
  }

  #armSweep(): void {
    this.#sweep = this.#timer(
      SWEEP_EVERY_MS,
      () => this.#deleteExpired(),
      () => this.#armSweep(),
    );
  }

  #timer(afterMs: number, work: () => Promise<void>, next: () => void): Timer {
    const { clock, logger } = this.#options;
    return clock.setTimer(afterMs, () => {
      this.#round = Promise.all([this.#round, work()])
        .then(() => undefined)
        .catch((error: unknown) => logger.warn('failed to keep the leases of API servers', { error: String(error) }))
        .finally(() => {
          if (this.#state === 'running') next();
        });
    });
  }
}
