import { formatTime, parseTime } from '../../api/meta/time.ts';
import type { EventType } from '../../client/events/event-correlator.ts';
import { isPodActive } from '../pods/pod-availability.ts';
import { isPodFinished, isPodReady, type Pod } from '../pods/pod-object.ts';
import { formatIndexes, indexOf, parseIndexes } from './completion-indexes.ts';
import {
  conditionOf,
  hasPodFailed,
  INDEX_FAILURES,
  isIndexed,
  isTracked,
  type Job,
  type JobCondition,
  type JobStatus,
  replacesOnlyFailed,
} from './job.ts';
import { afterEnds, type BackOffRecord, remainingBackOff } from './pod-back-off.ts';
import { judgeFailure } from './pod-failure-policy.ts';

interface JobFacts {
  /** Pods that the Job controls, in any phase. */
  readonly pods: readonly Pod[];
  /** Epoch ms. */
  readonly now: number;
  readonly backOff: BackOffRecord;
}

interface JobEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** The actions of one sync of a Job, in this order. An unchanged status is not written. */
export interface JobPlan {
  /** Pods to create; for an indexed Job with their indexes. */
  readonly create: readonly { readonly index?: number; readonly failures?: number }[];
  /** Surplus pods. Their finalizer is removed first, so that they are not counted. */
  readonly discard: readonly Pod[];
  /** Active pods of a finished Job, which are deleted and then counted. */
  readonly terminate: readonly Pod[];
  /** The counts after `created` pods were created and `deleted` ones deleted. */
  readonly statusAfter: (done: {
    readonly created: number;
    readonly discarded: number;
    readonly terminated: number;
  }) => JobStatus;
  /** Pods whose finalizer is removed after the status that counts them is written. */
  readonly release: readonly Pod[];
  readonly events: readonly JobEvent[];
  readonly backOff: BackOffRecord;
  /** Ms until something is due without an event. */
  readonly againInMs: number | undefined;
}

/** Maximum number of pods that one sync creates or deletes, and of uids that wait to be counted (LIFE-010, LIFE-352). */
const MOST_AT_ONCE = 500;

type Outcome = Pick<JobCondition, 'reason' | 'message'> & { readonly type: 'SuccessCriteriaMet' | 'FailureTarget' };

/**
 * Decides the next actions for a Job (LIFE-351 to LIFE-361; `pkg/controller/job/job_controller.go`). A pod is counted in three steps, so
 * that a crash between two of them counts it once: its uid is added to `uncountedTerminatedPods`, then its finalizer is removed, then the
 * counter is raised.
 */
export function decideJob(job: Job, { pods, now, backOff }: JobFacts): JobPlan {
  const { spec = {} } = job;
  const events: JobEvent[] = [];
  const completions = spec.completions ?? undefined;
  const indexed = isIndexed(job) && completions !== undefined;
  const terminatingJob = Boolean(job.metadata?.deletionTimestamp);
  const suspended = spec.suspend === true;
  const status: JobStatus = countReleased(job.status ?? {}, pods);
  if (status.startTime === undefined && !suspended) status.startTime = formatTime(now);

  // Finished pods that are neither counted nor about to be.
  const waiting = new Set([
    ...(status.uncountedTerminatedPods?.succeeded ?? []),
    ...(status.uncountedTerminatedPods?.failed ?? []),
  ]);
  const fresh = pods.filter((pod) => isTracked(pod) && !waiting.has(pod.metadata?.uid ?? ''));
  const hasPlace = (pod: Pod): boolean => !indexed || indexOf(pod, completions) !== undefined;
  const doneBefore = indexed ? parseIndexes(status.completedIndexes, completions) : new Set<number>();
  const newSucceeded = fresh.filter((pod) => pod.status?.phase === 'Succeeded' && hasPlace(pod));
  const newFailed = fresh.filter((pod) => hasPodFailed(pod, job) && hasPlace(pod) && judgeFailure(job, pod).counts);
  const record = afterEnds(backOff, { succeeded: newSucceeded, failed: newFailed }, now);

  const active = pods.filter(isPodActive);
  const terminating = pods.filter((pod) => Boolean(pod.metadata?.deletionTimestamp) && !isPodFinished(pod));
  const doneIndexes = new Set(doneBefore);
  if (indexed) for (const pod of newSucceeded) doneIndexes.add(indexOf(pod, completions)!);
  const succeeded = indexed
    ? doneIndexes.size
    : (status.succeeded ?? 0) + (status.uncountedTerminatedPods?.succeeded?.length ?? 0) + newSucceeded.length;
  const failed = (status.failed ?? 0) + (status.uncountedTerminatedPods?.failed?.length ?? 0) + newFailed.length;
  const limitPerIndex = indexed ? (spec.backoffLimitPerIndex ?? undefined) : undefined;
  const failedIndexes =
    limitPerIndex === undefined
      ? undefined
      : failedOf(job, fresh, { completions: completions!, limitPerIndex, doneIndexes });

  const outcome = terminatingJob
    ? undefined
    : outcomeOf(job, {
        pods,
        now,
        startTime: status.startTime,
        succeeded,
        failed,
        activeCount: active.length,
        doneIndexes,
        failedIndexes,
      });

  // Handles suspension and resumption.
  if (!terminatingJob && outcome === undefined) {
    const changed = withSuspension(status, suspended, now);
    if (changed !== undefined) {
      events.push({ type: 'Normal', ...changed });
      if (!suspended) status.startTime = formatTime(now);
    }
  }
  // A Job that was never started, or whose start was removed during its suspension, can fail too.
  if (outcome !== undefined) status.startTime ??= formatTime(now);
  if (outcome !== undefined && conditionOf({ status }, outcome.type) === undefined) {
    status.conditions = [...(status.conditions ?? []), conditionFor(outcome.type, outcome, now)];
  }

  // Decides which pods to create, discard and terminate.
  let create: JobPlan['create'] = [];
  let discard: readonly Pod[] = [];
  let terminate: readonly Pod[] = [];
  const dues: number[] = [];
  if (outcome !== undefined) terminate = active.slice(0, MOST_AT_ONCE);
  else if (!terminatingJob && suspended) discard = active.slice(0, MOST_AT_ONCE);
  else if (!terminatingJob) {
    const parallelism = spec.parallelism ?? 1;
    const wanted =
      completions === undefined
        ? succeeded > 0
          ? Math.min(active.length, parallelism)
          : parallelism
        : Math.max(0, Math.min(parallelism, completions - succeeded - (failedIndexes?.size ?? 0)));
    const lost = indexed ? strayPods(active, { completions, doneIndexes, failedIndexes }) : [];
    const surplus = active.length - lost.length - wanted;
    discard = [
      ...lost,
      ...toDiscard(
        active.filter((pod) => !lost.includes(pod)),
        Math.max(0, surplus),
      ),
    ].slice(0, MOST_AT_ONCE);
    const missing = wanted - active.length - (replacesOnlyFailed(job) ? terminating.length : 0);
    const wait = limitPerIndex === undefined ? remainingBackOff(record, now) : 0;
    if (missing > 0 && discard.length === 0) {
      if (wait > 0) dues.push(wait);
      else if (indexed) {
        const occupied = new Set<number>([...doneIndexes, ...(failedIndexes ?? [])]);
        const blocking = replacesOnlyFailed(job) ? [...active, ...terminating] : active;
        for (const pod of blocking) occupied.add(indexOf(pod, completions) ?? -1);
        const chosen = freeIndexes(job, fresh, {
          completions,
          occupied,
          count: Math.min(missing, MOST_AT_ONCE),
          now,
          perIndex: limitPerIndex !== undefined,
        });
        create = chosen.create;
        if (chosen.waitMs !== undefined) dues.push(chosen.waitMs);
      } else create = Array.from({ length: Math.min(missing, MOST_AT_ONCE) }, () => ({}));
    }
    if (spec.activeDeadlineSeconds && !suspended) {
      dues.push((parseTime(status.startTime ?? '') ?? now) + Number(spec.activeDeadlineSeconds) * 1000 - now);
    }
  }

  // The pods that are counted now, and those that lose their finalizer.
  const uncounted = {
    succeeded: [...(status.uncountedTerminatedPods?.succeeded ?? [])],
    failed: [...(status.uncountedTerminatedPods?.failed ?? [])],
  };
  const release: Pod[] = [];
  const replacedIndexes = new Set(create.map(({ index }) => index));
  for (const pod of pods) {
    if (!isTracked(pod)) continue;
    const uid = pod.metadata?.uid ?? '';
    if (waiting.has(uid) || terminatingJob) {
      release.push(pod);
      continue;
    }
    if (uncounted.succeeded.length + uncounted.failed.length >= MOST_AT_ONCE) break;
    const ended = pod.status?.phase === 'Succeeded';
    if (!ended && !hasPodFailed(pod, job) && !(outcome !== undefined && isPodFinished(pod))) continue;
    if (!ended && limitPerIndex !== undefined && outcome === undefined && isLastOfIndex(pod)) continue;
    release.push(pod);
    if (!hasPlace(pod)) continue;
    if (ended) {
      if (!indexed) uncounted.succeeded.push(uid);
    } else if (judgeFailure(job, pod).counts) uncounted.failed.push(uid);
  }
  if (indexed) {
    status.completedIndexes = formatIndexes(doneIndexes);
    status.succeeded = doneIndexes.size;
  }
  if (failedIndexes !== undefined) status.failedIndexes = formatIndexes(failedIndexes);
  status.uncountedTerminatedPods = {
    ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
    ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
  };

  /** A failed pod whose index is retried keeps its finalizer until the next pod of the index has its failure count. */
  function isLastOfIndex(pod: Pod): boolean {
    const index = indexOf(pod, completions ?? 0);
    if (index === undefined || doneIndexes.has(index) || failedIndexes?.has(index) === true) return false;
    if (replacedIndexes.has(index)) return true;
    const failures = failuresBefore(pod);
    const isNext = (other: Pod): boolean => failuresBefore(other) > failures || !hasPodFailed(other, job);
    return !pods.some((other) => other !== pod && indexOf(other, completions ?? 0) === index && isNext(other));
  }

  const nothingLeft = uncounted.succeeded.length + uncounted.failed.length === 0 && release.length === 0;
  const over = outcome !== undefined && nothingLeft && terminating.length === 0 && active.length === 0;
  if (over) {
    const complete = outcome.type === 'SuccessCriteriaMet';
    status.conditions = [...(status.conditions ?? []), conditionFor(complete ? 'Complete' : 'Failed', outcome, now)];
    if (complete) status.completionTime = formatTime(now);
    events.push(
      complete
        ? { type: 'Normal', reason: 'Completed', message: 'Job completed' }
        : { type: 'Warning', reason: outcome.reason ?? '', message: outcome.message ?? '' },
    );
    if (complete && !indexed && completions !== undefined && succeeded > completions) {
      const message = 'Too many succeeded pods running after completion count reached';
      events.push({ type: 'Warning', reason: 'TooManySucceededPods', message });
    }
  }

  const readyCount = active.filter(isPodReady).length;
  return {
    create,
    discard,
    terminate,
    release,
    events,
    backOff: record,
    againInMs: dues.length === 0 ? undefined : Math.max(1, Math.min(...dues)),
    statusAfter: ({ created, discarded, terminated }) => ({
      ...status,
      active: active.length + created - discarded - terminated,
      ready: Math.max(0, discarded + terminated > 0 ? 0 : readyCount),
      terminating: terminating.length + terminated,
    }),
  };
}

/** Adds noted pods without a finalizer to the counters. */
function countReleased(before: JobStatus, pods: readonly Pod[]): JobStatus {
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata?.uid ?? ''));
  const { succeeded = [], failed = [] } = before.uncountedTerminatedPods ?? {};
  const counted = (uids: readonly string[]): number => uids.filter((uid) => !held.has(uid)).length;
  const left = (uids: readonly string[]): readonly string[] => uids.filter((uid) => held.has(uid));
  const status: JobStatus = {
    ...before,
    uncountedTerminatedPods: { succeeded: left(succeeded), failed: left(failed) },
  };
  if (counted(succeeded) > 0) status.succeeded = (before.succeeded ?? 0) + counted(succeeded);
  if (counted(failed) > 0) status.failed = (before.failed ?? 0) + counted(failed);
  return status;
}

interface OutcomeFacts {
  readonly pods: readonly Pod[];
  readonly now: number;
  readonly startTime: string | undefined;
  readonly succeeded: number;
  readonly failed: number;
  readonly activeCount: number;
  readonly doneIndexes: ReadonlySet<number>;
  readonly failedIndexes: ReadonlySet<number> | undefined;
}

/** The outcome of the Job, if any: from its status, otherwise the first reason that applies (LIFE-357). */
function outcomeOf(job: Job, facts: OutcomeFacts): Outcome | undefined {
  const { spec = {} } = job;
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const known = conditionOf(job, type);
    if (known !== undefined) return { type, reason: known.reason ?? '', message: known.message ?? '' };
  }
  const fails = (reason: string, message: string): Outcome => ({ type: 'FailureTarget', reason, message });
  for (const pod of facts.pods) {
    const { failsJob } = hasPodFailed(pod, job) ? judgeFailure(job, pod) : {};
    if (failsJob !== undefined) return fails('PodFailurePolicy', failsJob);
  }
  const perIndex = facts.failedIndexes !== undefined;
  const limit = spec.backoffLimit ?? (perIndex ? Number.MAX_SAFE_INTEGER : 6);
  if (facts.failed > limit || restartsExceed(job, facts.pods, limit)) {
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const startedAt = parseTime(facts.startTime ?? '');
  const deadline = spec.activeDeadlineSeconds;
  if (
    deadline &&
    spec.suspend !== true &&
    startedAt !== undefined &&
    facts.now - startedAt >= Number(deadline) * 1000
  ) {
    return fails('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  const { completions } = spec;
  if (facts.failedIndexes !== undefined) {
    const count = facts.failedIndexes.size;
    if (spec.maxFailedIndexes !== undefined && spec.maxFailedIndexes !== null && count > spec.maxFailedIndexes) {
      return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
    }
    if (count > 0 && count + facts.doneIndexes.size >= (completions ?? 0))
      return fails('FailedIndexes', 'Job has failed indexes');
  }
  if (isIndexed(job)) {
    const rules = spec.successPolicy?.rules ?? [];
    for (const [index, rule] of rules.entries()) {
      const wanted = rule.succeededIndexes ? parseIndexes(rule.succeededIndexes, completions ?? 0) : undefined;
      const done =
        wanted === undefined
          ? facts.doneIndexes.size
          : [...wanted].filter((each) => facts.doneIndexes.has(each)).length;
      const enough = rule.succeededCount ?? wanted?.size ?? completions ?? 0;
      if (done >= enough)
        return { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: `Matched rules at index ${index}` };
    }
  }
  const complete =
    completions === undefined || completions === null ? facts.succeeded > 0 : facts.succeeded >= completions;
  if (!complete || facts.activeCount > 0 || spec.suspend === true) return undefined;
  return {
    type: 'SuccessCriteriaMet',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}

/** Restarts of containers count if pods are restarted instead of replaced. */
function restartsExceed(job: Job, pods: readonly Pod[], limit: number): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Indexes whose last pod exceeded the limit of failures, or failed by a rule that fails the index. */
function failedOf(
  job: Job,
  fresh: readonly Pod[],
  {
    completions,
    limitPerIndex,
    doneIndexes,
  }: { readonly completions: number; readonly limitPerIndex: number; readonly doneIndexes: ReadonlySet<number> },
): Set<number> {
  const indexes = parseIndexes(job.status?.failedIndexes, completions);
  for (const pod of fresh) {
    const index = indexOf(pod, completions);
    if (index === undefined || doneIndexes.has(index) || !hasPodFailed(pod, job)) continue;
    const { counts, failsIndex = false } = judgeFailure(job, pod);
    if (failsIndex || (counts && failuresBefore(pod) >= limitPerIndex)) indexes.add(index);
  }
  return indexes;
}

function failuresBefore({ metadata }: Pod): number {
  const text = metadata?.annotations?.[INDEX_FAILURES] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Active pods without a place: their index is done, failed, duplicated or not of this Job. */
function strayPods(
  active: readonly Pod[],
  {
    completions,
    doneIndexes,
    failedIndexes,
  }: {
    readonly completions: number;
    readonly doneIndexes: ReadonlySet<number>;
    readonly failedIndexes: ReadonlySet<number> | undefined;
  },
): Pod[] {
  const seen = new Set<number>();
  return active.filter((pod) => {
    const index = indexOf(pod, completions);
    if (index === undefined || doneIndexes.has(index) || failedIndexes?.has(index) === true || seen.has(index))
      return true;
    seen.add(index);
    return false;
  });
}

/** The lowest free indexes. With a limit per index, also the number of its failures and when it may be retried. */
function freeIndexes(
  job: Job,
  fresh: readonly Pod[],
  facts: {
    readonly completions: number;
    readonly occupied: ReadonlySet<number>;
    readonly count: number;
    readonly now: number;
    readonly perIndex: boolean;
  },
): { readonly create: { index: number; failures?: number }[]; readonly waitMs: number | undefined } {
  const create: { index: number; failures?: number }[] = [];
  let waitMs: number | undefined;
  for (let index = 0; index < facts.completions && create.length < facts.count; index++) {
    if (facts.occupied.has(index)) continue;
    if (!facts.perIndex) {
      create.push({ index });
      continue;
    }
    const failed = fresh.filter((pod) => indexOf(pod, facts.completions) === index && hasPodFailed(pod, job));
    const failures =
      failed.length === 0
        ? 0
        : Math.max(...failed.map((pod) => failuresBefore(pod) + (judgeFailure(job, pod).counts ? 1 : 0)));
    const record = {
      ...afterEnds({ failures: 0, lastFailureAt: undefined }, { succeeded: [], failed }, facts.now),
      failures,
    };
    const wait = remainingBackOff(record, facts.now);
    if (wait === 0) create.push({ index, failures });
    else waitMs = Math.min(waitMs ?? wait, wait);
  }
  return { create, waitMs };
}

/** Pods that have done the least come first. */
function toDiscard(active: readonly Pod[], count: number): readonly Pod[] {
  if (count === 0) return [];
  const rank = (pod: Pod): number =>
    (pod.spec?.nodeName ?? '') === '' ? 0 : pod.status?.phase === 'Pending' ? 1 : isPodReady(pod) ? 3 : 2;
  const born = (pod: Pod): number => parseTime(pod.metadata?.creationTimestamp ?? '') ?? 0;
  return active.toSorted((a, b) => rank(a) - rank(b) || born(b) - born(a)).slice(0, count);
}

/** Changes the condition `Suspended` in place and returns the change. A Job that was never suspended has no such condition. */
function withSuspension(
  status: JobStatus,
  suspended: boolean,
  now: number,
): { readonly reason: string; readonly message: string } | undefined {
  const known = status.conditions?.find(({ type }) => type === 'Suspended');
  if (known === undefined ? !suspended : (known.status === 'True') === suspended) return undefined;
  const words = suspended
    ? { reason: 'JobSuspended', message: 'Job suspended' }
    : { reason: 'JobResumed', message: 'Job resumed' };
  const condition = { ...conditionFor('Suspended', words, now), status: suspended ? 'True' : 'False' };
  status.conditions =
    known === undefined
      ? [...(status.conditions ?? []), condition]
      : (status.conditions ?? []).map((each) => (each === known ? condition : each));
  return { reason: suspended ? 'Suspended' : 'Resumed', message: words.message };
}

function conditionFor(
  type: string,
  { reason, message }: Pick<JobCondition, 'reason' | 'message'>,
  now: number,
): JobCondition {
  const at = formatTime(now);
  return {
    type,
    status: 'True',
    lastProbeTime: at,
    lastTransitionTime: at,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
