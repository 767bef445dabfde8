import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock } from '../../base/time/clock.ts';

/** How long a cache that does not show a write delays its owner, ms (LIFE-008). */
const EXPECTATION_MS = 5 * 60 * 1000;

/** A cache and its progress. */
interface ExpectingCache {
  /** All changes up to this resource version have been seen. */
  readonly resourceVersion: string;
  get(key: string): KubeObject | undefined;
}

interface Version {
  /** As a number, because resource versions of one resource can be compared. */
  version: number;
  until: number;
}

interface Deletion {
  readonly key: string;
  readonly uid: string;
  readonly until: number;
}

interface OfOwner {
  readonly versions: Map<ExpectingCache, Version>;
  readonly deletions: Map<ExpectingCache, Deletion[]>;
}

/**
 * Writes of a controller for an owner that its caches do not show yet (LIFE-008, LIFE-009). A write is shown once the cache has reached its
 * resource version; a deletion once the object is gone, terminating or replaced by another of its name, whoever controls it (LIFE-021).
 * Bound: five minutes for a write, and for each owner one number per cache and one entry per pending deletion.
 */
export class Expectations {
  readonly #clock: Clock;
  readonly #owners = new Map<string, OfOwner>();
  /** Owner keys by the uid of a deleted object, so that the event of an object that changed its owner wakes the waiting one. */
  readonly #waiting = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the resource version of a write. A version that is not a number delays nothing. */
  wrote(owner: string, cache: ExpectingCache, object: KubeObject): void {
    const version = Number(object.metadata?.resourceVersion);
    if (!Number.isFinite(version)) return;
    const { versions } = this.#of(owner);
    const known = versions.get(cache);
    const until = this.#clock.monotonic() + EXPECTATION_MS;
    if (known === undefined) versions.set(cache, { version, until });
    else if (version > known.version) Object.assign(known, { version, until });
  }

  /** Records the accepted deletion of this object. */
  deleted(owner: string, cache: ExpectingCache, { metadata }: KubeObject): void {
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    const { deletions } = this.#of(owner);
    const list = deletions.get(cache) ?? [];
    if (list.length === 0) deletions.set(cache, list);
    const key = namespace === '' ? name : `${namespace}/${name}`;
    list.push({ key, uid, until: this.#clock.monotonic() + EXPECTATION_MS });
    this.#waiting.set(uid, owner);
  }

  /** The owner that waits for the deletion of this uid. */
  waitingFor(uid: string | undefined): string | undefined {
    return uid === undefined ? undefined : this.#waiting.get(uid);
  }

  /** True if the caches show all writes for this owner, or the time is over. */
  satisfied(owner: string): boolean {
    const of = this.#owners.get(owner);
    if (of === undefined) return true;
    const now = this.#clock.monotonic();
    for (const [cache, { version, until }] of of.versions) {
      const reached = Number(cache.resourceVersion);
      if (!(reached < version) || now >= until) of.versions.delete(cache);
    }
    for (const [cache, list] of of.deletions) {
      const pending = list.filter((deletion) => now < deletion.until && !shows(cache, deletion));
      for (const deletion of list) if (!pending.includes(deletion)) this.#waiting.delete(deletion.uid);
      if (pending.length === 0) of.deletions.delete(cache);
      else of.deletions.set(cache, pending);
    }
    if (of.versions.size > 0 || of.deletions.size > 0) return false;
    this.#owners.delete(owner);
    return true;
  }

  /** The owner is gone. Another one with its name starts without expectations (LIFE-269). */
  forget(owner: string): void {
    for (const list of this.#owners.get(owner)?.deletions.values() ?? []) {
      for (const { uid } of list) this.#waiting.delete(uid);
    }
    this.#owners.delete(owner);
  }

  #of(owner: string): OfOwner {
    let of = this.#owners.get(owner);
    if (of === undefined) this.#owners.set(owner, (of = { versions: new Map(), deletions: new Map() }));
    return of;
  }
}

function shows(cache: ExpectingCache, { key, uid }: Deletion): boolean {
  const metadata = cache.get(key)?.metadata;
  return metadata === undefined || metadata.uid !== uid || (metadata.deletionTimestamp ?? '') !== '';
}
