import { type Condition, findCondition, withCondition } from '../../api/meta/conditions.ts';
import { apiVersionOf, type GroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { GroupOrigin } from '../registry/resource-registry.ts';

/** The label by which kube-apiserver knows the APIServices that it registers itself. */
const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

/** A group version that this server serves: of a built-in group, or only of definitions. */
export interface ServedGroupVersion extends GroupVersion {
  readonly origin: GroupOrigin;
}

type Priorities = readonly [group: number, version: number];

/** Priorities that kube-apiserver gives to its built-in group versions. That of the version of resource.k8s.io is our own. */
const BUILTIN_PRIORITIES: Readonly<Record<string, Priorities>> = {
  v1: [18_000, 1],
  'apps/v1': [17_800, 15],
  'events.k8s.io/v1': [17_750, 15],
  'authentication.k8s.io/v1': [17_700, 15],
  'authorization.k8s.io/v1': [17_600, 15],
  'autoscaling/v1': [17_500, 15],
  'autoscaling/v2': [17_500, 30],
  'batch/v1': [17_400, 15],
  'certificates.k8s.io/v1': [17_300, 15],
  'networking.k8s.io/v1': [17_200, 15],
  'policy/v1': [17_100, 15],
  'rbac.authorization.k8s.io/v1': [17_000, 15],
  'storage.k8s.io/v1': [16_800, 15],
  'apiextensions.k8s.io/v1': [16_700, 15],
  'admissionregistration.k8s.io/v1': [16_700, 15],
  'scheduling.k8s.io/v1': [16_600, 15],
  'coordination.k8s.io/v1': [16_500, 15],
  'node.k8s.io/v1': [16_300, 15],
  'discovery.k8s.io/v1': [16_200, 15],
  'resource.k8s.io/v1': [16_200, 20],
  'flowcontrol.apiserver.k8s.io/v1': [16_100, 21],
};

/** Groups of definitions come after all built-in ones, and their versions are sorted by name. */
const CUSTOM_PRIORITIES: Priorities = [1000, 100];

export function apiServiceName({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

/** True for a group version that gets an APIService: all but the group that holds the APIServices themselves. */
export function hasLocalApiService(served: ServedGroupVersion): boolean {
  return served.origin === 'custom' || Object.hasOwn(BUILTIN_PRIORITIES, apiVersionOf(served));
}

type ApiServiceDecision =
  | { readonly verdict: 'keep' }
  | { readonly verdict: 'delete' }
  | { readonly verdict: 'create' | 'update'; readonly object: KubeObject };

const LOCAL: Condition = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

/**
 * The next state of an APIService (API-606). One without the label belongs to a user: only its condition is set, if it names no Service.
 * @param served `withdrawn` if this server must delete the object because it no longer serves the group version, and `elsewhere` if it does
 * not serve the group version, but another server on the same store may
 * @param now epoch ms
 */
export function decideLocalApiService(
  current: KubeObject | undefined,
  served: ServedGroupVersion | 'withdrawn' | 'elsewhere',
  now: number,
): ApiServiceDecision {
  if (current === undefined) {
    return typeof served === 'string'
      ? { verdict: 'keep' }
      : { verdict: 'create', object: localApiService(served, now) };
  }
  const { metadata = {} } = current;
  const managed = ['onstart', 'true'].includes(metadata.labels?.[MANAGED_LABEL] ?? '');
  if (managed && typeof served === 'string') {
    // An object with finalizers goes when these are removed, by the endpoint that removes them.
    const free = served === 'withdrawn' && (metadata.finalizers ?? []).length === 0;
    return { verdict: free ? 'delete' : 'keep' };
  }
  const spec: { readonly service?: unknown } | undefined =
    managed && typeof served !== 'string' ? specOf(served) : (current['spec'] as object | undefined);
  if (spec?.service !== undefined && spec.service !== null) return { verdict: 'keep' };
  const status = (current['status'] ?? {}) as { conditions?: readonly Condition[] | null };
  const available = findCondition(status.conditions, 'Available');
  const reported = available?.status === LOCAL.status && available.reason === LOCAL.reason;
  if (reported && deepEqual(current['spec'], spec)) return { verdict: 'keep' };
  const conditions = withCondition(status.conditions, LOCAL, now);
  return { verdict: 'update', object: { ...current, spec, status: { ...status, conditions } } };
}

function specOf(served: ServedGroupVersion): object {
  const { group, version, origin } = served;
  const builtin = origin === 'builtin' ? BUILTIN_PRIORITIES[apiVersionOf(served)] : undefined;
  const [groupPriorityMinimum, versionPriority] = builtin ?? CUSTOM_PRIORITIES;
  return { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority };
}

function localApiService(served: ServedGroupVersion, now: number): KubeObject {
  const label = served.origin === 'builtin' ? 'onstart' : 'true';
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: apiServiceName(served), labels: { [MANAGED_LABEL]: label } },
    spec: specOf(served),
    status: { conditions: withCondition(undefined, LOCAL, now) },
  };
}
