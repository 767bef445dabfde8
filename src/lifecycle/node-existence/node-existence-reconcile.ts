import { type Node, readyConditionOf, type Taint } from '../pods/pod-object.ts';
import type { InstanceState } from './instance-source.ts';

export const SHUTDOWN_TAINT: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };

export type NodeDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'ready' | 'unknown' | 'exists' | 'tainted' | 'terminating' }
  | { readonly verdict: 'delete'; readonly reason: 'instanceGone' }
  | { readonly verdict: 'setTaints'; readonly reason: 'shutDown' | 'readyAgain'; readonly taints: readonly Taint[] };

/**
 * Decides about one node (LIFE-170 to LIFE-173). A Ready node is never deleted, whatever the source says, because a machine that answers
 * exists. A node without a Ready condition counts as not ready.
 */
export function decideNode(node: Node, state: InstanceState): NodeDecision {
  if (node.metadata?.deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const taints = node.spec?.taints ?? [];
  const isShutDownTaint = ({ key, effect }: Taint): boolean =>
    key === SHUTDOWN_TAINT.key && effect === SHUTDOWN_TAINT.effect;
  const others = taints.filter((taint) => !isShutDownTaint(taint));
  const isTainted = others.length < taints.length;
  if (isReady(node)) {
    if (!isTainted) return { verdict: 'nothing', reason: 'ready' };
    return { verdict: 'setTaints', reason: 'readyAgain', taints: others };
  }
  if (state === 'absent') return { verdict: 'delete', reason: 'instanceGone' };
  if (state !== 'shutDown') return { verdict: 'nothing', reason: state };
  if (isTainted) return { verdict: 'nothing', reason: 'tainted' };
  return { verdict: 'setTaints', reason: 'shutDown', taints: [...taints, SHUTDOWN_TAINT] };
}

const isReady = (node: Node): boolean => readyConditionOf(node)?.status === 'True';

/** The nodes whose machines the source is queried for. A Ready node is only changed to remove its taint. */
export function isAskedAbout(node: Node): boolean {
  return !isReady(node) && !node.metadata?.deletionTimestamp;
}

/**
 * Number of nodes that one pass may delete (LIFE-176): this share of all, at least one. If more are missing, nothing is deleted, because a
 * faulty source is more likely than so many lost machines.
 */
export function mayDelete(missing: number, nodes: number, maxDeleteFraction: number): boolean {
  return missing <= Math.max(1, Math.floor(maxDeleteFraction * nodes));
}
