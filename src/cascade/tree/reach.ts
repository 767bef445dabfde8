import type { Graph, NodeId } from '../../collector/graph/graph.ts';

/** Objects below (or above) others with their depth, breadth first, so that each has its minimum depth. */
export function reach(
  graph: Graph,
  from: readonly NodeId[],
  { direction, depth }: { readonly direction: 'down' | 'up'; readonly depth: number },
): NodeId[] {
  const isFound = new Uint8Array(graph.capacity);
  const found: NodeId[] = [];
  const visit = (id: NodeId): void => {
    if (id < 0 || isFound[id] === 1) return;
    isFound[id] = 1;
    found.push(id);
  };
  for (const id of from) visit(id);
  let next = 0;
  for (let step = 0; step < depth && next < found.length; step++) {
    const end = found.length;
    for (; next < end; next++) {
      if (direction === 'down') graph.forEachDependent(found[next]!, visit);
      else graph.forEachOwner(found[next]!, visit);
    }
  }
  return found;
}

/** The objects of a namespace, or of the cluster; owners that are known from references only are among them. */
export function objectsIn(graph: Graph, namespace: string | undefined): NodeId[] {
  const ids: NodeId[] = [];
  graph.forEachNode((id) => {
    if (namespace === undefined || graph.namespaceAt(id) === namespace) ids.push(id);
  });
  return ids;
}

/** Objects that own others and have no existing owner: the tops of the trees of a cluster or namespace. */
export function treeTops(graph: Graph, namespace: string | undefined): NodeId[] {
  const tops: NodeId[] = [];
  graph.forEachNode((id) => {
    if (!graph.isObserved(id) || !graph.hasDependents(id)) return;
    if (namespace !== undefined && graph.namespaceAt(id) !== namespace) return;
    let owned = false;
    graph.forEachOwner(id, (owner) => {
      owned ||= owner >= 0 && owner !== id && graph.isObserved(owner);
    });
    if (!owned) tops.push(id);
  });
  return tops;
}
