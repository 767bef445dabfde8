import type { Node, NodeSelectorRequirement, Pod } from './pod-object.ts';

/** True if the node's name and labels match the pod's node selector and required node affinity. */
export function selectsNode(pod: Pod, node: Node): boolean {
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
