import { deepEqual } from '../../../base/collections/deep-equal.ts';
import { type FieldError, fieldInvalid, fieldInvalidWithoutValue, fieldRequired } from '../../field-error.ts';
import { type Condition, isConditionTrue } from '../../meta/conditions.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { parseTime } from '../../meta/time.ts';

interface JobStatus {
  readonly conditions?: readonly Condition[] | null;
  readonly startTime?: string | null;
  readonly completionTime?: string | null;
  readonly active?: number | null;
  readonly ready?: number | null;
  readonly terminating?: number | null;
  readonly succeeded?: number | null;
  readonly failed?: number | null;
  readonly uncountedTerminatedPods?: {
    readonly succeeded?: readonly string[] | null;
    readonly failed?: readonly string[] | null;
  } | null;
}

interface JobSpec {
  readonly suspend?: boolean | null;
  readonly completionMode?: string | null;
  readonly completions?: number | null;
  readonly parallelism?: number | null;
}

const FINAL = ['Failed', 'Complete', 'FailureTarget'] as const;
/** Conditions of which a Job has at most one. */
const EXCLUSIVE = [
  ['Complete', 'Failed'],
  ['Complete', 'FailureTarget'],
  ['SuccessCriteriaMet', 'Failed'],
  ['SuccessCriteriaMet', 'FailureTarget'],
] as const;
/** Final conditions, each with the condition that comes before it. */
const INTERIM = [
  ['Failed', 'FailureTarget'],
  ['Complete', 'SuccessCriteriaMet'],
] as const;

/** The facts about a Job that a status update may change. */
function factsOf(object: KubeObject) {
  const status = (object['status'] ?? {}) as JobStatus;
  const { active, ready, terminating, succeeded, failed, uncountedTerminatedPods: uncounted } = status;
  const is = (type: string): boolean => isConditionTrue(status.conditions, type);
  return {
    Failed: is('Failed'),
    Complete: is('Complete'),
    FailureTarget: is('FailureTarget'),
    SuccessCriteriaMet: is('SuccessCriteriaMet'),
    Suspended: is('Suspended'),
    finished: is('Complete') || is('Failed'),
    startTime: status.startTime ?? undefined,
    completionTime: status.completionTime ?? undefined,
    active: active ?? 0,
    ready: ready ?? 0,
    terminating: terminating ?? 0,
    succeeded: succeeded ?? 0,
    failed: failed ?? 0,
    uncounted: uncountedOf(uncounted ?? {}),
  };
}
type Facts = ReturnType<typeof factsOf>;

/** The lists of uids that are not empty. */
function uncountedOf({ succeeded, failed }: NonNullable<JobStatus['uncountedTerminatedPods']>) {
  return { ...(succeeded?.length ? { succeeded } : {}), ...(failed?.length ? { failed } : {}) };
}

/**
 * Problems of the status that a Job's controller writes: conditions that contradict each other, and final ones that come too early or are
 * taken back (LIFE-507). A relation is checked only if the update changes a part of it, so that an older object can still be written.
 */
export function validateJobStatus(nextJob: KubeObject, previousJob: KubeObject): FieldError[] {
  const next = factsOf(nextJob);
  const previous = factsOf(previousJob);
  const changed = (...names: readonly (keyof Facts)[]): boolean =>
    names.some((name) => !deepEqual(next[name], previous[name]));
  return [
    ...conditionErrors(next, previous, changed),
    ...timeErrors(next, previous, changed, (nextJob['spec'] ?? {}) as JobSpec),
    ...countErrors(next, previous, changed, (nextJob['spec'] ?? {}) as JobSpec),
  ];
}

type Changed = (...names: readonly (keyof Facts)[]) => boolean;

function conditionErrors(next: Facts, previous: Facts, changed: Changed): FieldError[] {
  const texts: string[] = [];
  for (const [one, other] of EXCLUSIVE) {
    if (next[one] && next[other] && changed(one, other))
      texts.push(`cannot set ${one}=True and ${other}=true conditions`);
  }
  for (const [final, interim] of INTERIM) {
    if (next[final] && !next[interim] && changed(final, interim)) {
      texts.push(`cannot set ${final}=True condition without the ${interim}=true condition`);
    }
  }
  for (const type of FINAL) {
    if (previous[type] && !next[type]) texts.push(`cannot disable the terminal ${type}=True condition`);
  }
  if (previous.SuccessCriteriaMet && !next.SuccessCriteriaMet) {
    texts.push('cannot disable the SuccessCriteriaMet=True condition');
  }
  return texts.map((text) => fieldInvalidWithoutValue('status.conditions', text));
}

function timeErrors(next: Facts, previous: Facts, changed: Changed, { suspend }: JobSpec): FieldError[] {
  const { startTime, completionTime, Complete, finished } = next;
  const errors: FieldError[] = [];
  const refuse = (text: string): void => {
    errors.push(fieldInvalid('status.completionTime', completionTime, text));
  };
  if (changed('Complete', 'completionTime')) {
    if (completionTime !== undefined && !Complete) {
      refuse('cannot set completionTime when there is no Complete=True condition');
    }
    if (completionTime === undefined && Complete) {
      errors.push(fieldRequired('status.completionTime', 'completionTime is required for Complete jobs'));
    }
  }
  if (
    changed('startTime', 'completionTime') &&
    (parseTime(completionTime ?? '') ?? Infinity) < (parseTime(startTime ?? '') ?? 0)
  ) {
    refuse('completionTime cannot be set before startTime');
  }
  if (completionTime !== undefined && previous.completionTime !== undefined && changed('completionTime')) {
    refuse('completionTime cannot be mutated');
  }
  if (startTime === undefined && finished && changed('finished', 'startTime')) {
    errors.push(fieldRequired('status.startTime', 'startTime is required for finished job'));
  }
  // A Job starts anew when it is resumed.
  const isResumed = previous.Suspended && !next.Suspended;
  if (previous.startTime !== undefined && changed('startTime') && suspend !== true && !isResumed) {
    errors.push(fieldRequired('status.startTime', 'startTime cannot be removed for unsuspended job'));
  }
  return errors;
}

function countErrors(next: Facts, previous: Facts, changed: Changed, spec: JobSpec): FieldError[] {
  const { active, ready, terminating, succeeded, failed, uncounted, finished } = next;
  const errors: FieldError[] = [];
  const refuse = (count: string, value: unknown, text: string): void => {
    errors.push(fieldInvalid(`status.${count}`, value, text));
  };
  if (finished) {
    if (active > 0 && changed('finished', 'active')) refuse('active', active, 'active>0 is invalid for finished job');
    if (Object.keys(uncounted).length > 0 && changed('finished', 'uncounted')) {
      refuse('uncountedTerminatedPods', uncounted, 'uncountedTerminatedPods needs to be empty for finished job');
    }
    if (terminating > 0 && changed('finished', 'terminating')) {
      refuse('terminating', terminating, 'terminating>0 is invalid for finished job');
    }
  }
  if (ready > active && changed('ready', 'active')) refuse('ready', ready, 'cannot set more ready pods than active');
  if (failed < previous.failed) refuse('failed', failed, 'cannot decrease the failed counter');
  // An indexed Job with as many indexes as parallel pods may be made smaller.
  const canShrink = spec.completionMode === 'Indexed' && (spec.completions ?? 1) === (spec.parallelism ?? 1);
  if (succeeded < previous.succeeded && !canShrink) {
    refuse('succeeded', succeeded, 'cannot decrease the succeeded counter');
  }
  return errors;
}
