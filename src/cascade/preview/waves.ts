import type { ObjectReference } from '../documents/object-reference.ts';
import { type OrderedRoot, type OrderNode, precedence } from './precedence.ts';

/** Waves by uid, from 1; or objects that wait for each other in a circle, the first one named again at the end. */
export type Waves = { readonly waves: ReadonlyMap<string, number> } | { readonly circle: readonly ObjectReference[] };

/**
 * The wave in which each object of one request is deleted (CAS-054): one more than the highest wave of the objects before it. Only objects
 * of the request count; an annotation that names another one has no effect. Pure, and visits each link of the order once.
 */
export function wavesOf(roots: readonly OrderedRoot[]): Waves {
  const nodes = precedence(roots);
  // The wave of a group is the highest of its objects.
  const waveOf = new Map<OrderNode, number>();
  const open = new Set<OrderNode>();
  // Depth first, with the path as a stack of its own: a chain may be as long as the request.
  for (const start of nodes.values()) {
    if (waveOf.has(start)) continue;
    const path = [{ node: start, next: 0 }];
    open.add(start);
    while (path.length > 0) {
      const step = path.at(-1)!;
      const { node } = step;
      const other = node.before[step.next++];
      if (other === undefined) {
        const latest = node.before.reduce((highest, each) => Math.max(highest, waveOf.get(each)!), 0);
        waveOf.set(node, node.ref === undefined ? latest : latest + 1);
        open.delete(node);
        path.pop();
      } else if (open.has(other)) {
        const from = path.findIndex((each) => each.node === other);
        const circle = path.slice(from).flatMap((each) => each.node.ref ?? []);
        return { circle: [...circle, circle[0]!] };
      } else if (!waveOf.has(other)) {
        open.add(other);
        path.push({ node: other, next: 0 });
      }
    }
  }
  return { waves: new Map([...nodes].map(([uid, node]) => [uid, waveOf.get(node)!])) };
}
