import type { ResourceInfo } from '../kinds/resource-info.ts';
import type { KubeObject } from '../meta/object-meta.ts';

/**
 * How long an object may shut down after its first DELETE, in whole seconds, never negative. Only types that have such a rule are
 * graceful; `requested` is the option of the request with negatives already made 1 (API-255).
 */
export type GraceRule = (object: KubeObject, requested: number | undefined) => number;

/** Pods: nobody has to shut down what was never started or has already ended (API-310). */
export const podGrace: GraceRule = (pod, requested) => {
  const spec = (pod['spec'] ?? {}) as { nodeName?: unknown; terminationGracePeriodSeconds?: unknown };
  const status = (pod['status'] ?? {}) as { phase?: unknown };
  if (typeof spec.nodeName !== 'string' || spec.nodeName === '') return 0;
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
  const own = typeof spec.terminationGracePeriodSeconds === 'number' ? spec.terminationGracePeriodSeconds : 0;
  const period = requested ?? own;
  return period < 0 ? 1 : period;
};

/** The rule of a type; undefined for all that are not graceful. */
export function graceRuleOf(resource: Pick<ResourceInfo, 'group' | 'resource'>): GraceRule | undefined {
  return resource.group === '' && resource.resource === 'pods' ? podGrace : undefined;
}
