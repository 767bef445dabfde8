import { Lru } from '../../base/collections/lru.ts';
import type { Graph } from '../graph/graph.ts';
import type { Uid } from '../types/identity.ts';

/** Maximum number of remembered objects, equal to that of accepted deletions. */
const CAPACITY = 4096;

/**
 * Objects whose keys were forgotten although the graph is not up to date: the server accepted a write, or a read showed a newer version.
 * The watch event of that change will come, and queues the work that is left. If the server is away meanwhile, the event may never come. A
 * server that was restored from a backup may have the object at exactly the version of the graph, so that its watch shows no change
 * (designs/0011).
 */
export class AwaitedEvents {
  readonly #graph: Pick<Graph, 'versionOf'>;
  /** The lowest version that the awaited event can have, by uid. An older event may be under way too, but is not the awaited one. */
  readonly #versions = new Lru<Uid, number>({ capacity: CAPACITY });

  constructor(graph: Pick<Graph, 'versionOf'>) {
    this.#graph = graph;
  }

  /** The number of objects, including those whose event has come since. */
  get size(): number {
    return this.#versions.size;
  }

  /** A read has shown the object in this version. */
  noteRead(uid: Uid, version: number): void {
    const recorded = this.#graph.versionOf(uid);
    if (version > recorded) this.#versions.set(uid, version);
    // The server has gone back in time, and the watch will show that to the graph.
    if (version < recorded) this.#versions.set(uid, recorded + 1);
  }

  /**
   * The server answered a write that rests on this version of the object, or on the version of the graph if that is newer or `version` is
   * NaN. Changes in between are not known. No event is awaited for an object that the graph does not have: any event that shows the object
   * queues it.
   */
  noteWritten(uid: Uid, version: number): void {
    const recorded = this.#graph.versionOf(uid);
    if (!Number.isNaN(recorded)) this.#versions.set(uid, 1 + (version > recorded ? version : recorded));
  }

  /** Returns the objects whose event has not come, and forgets all objects. */
  take(): Uid[] {
    this.forgetShown();
    const awaited = [...this.#versions.entries()].map(([uid]) => uid);
    this.#versions.clear();
    return awaited;
  }

  /** Forgets the objects whose event has come. */
  forgetShown(): void {
    for (const [uid, version] of this.#versions.entries()) {
      const isAwaited = this.#graph.versionOf(uid) < version;
      if (!isAwaited) this.#versions.delete(uid);
    }
  }
}
