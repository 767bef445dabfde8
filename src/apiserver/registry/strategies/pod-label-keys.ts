import { getKey } from '../../../api/codec/json/json-value.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly string[];
}

interface Selector extends Record<string, unknown> {
  matchExpressions?: readonly Requirement[];
}

/** A term of affinity, or a topology spread constraint. */
export interface LabelKeysTerm extends Record<string, unknown> {
  labelSelector?: Selector;
  matchLabelKeys?: readonly string[];
  mismatchLabelKeys?: readonly string[];
}

interface PodAffinity {
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: LabelKeysTerm }[];
  requiredDuringSchedulingIgnoredDuringExecution?: LabelKeysTerm[];
}

interface SpreadSpec {
  affinity?: { podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity };
  topologySpreadConstraints?: LabelKeysTerm[];
}

/**
 * Converts label keys to requirements with this pod's values, so that other pods must have equal (or different) ones (registry core/pod
 * `mutatePodAffinity`, `mutateTopologySpreadConstraints`). Changes `spec` in place.
 */
export function mergeLabelKeys(spec: SpreadSpec, labels: Readonly<Record<string, string>>): void {
  const { affinity, topologySpreadConstraints = [] } = spec;
  for (const some of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm } of some?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (podAffinityTerm !== undefined) mergeTerm(podAffinityTerm, labels);
    }
    for (const term of some?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeTerm(term, labels);
  }
  for (const constraint of topologySpreadConstraints) mergeTerm(constraint, labels);
}

/** A term without a selector matches nothing, and stays so. */
function mergeTerm(term: LabelKeysTerm, labels: Readonly<Record<string, string>>): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const added = [...requirements(matchLabelKeys, 'In', labels), ...requirements(mismatchLabelKeys, 'NotIn', labels)];
  if (labelSelector === undefined || added.length === 0) return;
  // A pod is prepared again if its generated name is taken, so existing requirements are kept.
  const stated = labelSelector.matchExpressions ?? [];
  const missing = added.filter((requirement) => !stated.some((other) => deepEqual(other, requirement)));
  labelSelector.matchExpressions = [...stated, ...missing];
}

function requirements(
  keys: readonly string[],
  operator: Requirement['operator'],
  labels: Readonly<Record<string, string>>,
): Requirement[] {
  return keys.flatMap((key) => {
    const value = getKey(labels, key);
    return typeof value === 'string' ? [{ key, operator, values: [value] }] : [];
  });
}
