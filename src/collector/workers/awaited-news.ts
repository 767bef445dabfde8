import { Lru } from '../../base/collections/lru.ts';
import type { Graph } from '../graph/graph.ts';
import type { Uid } from '../types/identity.ts';

/** As many as accepted ends. */
const CAPACITY = 4096;

/**
 * Objects that were let go because of something newer than what the graph has: a write that the server accepted, or what a read showed.
 * The news of it will come, and calls for whatever is left to do. If the server is away meanwhile it may never come: one that was restored
 * from a backup may have the object at the very version that the graph has, and nothing that it shows is a change (designs/0011).
 */
export class AwaitedNews {
  readonly #graph: Pick<Graph, 'versionOf'>;
  /** By uid: the lowest version that the news can be of. Older news, which may be under way as well, tells nothing of it. */
  readonly #versions = new Lru<Uid, number>({ capacity: CAPACITY });

  constructor(graph: Pick<Graph, 'versionOf'>) {
    this.#graph = graph;
  }

  /** Known ones, and those whose news has come since. */
  get size(): number {
    return this.#versions.size;
  }

  /** A read has shown the object in this version. */
  noteRead(uid: Uid, version: number): void {
    const recorded = this.#graph.versionOf(uid);
    if (version > recorded) this.#versions.set(uid, version);
    // The server has gone back, and the graph will hear of it.
    if (version < recorded) this.#versions.set(uid, recorded + 1);
  }

  /**
   * A write was answered that rests on this version of the object, or on what the graph has if that is newer or the version is NaN. What
   * came in between is not known: of what the graph does not have nothing is awaited, as whatever is shown of it is news.
   */
  noteWritten(uid: Uid, version: number): void {
    const recorded = this.#graph.versionOf(uid);
    if (!Number.isNaN(recorded)) this.#versions.set(uid, 1 + (version > recorded ? version : recorded));
  }

  /** Those whose news has not come. None is known afterwards. */
  take(): Uid[] {
    this.forgetShown();
    const awaited = [...this.#versions.entries()].map(([uid]) => uid);
    this.#versions.clear();
    return awaited;
  }

  /** Those whose news has come are let go. */
  forgetShown(): void {
    for (const [uid, version] of this.#versions.entries()) {
      const isAwaited = this.#graph.versionOf(uid) < version;
      if (!isAwaited) this.#versions.delete(uid);
    }
  }
}
