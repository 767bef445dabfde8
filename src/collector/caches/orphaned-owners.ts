import { digestUuid } from '../../base/random/digest-uuid.ts';
import type { Identity } from '../types/identity.ts';
import { type WorkKey, workKey } from '../queues/work-key.ts';
import { WorkKeyTable } from '../queues/work-key-table.ts';

/** The identity of a former owner. It has no version, because one object may be served in several versions. */
export type OrphanedOwner = Omit<Identity, 'apiVersion'>;

interface OrphanedOwnersOptions {
  /** Maximum number of owners that are remembered (LIFE-561). */
  readonly capacity?: number;
  /** How long an owner is remembered, ms (LIFE-561). */
  readonly lifetimeMs?: number;
}

const CAPACITY = 100_000;
const LIFETIME_MS = 3_600_000;
const INITIAL = 64;
const NONE = -1;

/** Whether an Event of the record exists. */
const ONLY_HERE = 0;
const CONFIRMED = 1;
const QUESTIONED = 2;

/**
 * Owners that were deleted with policy Orphan (LIFE-560). A dependent that still refers to one of them appeared too late to be orphaned
 * with the others, and is orphaned by itself. Uids are never reused, so this keeps no other object. A uid counts only with the coordinates
 * that the owner had (COL-241). Pure: the caller passes all times.
 *
 * Each owner is kept as a digest of its uid and coordinates, and nobody can find another owner with the same digest, so a false record
 * cannot take the place of a true one. An owner takes some 45 bytes. The owners of one hour may take more memory than everything else that
 * the collector of a small cluster keeps.
 */
export class OrphanedOwners {
  /** The keys are digests, which clients cannot choose: the hash needs no seed. */
  readonly #keys = new WorkKeyTable(0);
  readonly #capacity: number;
  readonly #lifetimeMs: number;
  // Indexed by the handles of the keys. Records are linked in the order in which they got their times; records that are read come in the
  // server's order. An order that differs from the order of the times costs only memory: an expired record may stay until the records
  // before it expire, and `has` checks the record's own time.
  /** Epoch ms. */
  #recordedAt = new Float64Array(INITIAL);
  #event = new Uint8Array(INITIAL);
  #older = new Int32Array(INITIAL);
  #newer = new Int32Array(INITIAL);
  #oldest = NONE;
  #newest = NONE;

  constructor({ capacity = CAPACITY, lifetimeMs = LIFETIME_MS }: OrphanedOwnersOptions = {}) {
    this.#capacity = capacity;
    this.#lifetimeMs = lifetimeMs;
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * The later of two times counts. `recordedAt` is the time of an earlier record; a time in the future counts as now. Beyond the capacity
   * the oldest record is forgotten. Whether the record's Event exists is unknown until it is confirmed.
   */
  record(owner: OrphanedOwner, now: number, recordedAt = now): void {
    if (now - recordedAt > this.#lifetimeMs) return;
    const before = this.size;
    const handle = this.#keys.acquire(keyOf(owner));
    const isKnown = this.size === before;
    if (handle >= this.#recordedAt.length) this.#grow();
    const last = isKnown ? this.#recordedAt[handle]! : Number.NEGATIVE_INFINITY;
    this.#event[handle] = ONLY_HERE;
    // An existing record with a later time keeps its time and its place, unless the clock was set back.
    if (recordedAt < last && last <= now) return;
    if (isKnown) this.#unlink(handle);
    this.#recordedAt[handle] = Math.min(Math.max(recordedAt, last), now);
    this.#append(handle);
    while (this.size > this.#capacity || now - this.#recordedAt[this.#oldest]! > this.#lifetimeMs) {
      this.#forget(this.#oldest);
    }
  }

  /** An Event of the owner exists. Does nothing if the owner is not remembered. */
  confirm(owner: OrphanedOwner): void {
    const handle = this.#keys.find(keyOf(owner));
    if (handle >= 0) this.#event[handle] = CONFIRMED;
  }

  /** The Events may have changed. A confirmed record still counts, but must be confirmed again. O(records). */
  question(): void {
    for (let handle = this.#oldest; handle !== NONE; handle = this.#newer[handle]!) {
      if (this.#event[handle] === CONFIRMED) this.#event[handle] = QUESTIONED;
    }
  }

  /** Call it after all existing Events were read. Records that never had an Event stay. O(records). */
  forgetQuestioned(): void {
    for (let handle = this.#oldest; handle !== NONE;) {
      const next = this.#newer[handle]!;
      if (this.#event[handle] === QUESTIONED) this.#forget(handle);
      handle = next;
    }
  }

  has(owner: OrphanedOwner, now: number): boolean {
    if (this.size === 0) return false;
    const handle = this.#keys.find(keyOf(owner));
    return handle >= 0 && now - this.#recordedAt[handle]! <= this.#lifetimeMs;
  }

  #forget(handle: number): void {
    this.#unlink(handle);
    this.#keys.release(handle);
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
    const event = new Uint8Array(length);
    event.set(this.#event);
    this.#event = event;
    this.#older = widened(this.#older, length);
    this.#newer = widened(this.#newer, length);
  }
}

/** The key has the form of a uid, so the table keeps no text for it. */
function keyOf({ kind, namespace, name, uid }: OrphanedOwner): WorkKey {
  return workKey(digestUuid(uid, kind, namespace, name), 'observed');
}

function widened(words: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(length);
  wide.set(words);
  return wide;
}
