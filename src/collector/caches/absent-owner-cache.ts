import { Lru } from '../../base/collections/lru.ts';
import type { Coordinates, Identity, Uid } from '../types/identity.ts';
import type { InDoubt } from '../types/monitor-event.ts';

const ABSENT_OWNERS_DEFAULT = 500;

export interface AbsentOwnerCacheOptions {
  /** The capacity of the cache (COL-132, COL-201). */
  readonly capacity?: number;
}

/**
 * When: at any time, after the last {@link AbsentOwnerCache.doubt}, or after the last one that was about kube-apiserver too. That is enough
 * for owners that it has itself for certain.
 */
export type Proven = 'ever' | 'sinceLastDoubt' | 'sinceLastDoubtOfAll';

interface Absence {
  readonly uid: Uid;
  /** How many there had been when it was proven. */
  readonly doubts: number;
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
  #doubts = 0;
  /** How many there had been with the last one that was about all servers. */
  #doubtsOfAll = 0;

  constructor({ capacity = ABSENT_OWNERS_DEFAULT }: AbsentOwnerCacheOptions = {}) {
    this.#identities = new Lru({ capacity, onEvict: (key, { uid }) => this.#unindex(key, uid) });
  }

  get size(): number {
    return this.#identities.size;
  }

  /** How many there have been. Whoever reads takes the number before, and notes with it what the read proves. */
  get doubts(): number {
    return this.#doubts;
  }

  /** `doubts`: how many there had been when the read that proves it began; as many as now unless given. A later proof stays valid. */
  note(identity: Identity, doubts = this.#doubts): void {
    const key = keyOf(identity, identity.namespace);
    const keys = this.#keys.get(identity.uid);
    if (keys === undefined) this.#keys.set(identity.uid, new Set([key]));
    else keys.add(key);
    const before = this.#identities.get(key)?.doubts ?? 0;
    this.#identities.set(key, { uid: identity.uid, doubts: Math.max(before, doubts) });
  }

  /** Whether these coordinates are absent without namespace, or in the dependent's (COL-111). A hit counts as use. */
  has(coordinates: Coordinates, namespace: string, proven: Proven = 'ever'): boolean {
    if (!this.#keys.has(coordinates.uid)) return false;
    if (this.#counts(keyOf(coordinates, ''), proven)) return true;
    return namespace !== '' && this.#counts(keyOf(coordinates, namespace), proven);
  }

  /**
   * Something begins during which a backup of a server may be restored: what was absent before may be there after it. Answers how many
   * there have been, this one included.
   */
  doubt(about: InDoubt = 'all'): number {
    this.#doubts++;
    if (about === 'all') this.#doubtsOfAll = this.#doubts;
    return this.#doubts;
  }

  #counts(key: string, proven: Proven): boolean {
    const absence = this.#identities.get(key);
    if (absence === undefined || proven === 'ever') return absence !== undefined;
    return absence.doubts >= (proven === 'sinceLastDoubt' ? this.#doubts : this.#doubtsOfAll);
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
