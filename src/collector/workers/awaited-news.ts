import { Lru } from '../../base/lru.ts';
import type { Uid } from '../graph/identity.ts';

/** As many as accepted ends. */
const CAPACITY = 4096;

/** The version that the graph has now; NaN: none. */
export type VersionOf = (uid: Uid) => number;

/**
 * Objects that were let go because of something newer than what the graph has: a write that the server accepted, or what a read showed.
 * The news of it will come, and calls for whatever is left to do. If the server is away meanwhile it may never come: one that was restored
 * from a backup may have the object at the very version that the graph has, and nothing that it shows is a change (designs/0011).
 */
export class AwaitedNews {
  /** By uid: the version that the graph had. */
  readonly #versions = new Lru<Uid, number>({ capacity: CAPACITY });

  /** Known ones, and those whose news has come since. */
  get size(): number {
    return this.#versions.size;
  }

  note(uid: Uid, version: number): void {
    this.#versions.set(uid, version);
  }

  /** Those whose news has not come. None is known afterwards. */
  take(versionOf: VersionOf): Uid[] {
    this.forgetShown(versionOf);
    const awaited = [...this.#versions.entries()].map(([uid]) => uid);
    this.#versions.clear();
    return awaited;
  }

  /** Those whose news has come are let go. */
  forgetShown(versionOf: VersionOf): void {
    for (const [uid, version] of this.#versions.entries()) {
      if (versionOf(uid) !== version) this.#versions.delete(uid);
    }
  }
}
