import { Lru } from '../../base/collections/lru.ts';
import { type Epoch, FIRST_EPOCH } from '../types/epoch.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';

const ABSENT_OWNERS_DEFAULT = 500;

interface AbsentOwnerCacheOptions {
  /** The capacity of the cache (COL-132, COL-201). */
  readonly capacity?: number;
}

interface Absence {
  readonly uid: Uid;
  /** The epoch in which the proving read began. */
  readonly epoch: Epoch;
}

/** No field can contain this character. */
const SEPARATOR = '\u0000';

/**
 * Identities that are proven absent (COL-130...COL-135). When the cache is full, it drops the least recently used. It never caches presence
 * (COL-115). Bound: `capacity` entries. The graph itself keeps absent owners that still have dependents; this cache does not bound their
 * number (BETTER-15).
 */
export class AbsentOwnerCache {
  readonly #identities: Lru<string, Absence>;
  /** The keys of each uid, to drop a uid that is seen alive. At most as many entries as `#identities`. */
  readonly #keys = new Map<Uid, Set<string>>();

  constructor({ capacity = ABSENT_OWNERS_DEFAULT }: AbsentOwnerCacheOptions = {}) {
    this.#identities = new Lru({ capacity, onEvict: (key, { uid }) => this.#unindex(key, uid) });
  }

  get size(): number {
    return this.#identities.size;
  }

  /** `epoch`: the epoch in which the proving read began. An existing proof of a later epoch is kept. */
  note(identity: Identity, epoch: Epoch = FIRST_EPOCH): void {
    const key = keyOf(identity, identity.namespace);
    const keys = this.#keys.get(identity.uid);
    if (keys === undefined) this.#keys.set(identity.uid, new Set([key]));
    else keys.add(key);
    const before = this.#identities.get(key)?.epoch ?? epoch;
    this.#identities.set(key, { uid: identity.uid, epoch: before > epoch ? before : epoch });
  }

  /**
   * Whether an object with these coordinates was proven absent, without a namespace or in the dependent's (COL-111), by a read that began
   * in `since` or later. A hit counts as use.
   */
  has(coordinates: Coordinates, namespace: string, since: Epoch = FIRST_EPOCH): boolean {
    if (!this.#keys.has(coordinates.uid)) return false;
    if (this.#counts(keyOf(coordinates, ''), since)) return true;
    return namespace !== '' && this.#counts(keyOf(coordinates, namespace), since);
  }

  #counts(key: string, since: Epoch): boolean {
    const absence = this.#identities.get(key);
    return absence !== undefined && absence.epoch >= since;
  }

  /** Forgets a uid that is alive (BETTER-14). */
  drop(uid: Uid): void {
    for (const key of this.#keys.get(uid) ?? []) this.#identities.delete(key);
    this.#keys.delete(uid);
  }

  /** For a server whose history was reset. */
  clear(): void {
    this.#identities.clear();
    this.#keys.clear();
  }

  #unindex(key: string, uid: Uid): void {
    const keys = this.#keys.get(uid)!;
    keys.delete(key);
    if (keys.size === 0) this.#keys.delete(uid);
  }
}

function keyOf({ apiVersion, kind, name, uid }: Coordinates, namespace: string): string {
  return [apiVersion, kind, name, uid, namespace].join(SEPARATOR);
}
