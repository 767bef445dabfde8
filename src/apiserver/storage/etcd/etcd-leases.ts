import type { Clock } from '../../../base/time/clock.ts';
import type { EtcdClient } from './etcd-client.ts';

/** How long a lease is given out again; what it is attached to lives that much longer at most. */
const REUSE_MS = 60_000;
/** Of the time to live, for short ones. */
const REUSE_PART = 0.05;
/** etcd removes all keys of a lease in one step, so they must not be too many. */
const KEYS_OF_A_LEASE = 1_000;

interface Grant {
  readonly id: Promise<bigint>;
  readonly grantedAt: number;
  readonly reuseMs: number;
  keys: number;
}

/**
 * Leases for keys that live for a time. A lease costs etcd as much as a write, so one serves everything that is written in the
 * minute after it was granted (as in apiserver's `storage/etcd3/lease_manager.go`).
 */
export class EtcdLeases {
  readonly #client: Pick<EtcdClient, 'grantLease'>;
  readonly #clock: Clock;
  /** By time to live; there are as many as the callers know of, which is one. */
  readonly #newest = new Map<number, Grant>();

  constructor({ client, clock }: { readonly client: Pick<EtcdClient, 'grantLease'>; readonly clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A lease that lasts at least `ttlMs` more. */
  lease(ttlMs: number): Promise<bigint> {
    const now = this.#clock.monotonic();
    const newest = this.#newest.get(ttlMs);
    if (newest !== undefined && now - newest.grantedAt < newest.reuseMs && newest.keys < KEYS_OF_A_LEASE) {
      newest.keys++;
      return newest.id;
    }
    const reuseMs = Math.min(REUSE_MS, ttlMs * REUSE_PART);
    const id = this.#client.grantLease(Math.ceil((ttlMs + reuseMs) / 1000));
    const grant: Grant = { id, grantedAt: now, reuseMs, keys: 1 };
    this.#newest.set(ttlMs, grant);
    // The callers are told; the next one tries again.
    id.catch(() => this.#forget(ttlMs, grant));
    return id;
  }

  /** etcd does not know the lease any more: an administrator revoked it, or this process was stopped for a long time. */
  forget(ttlMs: number): void {
    this.#newest.delete(ttlMs);
  }

  #forget(ttlMs: number, grant: Grant): void {
    if (this.#newest.get(ttlMs) === grant) this.#newest.delete(ttlMs);
  }
}
