/**
 * Cycles of a graph: its strongly connected components of two or more (Tarjan, without recursion, one pass).
 * @param count nodes are 0 … count-1
 * @param next successors of a node
 */
export function cyclesOf(count: number, next: (node: number) => readonly number[]): number[][] {
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const isOpen = new Uint8Array(count);
  const open: number[] = [];
  const cycles: number[][] = [];
  let clock = 0;
  for (let start = 0; start < count; start++) {
    if (order[start] !== -1) continue;
    const stack: { readonly node: number; readonly successors: readonly number[]; at: number }[] = [];
    const enter = (node: number): void => {
      order[node] = low[node] = clock++;
      isOpen[node] = 1;
      open.push(node);
      stack.push({ node, successors: next(node), at: 0 });
    };
    enter(start);
    while (stack.length > 0) {
      const frame = stack.at(-1)!;
      const { node, successors } = frame;
      if (frame.at < successors.length) {
        const successor = successors[frame.at++]!;
        if (order[successor] === -1) enter(successor);
        else if (isOpen[successor] === 1) low[node] = Math.min(low[node]!, order[successor]!);
        continue;
      }
      stack.pop();
      const parent = stack.at(-1);
      if (parent !== undefined) low[parent.node] = Math.min(low[parent.node]!, low[node]!);
      if (low[node] !== order[node]) continue;
      const component: number[] = [];
      for (;;) {
        const member = open.pop()!;
        isOpen[member] = 0;
        component.push(member);
        if (member === node) break;
      }
      if (component.length > 1) cycles.push(component.toReversed());
    }
  }
  return cycles;
}
