import type { Identity } from '../types/identity.ts';
import { KIND, NAMESPACE, NONE } from './tables/node-table.ts';
import type { OwnershipGraph } from './ownership-graph.ts';

/** How a dependent's references to a uid fit an identity with that uid (COL-074). Both fields can be true. */
interface Fit {
  readonly matches: boolean;
  readonly mismatches: boolean;
  /** The identity is cluster-scoped or in the dependent's namespace; otherwise nothing matches. */
  readonly inReach: boolean;
}

const FITS: readonly Fit[] = [0, 1, 2, 3].map((bits) => ({
  matches: (bits & 1) !== 0,
  mismatches: (bits & 2) !== 0,
  inReach: true,
}));
const OUT_OF_REACH: Fit = { matches: false, mismatches: true, inReach: false };

/** Calls back once for each dependent of the node. O(dependents), without creating strings for usual references. */
export function partitionDependents(
  graph: OwnershipGraph,
  node: number,
  identity: Identity,
  visit: (dependent: number, fit: Fit) => void,
): void {
  const { nodes, references } = graph;
  const { apiVersion, kind } = nodes.kinds.words(nodes.table.get(node, KIND));
  /** The result for every reference that takes its coordinates from the node. */
  const derivedFits =
    nodes.name(node) === identity.name && kind === identity.kind && apiVersion === identity.apiVersion;
  const namespaceWord = new TextEncoder().encode(identity.namespace);
  const namespace = nodes.namespaces.find(namespaceWord, 0, namespaceWord.length);

  const bitOf = (edge: number): number => {
    if (!references.isExplicit(edge)) return derivedFits ? 1 : 2;
    const own = references.coordinatesOf(edge);
    const fits = own.name === identity.name && own.kind === identity.kind && own.apiVersion === identity.apiVersion;
    return fits ? 1 : 2;
  };

  graph.forEachDependent(node, (dependent) => {
    if (identity.namespace !== '' && nodes.table.get(dependent, NAMESPACE) !== namespace) {
      visit(dependent, OUT_OF_REACH);
      return;
    }
    let bits = 0;
    for (let edge = references.firstReference(dependent); edge !== NONE; edge = references.nextReference(edge)) {
      if (references.ownerOf(edge) === node) bits |= bitOf(edge);
    }
    visit(dependent, FITS[bits]!);
  });
}
