import type { FieldError } from '../../field-error.ts';
import { fieldInvalid } from '../../field-error.ts';
import type { ResourceInfo } from '../../kinds/resource-info.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { validateJobStatus } from './validate-job-status.ts';

/** Relations between counts of a status. */
interface StatusRules {
  readonly notNegative: readonly string[];
  /** `[count, bound, text]`. */
  readonly notGreater?: readonly (readonly [count: string, bound: string, text: string])[];
  /** Counts that never decrease. */
  readonly notDecremented?: readonly string[];
}

const THAN_REPLICAS = 'cannot be greater than status.replicas';
const upTo = (...counts: string[]): (readonly [string, string, string])[] =>
  counts.map((count) => [count, 'replicas', THAN_REPLICAS] as const);

const REPLICA_SET: StatusRules = {
  notNegative: [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'terminatingReplicas',
    'observedGeneration',
  ],
  notGreater: [
    ...upTo('fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'),
    ['availableReplicas', 'readyReplicas', 'cannot be greater than readyReplicas'],
  ],
};

/** Rules by type name (upstream `pkg/apis/{apps,autoscaling,batch,core,policy}/validation`, the functions for status updates). */
const STATUS_RULES: Readonly<Record<string, StatusRules>> = {
  'api/core/v1.ReplicationController': REPLICA_SET,
  'api/apps/v1.ReplicaSet': REPLICA_SET,
  'api/apps/v1.Deployment': {
    notNegative: [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'terminatingReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'collisionCount',
    ],
    notGreater: [
      ...upTo('updatedReplicas', 'readyReplicas', 'availableReplicas'),
      ['availableReplicas', 'readyReplicas', 'cannot be greater than readyReplicas'],
    ],
    notDecremented: ['collisionCount'],
  },
  'api/apps/v1.StatefulSet': {
    notNegative: [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    notGreater: [
      ...upTo('readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'),
      ['availableReplicas', 'readyReplicas', 'cannot be greater than status.readyReplicas'],
    ],
    notDecremented: ['collisionCount'],
  },
  'api/apps/v1.DaemonSet': {
    notNegative: [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    notDecremented: ['collisionCount'],
  },
  'api/batch/v1.Job': { notNegative: ['active', 'succeeded', 'failed', 'ready', 'terminating'] },
  'api/policy/v1.PodDisruptionBudget': {
    notNegative: ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
  },
  'api/autoscaling/v2.HorizontalPodAutoscaler': { notNegative: ['currentReplicas', 'desiredReplicas'] },
  'api/autoscaling/v1.HorizontalPodAutoscaler': { notNegative: ['currentReplicas', 'desiredReplicas'] },
};

type Counts = Readonly<Record<string, number | undefined>>;

function countsOf(object: KubeObject): Counts {
  return (object['status'] ?? {}) as Counts;
}

/** Problems of the counts in a status that a controller writes (API-502). */
export function validateBuiltinStatus(next: KubeObject, previous: KubeObject, info: ResourceInfo): FieldError[] {
  const rules = info.typeName === undefined ? undefined : STATUS_RULES[info.typeName];
  if (rules === undefined) return [];
  const counts = countsOf(next);
  const before = countsOf(previous);
  const errors: FieldError[] = [];
  const refuse = (count: string, text: string): void => {
    errors.push(fieldInvalid(`status.${count}`, counts[count] ?? 0, text));
  };
  for (const count of rules.notNegative) {
    if ((counts[count] ?? 0) < 0) refuse(count, 'must be greater than or equal to 0');
  }
  for (const [count, bound, text] of rules.notGreater ?? []) {
    if ((counts[count] ?? 0) > (counts[bound] ?? 0)) refuse(count, text);
  }
  for (const count of rules.notDecremented ?? []) {
    if ((counts[count] ?? 0) < (before[count] ?? 0)) refuse(count, 'cannot be decremented');
  }
  return info.typeName === 'api/batch/v1.Job' ? [...errors, ...validateJobStatus(next, previous)] : errors;
}
