import { findCondition } from '../../api/meta/conditions.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import {
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  desiredReplicas,
  fenceposts,
  progressDeadline,
} from './deployment.ts';

type NewCondition = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>;

/** Adds a condition. It replaces the one of its type only if status or reason differ. `now` in epoch ms. */
export function withDeploymentCondition(
  conditions: readonly DeploymentCondition[],
  { type, status, reason, message }: NewCondition,
  now: number,
): readonly DeploymentCondition[] {
  const before = findCondition(conditions, type) as DeploymentCondition | undefined;
  if (before?.status === status && before.reason === reason) return conditions;
  const time = formatTime(now);
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? time) : time;
  const condition = { type, status, lastUpdateTime: time, lastTransitionTime, reason, message };
  return [...conditions.filter((each) => each.type !== type), condition] as DeploymentCondition[];
}

interface StatusFacts {
  readonly all: readonly ReplicaSet[];
  readonly newOne: ReplicaSet | undefined;
  /** Epoch ms. */
  readonly now: number;
  /** The previous conditions, with the changes of this sync. */
  readonly conditions: readonly DeploymentCondition[];
}

/** Counts and availability (LIFE-314; `calculateStatus`). Pure. */
export function deploymentCounts(
  deployment: Deployment,
  { all, newOne, now, conditions }: StatusFacts,
): DeploymentStatus {
  const sum = (of: (replicaSet: ReplicaSet) => number | undefined): number =>
    all.reduce((total, replicaSet) => total + (of(replicaSet) ?? 0), 0);
  const availableReplicas = sum(({ status }) => status?.availableReplicas);
  const available = availableReplicas >= desiredReplicas(deployment) - fenceposts(deployment).maxUnavailable;
  const { collisionCount } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata?.generation ?? 0,
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: newOne?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum(({ spec }) => spec?.replicas) - availableReplicas),
    terminatingReplicas: sum(({ status }) => status?.terminatingReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withDeploymentCondition(
      conditions,
      available
        ? {
            type: 'Available',
            status: 'True',
            reason: 'MinimumReplicasAvailable',
            message: 'Deployment has minimum availability.',
          }
        : {
            type: 'Available',
            status: 'False',
            reason: 'MinimumReplicasUnavailable',
            message: 'Deployment does not have minimum availability.',
          },
      now,
    ),
  };
}

/** True if all pods have the new template and are available, and the controller has seen the latest generation. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = desiredReplicas(deployment);
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata?.generation ?? 0)
  );
}

/** Counts, progress and failures of a rollout (`syncRolloutStatus`). Pure. */
export function rolloutStatus(deployment: Deployment, facts: StatusFacts): DeploymentStatus {
  const status = deploymentCounts(deployment, facts);
  const progressed = withProgress(deployment, status, facts);
  const failure = replicaFailure(facts);
  const others = progressed.filter(({ type }) => type !== 'ReplicaFailure');
  const present = findCondition(progressed, 'ReplicaFailure') as DeploymentCondition | undefined;
  if (failure === undefined) return { ...status, conditions: others };
  const stays = present !== undefined && present.status === failure.status && present.reason === failure.reason;
  return { ...status, conditions: stays ? progressed : [...others, failure] };
}

function withProgress(
  deployment: Deployment,
  status: DeploymentStatus,
  { newOne, now, conditions: before }: StatusFacts,
): readonly DeploymentCondition[] {
  const conditions = status.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== 'Progressing');
  if (progressDeadline(deployment) === undefined) return others;
  const current = findCondition(before, 'Progressing') as DeploymentCondition | undefined;
  const rolledOut = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable';
  if (rolledOut) return conditions;
  const subject =
    newOne === undefined
      ? `Deployment "${deployment.metadata?.name ?? ''}"`
      : `ReplicaSet "${newOne.metadata?.name ?? ''}"`;
  const set = (condition: Omit<NewCondition, 'type'>, base = conditions): readonly DeploymentCondition[] =>
    withDeploymentCondition(base, { type: 'Progressing', ...condition }, now);
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    return set({ status: 'True', reason: 'NewReplicaSetAvailable', message });
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const [condition] = set({ status: 'True', reason: 'ReplicaSetUpdated', message: `${subject} is progressing.` }, []);
    const since = current?.status === 'True' ? current.lastTransitionTime : undefined;
    return [...others, { ...condition!, ...(since ? { lastTransitionTime: since } : {}) }];
  }
  if (timedOutAt(deployment, current, now)) {
    const message = `${subject} has timed out progressing.`;
    return set({ status: 'False', reason: 'ProgressDeadlineExceeded', message });
  }
  return conditions;
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function timedOutAt(deployment: Deployment, current: DeploymentCondition | undefined, now: number): boolean {
  const deadline = progressDeadline(deployment);
  if (deadline === undefined || current === undefined || current.reason === 'NewReplicaSetAvailable') return false;
  if (current.reason === 'ProgressDeadlineExceeded') return true;
  const since = parseTime(current.lastUpdateTime ?? '');
  return since !== undefined && since + deadline * 1000 < now;
}

/** Ms until the progress deadline must be checked; undefined if it has passed, or nothing waits for it. */
export function deadlineIn(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadline = progressDeadline(deployment);
  const current = findCondition(status.conditions, 'Progressing') as DeploymentCondition | undefined;
  if (deadline === undefined || current === undefined || deployment.spec?.paused === true) return undefined;
  if (current.reason === 'ProgressDeadlineExceeded' || current.reason === 'NewReplicaSetAvailable') return undefined;
  if (isComplete(deployment, status)) return undefined;
  const since = parseTime(current.lastUpdateTime ?? '') ?? now;
  return Math.max(0, since + deadline * 1000 - now) + 1000;
}

/** The error that prevents the new ReplicaSet, or another one, from creating pods. */
function replicaFailure({ all, newOne }: StatusFacts): DeploymentCondition | undefined {
  const sets = newOne === undefined ? all : [newOne, ...all.filter((each) => each !== newOne)];
  const [condition] = sets.flatMap(({ status }) =>
    (status?.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure'),
  );
  if (condition === undefined) return undefined;
  const { type, status, lastTransitionTime = null, reason = '', message = '' } = condition;
  return { type, status, lastUpdateTime: lastTransitionTime, lastTransitionTime, reason, message };
}

/** True if the server would store nothing new; an absent count equals 0. */
export function sameStatus(a: DeploymentStatus, b: DeploymentStatus): boolean {
  const counts = (status: DeploymentStatus): number[] => [
    status.observedGeneration ?? 0,
    status.replicas ?? 0,
    status.updatedReplicas ?? 0,
    status.readyReplicas ?? 0,
    status.availableReplicas ?? 0,
    status.unavailableReplicas ?? 0,
    status.terminatingReplicas ?? 0,
    status.collisionCount ?? 0,
  ];
  return deepEqual(counts(a), counts(b)) && deepEqual(a.conditions ?? [], b.conditions ?? []);
}
