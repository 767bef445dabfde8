import { fieldForbidden, type FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatTime } from '../../../api/meta/time.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { isDns1123Label } from '../../../api/validation/names.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import { metadataOf } from '../object/object-meta.ts';
import type { Strategy } from '../strategy.ts';
import { mergeLabelKeys } from './pod-label-keys.ts';
import { qosClassOf } from './pod-qos.ts';
import { type ChangingSpec, validateSpecUpdate } from './pod-update.ts';

type Container = Record<string, unknown> & { name?: string };

interface PodSpec extends ChangingSpec {
  containers?: Container[] | null;
  initContainers?: Container[];
  ephemeralContainers?: Container[];
}

interface PodStatus extends Record<string, unknown> {
  observedGeneration?: number;
  conditions?: { type?: string; observedGeneration?: number }[];
}

interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

/** `now` is in RFC 3339. */
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

/** The strategy of pods (API-310..321). */
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
    return subresource === '' ? validateSpecUpdate(next.spec ?? {}, previous.spec ?? {}) : [];
  },
};

/** A status write keeps the owner references (API-314). */
function keepOwners(next: Pod, previous: Pod): void {
  const meta = metadataOf(next);
  const owners = previous.metadata?.ownerReferences;
  if (owners === undefined) delete meta.ownerReferences;
  else meta.ownerReferences = owners;
}

/** Keeps the field for writers that do not know it. */
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

/** `/resize` changes only the resources of existing containers. */
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

/** Ephemeral containers can be added; existing ones are immutable (API-321). */
function ephemeralChanges(next: PodSpec, previous: PodSpec): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const old of previous.ephemeralContainers ?? []) {
    const now = (next.ephemeralContainers ?? []).find(({ name }) => name === old.name);
    if (now !== undefined && deepEqual(now, old)) continue;
    const what = now === undefined ? 'removed' : 'changed';
    const text = `existing ephemeral containers ${quoted(old.name ?? '')} may not be ${what}\n`;
    errors.push(fieldForbidden('spec.ephemeralContainers', text));
  }
  return errors;
}
