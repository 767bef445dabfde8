/** Edges of a graph as one array: those of node `i` are `targets[starts[i] … starts[i + 1])`. */
export interface Adjacency {
  readonly starts: Uint32Array;
  readonly targets: Uint32Array;
}

export interface Components {
  /** The component of each node. An edge leads to a component with a lower number, or stays within its own. */
  readonly component: Uint32Array;
  /** True for a node on a cycle, including one to itself. */
  readonly onCycle: Uint8Array;
  /** All nodes in an order in which every edge to another component leads to an earlier position. */
  readonly order: Uint32Array;
}

const UNSEEN = 0xffffffff;

/** Tarjan's strongly connected components with an explicit stack, because chains may be as long as the graph. O(nodes + edges). */
export function strongComponents({ starts, targets }: Adjacency): Components {
  const size = starts.length - 1;
  const index = new Uint32Array(size).fill(UNSEEN);
  const low = new Uint32Array(size);
  const component = new Uint32Array(size).fill(UNSEEN);
  const onCycle = new Uint8Array(size);
  const order = new Uint32Array(size);
  const next = starts.slice(0, size);
  const path = new Uint32Array(size);
  const open = new Uint32Array(size);
  let pathLength = 0;
  let openLength = 0;
  let indexes = 0;
  let components = 0;
  let placed = 0;
  for (let root = 0; root < size; root++) {
    if (index[root] !== UNSEEN) continue;
    path[pathLength++] = root;
    index[root] = low[root] = indexes++;
    open[openLength++] = root;
    while (pathLength > 0) {
      const node = path[pathLength - 1]!;
      const at = next[node]!;
      if (at < starts[node + 1]!) {
        next[node] = at + 1;
        const target = targets[at]!;
        if (target === node) onCycle[node] = 1;
        if (index[target] === UNSEEN) {
          index[target] = low[target] = indexes++;
          open[openLength++] = target;
          path[pathLength++] = target;
        } else if (component[target] === UNSEEN) low[node] = Math.min(low[node]!, index[target]!);
        continue;
      }
      pathLength--;
      if (pathLength > 0) {
        const parent = path[pathLength - 1]!;
        low[parent] = Math.min(low[parent]!, low[node]!);
      }
      if (low[node] !== index[node]) continue;
      const first = placed;
      let member: number;
      do {
        member = open[--openLength]!;
        component[member] = components;
        order[placed++] = member;
      } while (member !== node);
      if (placed - first > 1) for (let i = first; i < placed; i++) onCycle[order[i]!] = 1;
      components++;
    }
  }
  return { component, onCycle, order };
}
