import { inspect } from 'node:util';
import type { StoredContents } from '../apiserver/storage/embedded/memory-store.ts';
import type { Memory } from './trace/recorder.ts';

/** The state that {@link ClusterSnapshot} keeps. */
export interface SnapshotParts {
  readonly contents: StoredContents;
  /** Milliseconds since the epoch, on the clock of the cluster. */
  readonly takenAt: number;
  /** Length of the chain of snapshots that leads to this one, itself included. */
  readonly generation: number;
  readonly memory: Memory;
  readonly formerKinds: readonly string[];
}

/**
 * The objects of a cluster at one moment, for `startCluster({ from: snapshot })`, as often as wanted. It never changes, and shares its
 * bytes with every cluster that starts from it.
 */
export class ClusterSnapshot {
  readonly #parts: SnapshotParts;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** Number of its objects, including those that every cluster starts with. */
  get size(): number {
    return this.#parts.contents.items.length;
  }

  /** The parts for the cluster that starts from the snapshot. Throws a TypeError for any other value. */
  static partsOf(given: unknown): SnapshotParts {
    if (given instanceof ClusterSnapshot) return given.#parts;
    throw new TypeError(`from is what cluster.snapshot() resolved with, not ${inspect(given, { depth: 0 })}`);
  }
}
