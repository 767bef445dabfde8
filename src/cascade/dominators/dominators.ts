import type { NodeId } from '../../collector/graph/graph.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { holderOf } from './holders.ts';
import { ReferenceAnswers } from './reference-answers.ts';
import { type Adjacency, strongComponents } from './strong-components.ts';

/** The number of objects that are deleted with each object (CAS-025). */
export interface DiesWithIt {
  /** How many objects background deletion of this one alone removes, itself included. */
  count(id: NodeId): number;
  /** True for an object on a cycle of ownership, which only a simulation can count. */
  isOnCycle(id: NodeId): boolean;
}

/**
 * Counts for every object the objects that are deleted with it, in one pass over the graph. An object stays while any of its owners does,
 * so the deletions with an object are its subtree in the dominator tree under a virtual root. The virtual root holds all objects without
 * owners, all members of cycles, and all objects about which nothing can be proved. O(references · log depth).
 */
export function diesWithIt(snapshot: Snapshot): DiesWithIt {
  const { owners, heldForEver, observed } = ownersOf(snapshot);
  const { onCycle, order } = strongComponents(owners);
  const size = observed.length;
  const root = size;
  const tree = new DominatorTree(size);
  // Owners come before their dependents in this order.
  for (const node of order) {
    const from = owners.starts[node]!;
    const to = owners.starts[node + 1]!;
    let holder = root;
    if (heldForEver[node] === 0 && onCycle[node] === 0 && from < to) {
      holder = owners.targets[from]!;
      for (let i = from + 1; i < to && holder !== root; i++) holder = tree.common(holder, owners.targets[i]!);
    }
    tree.add(node, holder);
  }
  const counts = new Uint32Array(size + 1);
  for (let i = size - 1; i >= 0; i--) {
    const node = order[i]!;
    if (observed[node] === 0) continue;
    counts[node]!++;
    counts[tree.parent(node)]! += counts[node]!;
  }
  return { count: (id) => counts[id] ?? 0, isOnCycle: (id) => onCycle[id] === 1 };
}

/** The owners that hold each object, by node. */
function ownersOf(snapshot: Snapshot): {
  readonly owners: Adjacency;
  readonly heldForEver: Uint8Array;
  readonly observed: Uint8Array;
} {
  const { graph } = snapshot;
  const size = graph.capacity;
  const starts = new Uint32Array(size + 1);
  const targets = new Uint32Array(graph.counts.references);
  const heldForEver = new Uint8Array(size);
  const observed = new Uint8Array(size);
  const holders = new ReferenceAnswers(graph, (namespace, reference) => holderOf(snapshot, namespace, reference));
  let end = 0;
  graph.forEachNode((id) => {
    if (graph.isObserved(id)) observed[id] = 1;
  });
  for (let id = 0; id < size; id++) {
    starts[id] = end;
    if (observed[id] === 0) continue;
    const namespace = graph.namespaceAt(id);
    graph.forEachReference(id, (reference, owner) => {
      const holder = holders.of(namespace, reference, owner);
      if (holder.holds === 'ever') heldForEver[id] = 1;
      if (holder.holds === 'object') targets[end++] = holder.id;
    });
  }
  starts[size] = end;
  return { owners: { starts, targets: targets.subarray(0, end) }, heldForEver, observed };
}

/** A tree that grows at its leaves, with skip links upward, so that a common ancestor is found in O(log depth) (Myers 1983). */
class DominatorTree {
  readonly #parent: Uint32Array;
  readonly #jump: Uint32Array;
  readonly #depth: Uint32Array;

  /** The root is node `size`. */
  constructor(size: number) {
    this.#parent = new Uint32Array(size + 1).fill(size);
    this.#jump = new Uint32Array(size + 1).fill(size);
    this.#depth = new Uint32Array(size + 1);
  }

  parent(node: number): number {
    return this.#parent[node]!;
  }

  add(node: number, parent: number): void {
    const jump = this.#jump;
    const depth = this.#depth;
    const far = jump[parent]!;
    this.#parent[node] = parent;
    depth[node] = depth[parent]! + 1;
    const reached = depth[parent]! - depth[far]!;
    const further = depth[far]! - depth[jump[far]!]!;
    jump[node] = reached === further ? jump[far]! : parent;
  }

  common(a: number, b: number): number {
    const jump = this.#jump;
    const depth = this.#depth;
    let [deep, other] = depth[a]! >= depth[b]! ? [a, b] : [b, a];
    while (depth[deep]! > depth[other]!) {
      deep = depth[jump[deep]!]! >= depth[other]! ? jump[deep]! : this.#parent[deep]!;
    }
    while (deep !== other) {
      const far = jump[deep] !== jump[other];
      deep = far ? jump[deep]! : this.#parent[deep]!;
      other = far ? jump[other]! : this.#parent[other]!;
    }
    return deep;
  }
}
