import type { Graph, NodeId } from '../../graph/graph.ts';
import { isNamespace } from '../../types/namespaces.ts';

/** The kinds of holders, the one that explains most first. In metrics, the first that applies is the holder of an object. */
export const HOLDERS = ['dependents', 'garbageCollector', 'finalizers', 'namespaceContent', 'gracePeriod'] as const;

/**
 * The holder of a terminating object.
 *
 * * `dependents`: it is deleted in foreground, and dependents block it.
 * * `garbageCollector`: it has a finalizer of the garbage collector, and no dependent blocks it.
 * * `finalizers`: another program has to remove a finalizer.
 * * `namespaceContent`: it is a Namespace, and the namespace controller empties it.
 * * `gracePeriod`: it has no finalizer. The program that runs it (a kubelet, for a Pod) stops it and confirms the deletion.
 */
export type Holder = (typeof HOLDERS)[number];

/** All holders of a terminating node, in the order of {@link HOLDERS}; never empty. O(references). */
export function holdersOf(graph: Graph, id: NodeId): readonly [Holder, ...Holder[]] {
  const { identity, foregroundFinalizer, orphanFinalizer, otherFinalizers } = graph.at(id);
  const blocked = foregroundFinalizer && graph.blockingDependents(id).count > 0;
  const own = orphanFinalizer || (foregroundFinalizer && !blocked);
  const holders: Holder[] = [];
  if (blocked) holders.push('dependents');
  if (own) holders.push('garbageCollector');
  if (otherFinalizers) holders.push('finalizers');
  const [first, ...rest] = holders;
  if (first !== undefined) return [first, ...rest];
  return [isNamespace(identity) ? 'namespaceContent' : 'gracePeriod'];
}
