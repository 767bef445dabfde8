import { fieldForbidden, type FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatTime } from '../../../api/meta/time.ts';
import { isDns1123Label } from '../../../api/validation/names.ts';
import { deepEqual } from '../deep-equal.ts';
import { metadataOf } from '../object-meta.ts';
import type { Strategy } from '../strategy.ts';
import { mergeLabelKeys } from './pod-label-keys.ts';
import { qosClassOf } from './pod-qos.ts';

type Container = Record<string, unknown> & { name?: string };

interface PodSpec extends Record<string, unknown> {
  /** Go prints the empty list as null. */
  containers?: Container[] | null;
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  tolerations?: unknown[];
  schedulingGates?: { name?: string }[];
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
}

interface PodStatus extends Record<string, unknown> {
  observedGeneration?: number;
  conditions?: { type?: string; observedGeneration?: number }[];
}

interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

/** `now` is RFC 3339. */
function schedulingGated(now: string): Record<string, unknown> {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/** Section 15. */
export const podStrategy: Strategy = {
  prepareForCreate(pod: Pod, { warn, now }) {
    const problems = isDns1123Label(pod.metadata?.name ?? '');
    if (problems.length > 0) {
      warn(
        `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      );
    }
    const spec = pod.spec ?? {};
    pod['status'] = {
      phase: 'Pending',
      qosClass: qosClassOf(spec as Parameters<typeof qosClassOf>[0]),
      ...((spec.schedulingGates ?? []).length > 0 ? { conditions: [schedulingGated(formatTime(now))] } : {}),
    };
    mergeLabelKeys(spec as Parameters<typeof mergeLabelKeys>[0], pod.metadata?.labels ?? {});
  },
  prepareForUpdate(next: Pod, previous: Pod, { subresource }) {
    if (subresource === 'status') {
      keepOwners(next, previous);
      keepObservedGenerations(next, previous);
    }
    if (subresource === 'ephemeralcontainers') onlySpecField(next, previous, 'ephemeralContainers');
    if (subresource === 'resize') onlyResources(next, previous);
  },
  validateUpdate(next: Pod, previous: Pod, { subresource }) {
    if (subresource === 'ephemeralcontainers') return ephemeralChanges(next.spec ?? {}, previous.spec ?? {});
    return subresource === '' ? specChanges(next.spec ?? {}, previous.spec ?? {}) : [];
  },
};

/** API-314. */
function keepOwners(next: Pod, previous: Pod): void {
  const meta = metadataOf(next);
  const owners = previous.metadata?.ownerReferences;
  if (owners === undefined) delete meta.ownerReferences;
  else meta.ownerReferences = owners;
}

/** Writers that do not know the field must not take it away. */
function keepObservedGenerations(next: Pod, previous: Pod): void {
  const { status: old } = previous;
  if (next.status === undefined || old === undefined) return;
  const status: PodStatus = { ...next.status };
  inheritGeneration(status, old);
  if (status.conditions !== undefined) {
    status.conditions = status.conditions.map((condition) => {
      const kept = { ...condition };
      inheritGeneration(kept, old.conditions?.find(({ type }) => type === condition.type) ?? {});
      return kept;
    });
  }
  next.status = status;
}

function inheritGeneration(next: { observedGeneration?: number }, old: { observedGeneration?: number }): void {
  if ((next.observedGeneration ?? 0) === 0 && old.observedGeneration !== undefined) {
    next.observedGeneration = old.observedGeneration;
  }
}

function onlySpecField(next: Pod, previous: Pod, field: keyof PodSpec): void {
  const wanted = next.spec?.[field];
  next.spec = { ...previous.spec };
  if (wanted === undefined) delete next.spec[field];
  else next.spec[field] = wanted;
  restoreRest(next, previous);
}

/** `/resize` changes the resources of containers that exist. */
function onlyResources(next: Pod, previous: Pod): void {
  const wanted = next.spec ?? {};
  next.spec = {
    ...previous.spec,
    ...withResources(previous.spec?.containers, wanted.containers, 'containers'),
    ...withResources(previous.spec?.initContainers, wanted.initContainers, 'initContainers'),
  };
  restoreRest(next, previous);
}

function withResources(
  old: readonly Container[] | null | undefined,
  wanted: readonly Container[] | null | undefined,
  field: 'containers' | 'initContainers',
): Partial<PodSpec> {
  if (!old) return {};
  const containers = old.map((container) => {
    const match = wanted?.find((candidate) => candidate.name === container.name);
    return match === undefined ? container : { ...container, resources: match['resources'] ?? {} };
  });
  return { [field]: containers };
}

function restoreRest(next: Pod, previous: Pod): void {
  if (previous.status === undefined) delete next.status;
  else next.status = previous.status;
}

/** API-321: containers for debugging are added; those that are there stay as they are. */
function ephemeralChanges(next: PodSpec, previous: PodSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const old of previous.ephemeralContainers ?? []) {
    const now = (next.ephemeralContainers ?? []).find(({ name }) => name === old.name);
    if (now !== undefined && deepEqual(now, old)) continue;
    const what = now === undefined ? 'removed' : 'changed';
    const text = `existing ephemeral containers ${JSON.stringify(old.name ?? '')} may not be ${what}\n`;
    errors.push(fieldForbidden('spec.ephemeralContainers', text));
  }
  return errors;
}

const MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** API-315: what may change is made equal, then nothing may differ. */
function specChanges(next: PodSpec, previous: PodSpec): readonly FieldError[] {
  if (deepEqual(next, previous)) return [];
  const leveled: PodSpec = {
    ...next,
    ...withImages(next.containers, previous.containers, 'containers'),
    ...withImages(next.initContainers, previous.initContainers, 'initContainers'),
  };
  level(leveled, previous, 'activeDeadlineSeconds');
  const gates = previous.schedulingGates ?? [];
  if ((next.schedulingGates ?? []).every(({ name }) => gates.some((gate) => gate.name === name))) {
    level(leveled, previous, 'schedulingGates');
  }
  if (gates.length > 0) {
    // A gated pod is not being scheduled yet: where it may go can still be narrowed.
    level(leveled, previous, 'nodeSelector');
    level(leveled, previous, 'affinity');
  }
  const tolerations = next.tolerations ?? [];
  if ((previous.tolerations ?? []).every((old) => tolerations.some((toleration) => deepEqual(old, toleration)))) {
    level(leveled, previous, 'tolerations');
  }
  if ((previous.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1) {
    level(leveled, previous, 'terminationGracePeriodSeconds');
  }
  return deepEqual(leveled, previous) ? [] : [fieldForbidden('spec', MUTABLE)];
}

function level(spec: PodSpec, previous: PodSpec, field: string): void {
  if (previous[field] === undefined) delete spec[field];
  else spec[field] = previous[field];
}

function withImages(
  containers: readonly Container[] | null | undefined,
  previous: readonly Container[] | null | undefined,
  field: 'containers' | 'initContainers',
): Partial<PodSpec> {
  if (!containers || containers.length !== previous?.length) return {};
  return { [field]: containers.map((container, i) => ({ ...container, image: previous[i]?.['image'] })) };
}
