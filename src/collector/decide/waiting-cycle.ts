import type { Graph, NodeId } from '../graph/graph.ts';

/**
 * Maximum number of references visited, up or down, before the search stops and answers no. Longer cycles are not searched for, because
 * that would block the event loop for milliseconds.
 */
const WAITING_CYCLE_SEARCH_BOUND = 100_000;
/** The number of references visited in one direction before the other one is tried, and the factor by which it grows each time. */
const FIRST_BOUND = 100;
const GROWTH = 10;

/**
 * Calls back for each reference from or to a node, with the node on its other side. `waits` says that one of the two waits for the other
 * and that the other node is deletingDependents. Stops if `visit` returns false.
 */
type Direction = (graph: Graph, id: NodeId, visit: (other: NodeId, waits: boolean) => boolean) => void;

/**
 * Whether a node waits, through blocking references, for nodes that wait for it, all of them deletingDependents. Row 13 of COL-090 prevents
 * such cycles, but only if it sees that the others wait. Two members that are decided at the same time do not see each other, and would
 * then wait for ever (COL-10C).
 *
 * The search may follow a cycle in either direction. An owner is processed after each of its blocking dependents (COL-103), so a walk down
 * costs their number every time. A walk up costs only the references of the node, and ends at once if no owner above waits. At the end of a
 * long chain, the walk down ends at once. So both are tried in turn, each time further: O(references of the shorter direction).
 */
export function isInWaitingCycle(graph: Graph, start: NodeId): boolean {
  for (let bound = FIRST_BOUND; bound <= WAITING_CYCLE_SEARCH_BOUND; bound *= GROWTH) {
    for (const direction of [up, down]) {
      const found = walk(graph, start, { direction, bound });
      if (found !== 'boundReached') return found === 'cameBack';
    }
  }
  return false;
}

interface Walk {
  readonly direction: Direction;
  readonly bound: number;
}

function walk(graph: Graph, start: NodeId, { direction, bound }: Walk): 'cameBack' | 'ended' | 'boundReached' {
  const seen = new Set<NodeId>();
  const open: NodeId[] = [start];
  let looks = 0;
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    direction(graph, id, (other, waits) => {
      looks++;
      if (waits && !seen.has(other)) {
        seen.add(other);
        open.push(other);
      }
      return looks < bound && !seen.has(start);
    });
    if (seen.has(start)) return 'cameBack';
    if (looks >= bound) return 'boundReached';
  }
  return 'ended';
}

const up: Direction = (graph, id, visit) => {
  let goesOn = true;
  graph.forEachOwner(id, (owner, blocking) => {
    // A reference to itself never blocks (BETTER-10), and a uid without a node waits for nothing.
    goesOn &&= visit(owner, blocking && owner !== id && owner >= 0 && graph.isDeletingDependents(owner));
  });
};

const down: Direction = (graph, id, visit) => {
  graph.forEachDependent(id, (dependent) =>
    visit(dependent, dependent !== id && graph.isDeletingDependents(dependent) && blocks(graph, dependent, id)),
  );
};

function blocks(graph: Graph, dependent: NodeId, owner: NodeId): boolean {
  let found = false;
  graph.forEachOwner(dependent, (of, blocking) => {
    found ||= blocking && of === owner;
  });
  return found;
}
