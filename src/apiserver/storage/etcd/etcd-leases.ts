import type { Clock } from '../../../base/time/clock.ts';
import type { EtcdClient } from './etcd-client.ts';

/** How long a lease is reused. Its keys live at most that much longer. */
const REUSE_MS = 60_000;
/** The same as a fraction of the time to live, for short ones. */
const REUSE_PART = 0.05;
/** Maximum keys of a lease, because etcd removes all of them in one step. */
const KEYS_OF_A_LEASE = 1_000;

interface Grant {
  readonly id: Promise<bigint>;
  readonly grantedAt: number;
  readonly reuseMs: number;
  keys: number;
}

/**
 * Leases for keys with a time to live. A lease costs etcd as much as a write, so one serves all writes in the minute after its grant (like
 * apiserver's `storage/etcd3/lease_manager.go`).
 */
export class EtcdLeases {
  readonly #client: Pick<EtcdClient, 'grantLease'>;
  readonly #clock: Clock;
  /** The newest lease by time to live. Callers use only one time. */
  readonly #newest = new Map<number, Grant>();

  constructor({ client, clock }: { readonly client: Pick<EtcdClient, 'grantLease'>; readonly clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A lease that lasts at least `ttlMs`. */
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
    // The callers get the error; the next one tries again.
    id.catch(() => this.#forget(ttlMs, grant));
    return id;
  }

  /** etcd no longer knows the lease, because an administrator revoked it, or this process was stopped for a long time. */
  forget(ttlMs: number): void {
    this.#newest.delete(ttlMs);
  }

  #forget(ttlMs: number, grant: Grant): void {
    if (this.#newest.get(ttlMs) === grant) this.#newest.delete(ttlMs);
  }
}
