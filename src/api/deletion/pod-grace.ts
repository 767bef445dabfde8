import type { ResourceInfo } from '../kinds/resource-info.ts';
import type { KubeObject } from '../meta/object-meta.ts';

/**
 * The grace period of an object at its first DELETE, in whole seconds, never negative. Only types with such a rule are graceful.
 * `requested` is the option of the request, in which negatives are already 1 (API-255).
 */
export type GraceRule = (object: KubeObject, requested: number | undefined) => number;

/** A pod that never started or has already finished has no grace period (API-310). */
export const podGrace: GraceRule = (pod, requested) => {
  const spec = (pod['spec'] ?? {}) as { nodeName?: unknown; terminationGracePeriodSeconds?: unknown };
  const status = (pod['status'] ?? {}) as { phase?: unknown };
  if (typeof spec.nodeName !== 'string' || spec.nodeName === '') return 0;
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
  const period = requested ?? Number(spec.terminationGracePeriodSeconds ?? 0);
  return period < 0 ? 1 : period;
};

/** The grace rule of a type; undefined for types that are not graceful. */
export function graceRuleOf(resource: Pick<ResourceInfo, 'group' | 'resource'>): GraceRule | undefined {
  return resource.group === '' && resource.resource === 'pods' ? podGrace : undefined;
}
