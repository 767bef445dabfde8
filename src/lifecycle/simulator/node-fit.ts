import { isConditionTrue } from '../../api/meta/conditions.ts';
import { type Node, type NodeSelectorRequirement, type Pod, tolerates } from '../pods/pod-object.ts';

/** Taints that keep new pods away; `PreferNoSchedule` is a wish. */
const KEEPING_AWAY: ReadonlySet<string> = new Set(['NoSchedule', 'NoExecute']);

/**
 * Whether a pod may run on a node: the node is ready and schedulable, its labels are what the pod asks for, and the pod tolerates its
 * taints. Resources, ports, volumes and affinity between pods are not looked at.
 */
export function fits(pod: Pod, node: Node): boolean {
  if (node.metadata?.deletionTimestamp || node.spec?.unschedulable === true) return false;
  if (!isConditionTrue(node.status?.conditions, 'Ready')) return false;
  const tolerations = pod.spec?.tolerations ?? [];
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => KEEPING_AWAY.has(effect));
  if (!taints.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)))) return false;
  const labels = node.metadata?.labels ?? {};
  if (!Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  const fields = { 'metadata.name': node.metadata?.name ?? '' };
  return (required.nodeSelectorTerms ?? []).some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((each) => matches(each, labels)) && matchFields.every((each) => matches(each, fields))
    );
  });
}

function matches(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
