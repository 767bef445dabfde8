import { simulate } from '../simulate/simulation.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type DiesWithIt, diesWithIt } from './dominators.ts';

/** Kinds whose deletion removes more than owner references say. */
const IMPLIED: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'Node',
]);

/**
 * The number of objects that are deleted with an object, including itself (CAS-025). It comes from the dominators of the whole graph, or
 * from a simulation where owner references do not show it: on a cycle, and for namespaces, definitions, claims and nodes.
 */
export class Dies {
  readonly #snapshot: Snapshot;
  readonly #dominators: DiesWithIt;
  readonly #simulated = new Map<string, number>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#dominators = diesWithIt(snapshot);
  }

  /** A lower bound at no cost: owner references do not show everything. */
  atLeast(uid: string): number {
    return this.#dominators.count(this.#snapshot.graph.find(uid));
  }

  needsSimulation(uid: string, id = this.#snapshot.graph.find(uid)): boolean {
    const { graph } = this.#snapshot;
    if (id < 0) return false;
    if (this.#dominators.isOnCycle(id) || IMPLIED.has(graph.typeAt(id).kind)) return true;
    return !graph.isPlain(id) && this.#snapshot.hasOrphanFinalizer(uid);
  }

  of(uid: string, id = this.#snapshot.graph.find(uid)): number {
    if (!this.needsSimulation(uid, id)) return this.#dominators.count(id);
    let count = this.#simulated.get(uid);
    if (count === undefined) {
      const roots = [{ uid, policy: 'Background' as const }];
      count = simulate(this.#snapshot, { roots, assumeFinalizers: 'removed' }).server.removed.size;
      this.#simulated.set(uid, count);
    }
    return count;
  }
}
