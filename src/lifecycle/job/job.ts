import type { Int64 } from '../../base/json/exact-json.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { OwnerKind } from '../ownership/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-control.ts';
import type { Pod } from '../pods/pod-object.ts';

export const JOBS: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'jobs' };
export const JOB_KIND: OwnerKind = { apiVersion: 'batch/v1', kind: 'Job' };
/** The finalizer of pods that their Job has not counted yet (LIFE-351). */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** Label and annotation of the pods of an indexed Job. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** The number of earlier failures of pods with this index. */
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
const OWN_MANAGER = 'kubernetes.io/job-controller';

export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface FailurePolicyRule {
  readonly action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
  readonly onExitCodes?: {
    readonly containerName?: string | null;
    readonly operator: 'In' | 'NotIn';
    readonly values: readonly number[];
  } | null;
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

interface SuccessPolicyRule {
  readonly succeededIndexes?: string | null;
  readonly succeededCount?: number | null;
}

export interface JobSpec {
  readonly parallelism?: number | null;
  readonly completions?: number | null;
  readonly completionMode?: string | null;
  readonly backoffLimit?: number | null;
  readonly backoffLimitPerIndex?: number | null;
  readonly maxFailedIndexes?: number | null;
  readonly activeDeadlineSeconds?: Int64 | null;
  readonly suspend?: boolean | null;
  readonly podReplacementPolicy?: string | null;
  readonly podFailurePolicy?: { readonly rules?: readonly FailurePolicyRule[] } | null;
  readonly successPolicy?: { readonly rules?: readonly SuccessPolicyRule[] } | null;
  readonly managedBy?: string | null;
  readonly template?: PodTemplate;
}

export interface JobStatus {
  conditions?: readonly JobCondition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

export interface Job extends KubeObject {
  spec?: JobSpec;
  status?: JobStatus;
}

export function conditionOf(job: Job, type: string): JobCondition | undefined {
  return job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

/** True if the Job is Complete or Failed, after which it is never synced (LIFE-358). */
export function isJobFinished(job: Job): boolean {
  return conditionOf(job, 'Complete') !== undefined || conditionOf(job, 'Failed') !== undefined;
}

/** True if another program runs this Job (LIFE-356). */
export function isManagedByOthers(job: Job): boolean {
  const { managedBy } = job.spec ?? {};
  return managedBy !== undefined && managedBy !== null && managedBy !== OWN_MANAGER;
}

export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === 'Indexed';
}

export function isTracked(pod: Pod): boolean {
  return pod.metadata?.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** True if only failed pods are replaced: with that policy, and with a pod failure policy (LIFE-360). */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || Boolean(spec?.podFailurePolicy);
}

/** A terminating pod counts as failed, unless the Job waits for its phase (LIFE-360). */
export function hasPodFailed(pod: Pod, job: Job): boolean {
  const phase = pod.status?.phase;
  if (phase === 'Failed') return true;
  if (phase === 'Succeeded' || replacesOnlyFailed(job)) return false;
  return Boolean(pod.metadata?.deletionTimestamp);
}
