import { digestUuid } from '../../base/random/digest-uuid.ts';
import type { Identity } from '../types/identity.ts';
import { type WorkKey, workKey } from '../queues/work-key.ts';
import { WorkKeyTable } from '../queues/work-key-table.ts';

/** The identity of a former owner. The version in a reference makes no difference: one object may be served in several. */
export type OrphanedOwner = Omit<Identity, 'apiVersion'>;

export interface OrphanedOwnersOptions {
  /** Owners remembered at once (LIFE-561). */
  readonly capacity?: number;
  /** How long, ms (LIFE-561). */
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
 * Owners that went with policy Orphan (LIFE-560): a dependent that still refers to one of them appeared too late to be orphaned with the others,
 * and is orphaned by itself. Uids are never reused, so no other object is kept; and a uid counts only with the coordinates that the owner had
 * (COL-241). Pure: times come from outside.
 *
 * Each is kept as a digest of uid and coordinates, which nobody can find another owner for: a record that is not true must
 * neither stand for one that is, nor take its place. Some 45 bytes an owner: those of an hour may be more than all else that
 * the collector of a small cluster keeps.
 */
export class OrphanedOwners {
  /** The keys are digests, which clients cannot choose: the hash needs no seed. */
  readonly #keys = new WorkKeyTable(0);
  readonly #capacity: number;
  readonly #lifetimeMs: number;
  // By the handles of the keys. They are linked in the order in which they took their times; those that are read come as the server
  // has them. An order that is not that of the times costs memory only: one that is too old may stay until those before it are, and
  // `has` looks at its own time.
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
   * The later of two times counts. `recordedAt` is the time of an earlier record: one to come is taken for now. Beyond the
   * capacity the first is forgotten. Whether its Event exists is open until it is confirmed.
   */
  record(owner: OrphanedOwner, now: number, recordedAt = now): void {
    if (now - recordedAt > this.#lifetimeMs) return;
    const before = this.size;
    const handle = this.#keys.acquire(keyOf(owner));
    const isKnown = this.size === before;
    if (handle >= this.#recordedAt.length) this.#grow();
    const last = isKnown ? this.#recordedAt[handle]! : Number.NEGATIVE_INFINITY;
    this.#event[handle] = ONLY_HERE;
    // A known one that is later keeps its time and its place, unless the clock was set back.
    if (recordedAt < last && last <= now) return;
    if (isKnown) this.#unlink(handle);
    this.#recordedAt[handle] = Math.min(Math.max(recordedAt, last), now);
    this.#append(handle);
    while (this.size > this.#capacity || now - this.#recordedAt[this.#oldest]! > this.#lifetimeMs) {
      this.#forget(this.#oldest);
    }
  }

  /** An Event of it is there. Nothing if it is not remembered. */
  confirm(owner: OrphanedOwner): void {
    const handle = this.#keys.find(keyOf(owner));
    if (handle >= 0) this.#event[handle] = CONFIRMED;
  }

  /** The Events may be others now: what one of them confirmed counts on, but has to be confirmed anew. O(records). */
  question(): void {
    for (let handle = this.#oldest; handle !== NONE; handle = this.#newer[handle]!) {
      if (this.#event[handle] === CONFIRMED) this.#event[handle] = QUESTIONED;
    }
  }

  /** All existing Events were read. Records that never had one stay. O(records). */
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

/** In the form of a uid, of which the table keeps no text. */
function keyOf({ kind, namespace, name, uid }: OrphanedOwner): WorkKey {
  return workKey(digestUuid(uid, kind, namespace, name), 'observed');
}

function widened(words: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(length);
  wide.set(words);
  return wide;
}
