import type { Graph, NodeId } from '../graph/graph.ts';

/** References looked at before the search gives up and says no. A cycle that long is not worth a stall of milliseconds. */
const WAITING_CYCLE_SEARCH_BOUND = 100_000;

/**
 * Whether a node waits, through blocking references, for nodes that wait for it, all of them deletingDependents. Row 13 of COL-090
 * keeps such cycles from forming, but only if it sees the others wait; two members that are decided upon at
 * the same time each miss the other, and nothing would ever move again (COL-10C).
 */
export function isInWaitingCycle(graph: Graph, start: NodeId): boolean {
  const seen = new Set<NodeId>();
  const open: NodeId[] = [start];
  const search = { looks: 0, closed: false };
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    graph.forEachBlockingDependent(id, (dependent) => {
      search.looks++;
      if (graph.isDeletingDependents(dependent)) {
        search.closed ||= dependent === start;
        if (!seen.has(dependent)) open.push(dependent);
        seen.add(dependent);
      }
      return !search.closed && search.looks < WAITING_CYCLE_SEARCH_BOUND;
    });
    if (search.closed || search.looks >= WAITING_CYCLE_SEARCH_BOUND) break;
  }
  return search.closed;
}
