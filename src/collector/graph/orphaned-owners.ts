import type { Uid } from './identity.ts';

export interface OrphanedOwnersOptions {
  /** Uids remembered at once (LIFE-561). */
  readonly capacity?: number;
  /** How long, ms (LIFE-561). */
  readonly lifetimeMs?: number;
}

const CAPACITY = 100_000;
const LIFETIME_MS = 3_600_000;

/**
 * Owners that went with policy Orphan (LIFE-560): who still refers to one of them came too late to be let go with the others,
 * and is let go by itself. Uids are never used again, so that nothing else is kept by it. Pure: times come from outside.
 */
export class OrphanedOwners {
  /** Epoch ms of the record, oldest first. */
  readonly #recordedAt = new Map<Uid, number>();
  readonly #capacity: number;
  readonly #lifetimeMs: number;

  constructor({ capacity = CAPACITY, lifetimeMs = LIFETIME_MS }: OrphanedOwnersOptions = {}) {
    this.#capacity = capacity;
    this.#lifetimeMs = lifetimeMs;
  }

  get size(): number {
    return this.#recordedAt.size;
  }

  /** Beyond the capacity the oldest is forgotten. */
  record(uid: Uid, recordedAt: number): void {
    this.#recordedAt.delete(uid);
    this.#recordedAt.set(uid, recordedAt);
    for (const oldest of this.#recordedAt.keys()) {
      const expired = recordedAt - this.#recordedAt.get(oldest)! > this.#lifetimeMs;
      if (!expired && this.#recordedAt.size <= this.#capacity) return;
      this.#recordedAt.delete(oldest);
    }
  }

  has(uid: Uid, now: number): boolean {
    const recordedAt = this.#recordedAt.get(uid);
    return recordedAt !== undefined && now - recordedAt <= this.#lifetimeMs;
  }
}
