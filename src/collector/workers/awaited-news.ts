import { Lru } from '../../base/lru.ts';
import type { Graph } from '../graph/graph.ts';
import type { Uid } from '../graph/identity.ts';

/** As many as accepted ends. */
const CAPACITY = 4096;

/**
 * Objects that were let go because of something newer than what the graph has: a write that the server accepted, or what a read showed.
 * The news of it will come, and calls for whatever is left to do. If the server is away meanwhile it may never come: one that was restored
 * from a backup may have the object at the very version that the graph has, and nothing that it shows is a change (designs/0011).
 */
export class AwaitedNews {
  readonly #graph: Pick<Graph, 'versionOf'>;
  /** By uid: the version that the graph had. */
  readonly #versions = new Lru<Uid, number>({ capacity: CAPACITY });

  constructor(graph: Pick<Graph, 'versionOf'>) {
    this.#graph = graph;
  }

  /** Known ones, and those whose news has come since. */
  get size(): number {
    return this.#versions.size;
  }

  /** Of whom the graph knows no version nothing is awaited: whatever is shown is news. */
  note(uid: Uid): void {
    const version = this.#graph.versionOf(uid);
    if (!Number.isNaN(version)) this.#versions.set(uid, version);
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
      if (this.#graph.versionOf(uid) !== version) this.#versions.delete(uid);
    }
  }
}
