import type { Uid } from './identity.ts';
import { workKey } from './work-key.ts';
import { WorkKeyTable } from './work-key-table.ts';

export interface OrphanedOwnersOptions {
  /** Uids remembered at once (LIFE-561). */
  readonly capacity?: number;
  /** How long, ms (LIFE-561). */
  readonly lifetimeMs?: number;
}

const CAPACITY = 100_000;
const LIFETIME_MS = 3_600_000;
const INITIAL = 64;
const NONE = -1;

/**
 * Owners that went with policy Orphan (LIFE-560): who still refers to one of them came too late to be let go with the others,
 * and is let go by itself. Uids are never used again, so that nothing else is kept by it. Pure: times come from outside.
 *
 * Some 45 bytes an owner: those of an hour may be more than all else that the collector of a small cluster keeps.
 */
export class OrphanedOwners {
  /** Objects have had these uids, so nobody could choose them: the hash needs no seed. */
  readonly #uids = new WorkKeyTable(0);
  readonly #capacity: number;
  readonly #lifetimeMs: number;
  // By the handles of the uids, which are linked in the order of their records.
  /** Epoch ms. */
  #recordedAt = new Float64Array(INITIAL);
  #older = new Int32Array(INITIAL);
  #newer = new Int32Array(INITIAL);
  #oldest = NONE;
  #newest = NONE;

  constructor({ capacity = CAPACITY, lifetimeMs = LIFETIME_MS }: OrphanedOwnersOptions = {}) {
    this.#capacity = capacity;
    this.#lifetimeMs = lifetimeMs;
  }

  get size(): number {
    return this.#uids.size;
  }

  /** Beyond the capacity the oldest is forgotten. */
  record(uid: Uid, recordedAt: number): void {
    const before = this.size;
    const handle = this.#uids.acquire(workKey(uid, 'observed'));
    if (this.size === before) this.#unlink(handle);
    if (handle >= this.#recordedAt.length) this.#grow();
    this.#recordedAt[handle] = recordedAt;
    this.#append(handle);
    while (this.size > this.#capacity || recordedAt - this.#recordedAt[this.#oldest]! > this.#lifetimeMs) {
      const oldest = this.#oldest;
      this.#unlink(oldest);
      this.#uids.release(oldest);
    }
  }

  has(uid: Uid, now: number): boolean {
    const handle = this.#uids.find(workKey(uid, 'observed'));
    return handle >= 0 && now - this.#recordedAt[handle]! <= this.#lifetimeMs;
  }

  #append(handle: number): void {
    this.#older[handle] = this.#newest;
    this.#newer[handle] = NONE;
    if (this.#newest === NONE) this.#oldest = handle;
    else this.#newer[this.#newest] = handle;
    this.#newest = handle;
  }

  #unlink(handle: number): void {
    const older = this.#older[handle]!;
    const newer = this.#newer[handle]!;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
  }

  #grow(): void {
    const length = this.#recordedAt.length * 2;
    const recordedAt = new Float64Array(length);
    recordedAt.set(this.#recordedAt);
    this.#recordedAt = recordedAt;
    this.#older = widened(this.#older, length);
    this.#newer = widened(this.#newer, length);
  }
}

function widened(words: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(length);
  wide.set(words);
  return wide;
}
