import { Lru } from '../../base/collections/lru.ts';
import { type Epoch, FIRST_EPOCH } from '../types/epoch.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';

const ABSENT_OWNERS_DEFAULT = 500;

export interface AbsentOwnerCacheOptions {
  /** The capacity of the cache (COL-132, COL-201). */
  readonly capacity?: number;
}

interface Absence {
  readonly uid: Uid;
  /** In which the read began that proves it. */
  readonly epoch: Epoch;
}

/** No field can contain it. */
const SEPARATOR = '\u0000';

/**
 * Identities proven absent (COL-130...COL-135): the least recently used go when it is full. Presence is never cached
 * (COL-115). Bound: `capacity` entries. Absent owners that still have dependents are kept by the graph itself, without bound by this
 * cache (BETTER-15).
 */
export class AbsentOwnerCache {
  readonly #identities: Lru<string, Absence>;
  /** Keys by uid, to forget a uid that is seen alive. As many entries as `#identities`, or fewer. */
  readonly #keys = new Map<Uid, Set<string>>();

  constructor({ capacity = ABSENT_OWNERS_DEFAULT }: AbsentOwnerCacheOptions = {}) {
    this.#identities = new Lru({ capacity, onEvict: (key, { uid }) => this.#unindex(key, uid) });
  }

  get size(): number {
    return this.#identities.size;
  }

  /** `epoch`: in which the read began that proves it. A later proof stays valid. */
  note(identity: Identity, epoch: Epoch = FIRST_EPOCH): void {
    const key = keyOf(identity, identity.namespace);
    const keys = this.#keys.get(identity.uid);
    if (keys === undefined) this.#keys.set(identity.uid, new Set([key]));
    else keys.add(key);
    const before = this.#identities.get(key)?.epoch ?? epoch;
    this.#identities.set(key, { uid: identity.uid, epoch: before > epoch ? before : epoch });
  }

  /** Whether these coordinates are absent without namespace, or in the dependent's (COL-111), as was proven in `since` or later. A hit counts as use. */
  has(coordinates: Coordinates, namespace: string, since: Epoch = FIRST_EPOCH): boolean {
    if (!this.#keys.has(coordinates.uid)) return false;
    if (this.#counts(keyOf(coordinates, ''), since)) return true;
    return namespace !== '' && this.#counts(keyOf(coordinates, namespace), since);
  }

  #counts(key: string, since: Epoch): boolean {
    const absence = this.#identities.get(key);
    return absence !== undefined && absence.epoch >= since;
  }

  /** An object with this uid is alive (BETTER-14). */
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
