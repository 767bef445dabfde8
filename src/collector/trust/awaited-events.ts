import { Lru } from '../../base/collections/lru.ts';
import type { Graph } from '../graph/graph.ts';
import type { Uid } from '../types/identity.ts';

/** As many as accepted deletions. */
const CAPACITY = 4096;

/**
 * Objects whose keys were forgotten because of something newer than what the graph has: a write that the server accepted, or what a read
 * showed. Its watch event will come, and queues whatever is left to do. If the server is away meanwhile it may never come: a server that was
 * restored from a backup may have the object at the very version that the graph has, and nothing that it shows is a change (designs/0011).
 */
export class AwaitedEvents {
  readonly #graph: Pick<Graph, 'versionOf'>;
  /** By uid: the lowest version that the event can be of. An older event, which may be under way as well, is another one. */
  readonly #versions = new Lru<Uid, number>({ capacity: CAPACITY });

  constructor(graph: Pick<Graph, 'versionOf'>) {
    this.#graph = graph;
  }

  /** Known ones, and those whose event has come since. */
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
   * A write was answered that rests on this version of the object, or on the version of the graph if that is newer or the version is NaN.
   * Changes in between are not known. Nothing is awaited of an object that the graph does not have: whatever is shown of it queues it.
   */
  noteWritten(uid: Uid, version: number): void {
    const recorded = this.#graph.versionOf(uid);
    if (!Number.isNaN(recorded)) this.#versions.set(uid, 1 + (version > recorded ? version : recorded));
  }

  /** Those whose event has not come. None is known afterwards. */
  take(): Uid[] {
    this.forgetShown();
    const awaited = [...this.#versions.entries()].map(([uid]) => uid);
    this.#versions.clear();
    return awaited;
  }

  /** Forgets those whose event has come. */
  forgetShown(): void {
    for (const [uid, version] of this.#versions.entries()) {
      const isAwaited = this.#graph.versionOf(uid) < version;
      if (!isAwaited) this.#versions.delete(uid);
    }
  }
}
