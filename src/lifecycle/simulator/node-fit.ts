import { isConditionTrue } from '../../api/meta/conditions.ts';
import { selectsNode } from '../pods/node-affinity.ts';
import { type Node, type Pod, tolerates } from '../pods/pod-object.ts';

/** Taint effects that exclude new pods; `PreferNoSchedule` is only a preference. */
const KEEPING_AWAY: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute']);

/**
 * True if a pod may run on a node: the node is ready and schedulable, its labels match the pod's selector, and the pod tolerates its
 * taints. Resources, ports, volumes and affinity between pods are ignored.
 */
export function fits(pod: Pod, node: Node): boolean {
  if (node.metadata?.deletionTimestamp || node.spec?.unschedulable === true) return false;
  if (!isConditionTrue(node.status?.conditions, 'Ready')) return false;
  const tolerations = pod.spec?.tolerations ?? [];
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => KEEPING_AWAY.has(effect));
  if (!taints.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)))) return false;
  return selectsNode(pod, node);
}
