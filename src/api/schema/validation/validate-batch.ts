import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired, fieldTooLong } from '../../field-error.ts';
import { cronProblem } from '../../validation/cron-schedule.ts';
import { isDns1123Label } from '../../validation/names.ts';
import { timeZoneProblem } from '../../validation/time-zone.ts';
import { domainPrefixProblems } from '../../validation/value-forms.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, numberAt, objectAt, textAt } from '../fields/defaults-fields.ts';
import { sameContent, validateImmutable, validateNonNegative } from '../fields/validate-fields.ts';
import { validatePodFailurePolicy, validateSuccessPolicy } from './validate-job-policies.ts';
import { validatePodTemplate } from './pods/validate-pod-spec.ts';
import { validateTemplateMatch } from './validate-workloads.ts';

const NON_NEGATIVE = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
const UNCHANGEABLE = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];
/** The name of a job consists of this name and eleven characters. */
const MAX_CRON_JOB_NAME = 52;
const MAX_INDEXES = 100_000;
const MAX_MANAGER = 63;

function isIndexed(spec: Fields | undefined): boolean {
  return spec?.['completionMode'] === 'Indexed';
}

/** Checks common to jobs and templates of jobs. */
function validateJobSpec(spec: Fields | undefined, path: string): FieldError[] {
  const errors = NON_NEGATIVE.flatMap((field) => validateNonNegative(spec, field, path));
  if (isGiven(spec, 'maxFailedIndexes') && !isGiven(spec, 'backoffLimitPerIndex')) {
    errors.push(fieldRequired(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  append(errors, validateManager(spec, path));
  append(errors, isIndexed(spec) ? validateIndexes(spec, path) : validateNoIndexes(spec, path));
  append(errors, validatePodFailurePolicy(spec, path));
  if (isIndexed(spec)) append(errors, validateSuccessPolicy(spec, path));
  const replacement = textAt(spec, 'podReplacementPolicy');
  if (isGiven(spec, 'podFailurePolicy') && replacement === 'TerminatingOrFailed') {
    errors.push(fieldNotSupported(`${path}.podReplacementPolicy`, replacement, ['Failed']));
  }
  append(errors, validatePodTemplate(objectAt(spec, 'template'), `${path}.template`));
  append(errors, validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`));
  return errors;
}

/** A foreign controller: `example.com/name`. */
function validateManager(spec: Fields | undefined, path: string): FieldError[] {
  const manager = spec?.['managedBy'];
  if (typeof manager !== 'string') return [];
  const at = `${path}.managedBy`;
  if (manager === '') return [fieldRequired(at)];
  const errors = domainPrefixProblems(manager).map(({ value, message }) => fieldInvalid(at, value, message));
  return manager.length > MAX_MANAGER ? [...errors, fieldTooLong(at, MAX_MANAGER)] : errors;
}

function validateIndexes(spec: Fields | undefined, path: string): FieldError[] {
  const completions = numberAt(spec, 'completions');
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  const failed = numberAt(spec, 'maxFailedIndexes') ?? 0;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(fieldRequired(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism > MAX_INDEXES) {
    const detail = `must be less than or equal to ${MAX_INDEXES} when completion mode is Indexed`;
    errors.push(fieldInvalid(`${path}.parallelism`, parallelism, detail));
  }
  if (completions !== undefined && failed > completions) {
    errors.push(fieldInvalid(`${path}.maxFailedIndexes`, failed, 'must be less than or equal to completions'));
  }
  if (failed > MAX_INDEXES) {
    errors.push(fieldInvalid(`${path}.maxFailedIndexes`, failed, `must be less than or equal to ${MAX_INDEXES}`));
  }
  return errors;
}

function validateNoIndexes(spec: Fields | undefined, path: string): FieldError[] {
  return ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']
    .filter((field) => isGiven(spec, field))
    .map((field) => fieldInvalid(`${path}.${field}`, spec?.[field], 'requires indexed completion mode'));
}

function validateRestartPolicy(spec: Fields | undefined, path: string): FieldError[] {
  const policy = objectAt(objectAt(spec, 'template'), 'spec')?.['restartPolicy'];
  if (policy === 'Never') return [];
  if (policy === undefined || policy === '' || policy === 'Always') {
    return [fieldRequired(path, 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure') return [fieldNotSupported(path, policy, ['OnFailure', 'Never'])];
  if (objectAt(spec, 'podFailurePolicy') === undefined) return [];
  return [fieldInvalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

export function validateJob(job: Fields): FieldError[] {
  const spec = objectAt(job, 'spec');
  const errors = validateJobSpec(spec, 'spec');
  if (objectAt(spec, 'selector') === undefined) errors.push(fieldRequired('spec.selector'));
  return [...errors, ...validateTemplateMatch(spec), ...validateIndexedName(job)];
}

/** The host name of each pod ends in its index. */
function validateIndexedName(job: Fields): FieldError[] {
  const spec = objectAt(job, 'spec');
  const completions = numberAt(spec, 'completions') ?? 0;
  const name = textAt(objectAt(job, 'metadata'), 'name');
  if (!isIndexed(spec) || completions <= 0) return [];
  const longest = `${name}-${completions - 1}`;
  if (isDns1123Label(longest).length === 0) return [];
  return [fieldInvalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

export function validateJobUpdate(next: Fields, previous: Fields): FieldError[] {
  const spec = objectAt(next, 'spec');
  const old = objectAt(previous, 'spec');
  return [
    ...validateCompletions(spec, old),
    ...UNCHANGEABLE.flatMap((field) => validateImmutable(spec?.[field], old?.[field], `spec.${field}`)),
    ...validateTemplateUnchanged(spec, old, objectAt(previous, 'status')),
  ];
}

function validateCompletions(spec: Fields | undefined, old: Fields | undefined): FieldError[] {
  const path = 'spec.completions';
  if (!isIndexed(spec)) return validateImmutable(spec?.['completions'], old?.['completions'], path);
  if (spec?.['completions'] === old?.['completions'] || spec?.['completions'] === spec?.['parallelism']) return [];
  return [fieldInvalid(path, spec?.['completions'], 'can only be modified in tandem with spec.parallelism')];
}

/** A suspended job that never ran may still change the scheduling directives of its pods; otherwise its template is immutable. */
function validateTemplateUnchanged(
  spec: Fields | undefined,
  old: Fields | undefined,
  status: Fields | undefined,
): FieldError[] {
  const template = objectAt(spec, 'template');
  const oldTemplate = objectAt(old, 'template');
  const started = status?.['startTime'] !== undefined && status['startTime'] !== null;
  const movable = old?.['suspend'] === true && !started;
  const fixed = movable
    ? (t: Fields | undefined): unknown => withoutPlacement(t)
    : (t: Fields | undefined): unknown => t;
  return sameContent(fixed(template), fixed(oldTemplate))
    ? []
    : [fieldInvalid('spec.template', template ?? null, 'field is immutable')];
}

function withoutPlacement(template: Fields | undefined): unknown {
  const drop = (object: Fields | undefined, fields: readonly string[]): Fields =>
    Object.fromEntries(Object.entries(object ?? {}).filter(([field]) => !fields.includes(field)));
  const spec = objectAt(template, 'spec');
  return {
    metadata: drop(objectAt(template, 'metadata'), ['labels', 'annotations']),
    spec: {
      ...drop(spec, ['nodeSelector', 'tolerations', 'schedulingGates', 'affinity']),
      affinity: drop(objectAt(spec, 'affinity'), ['nodeAffinity']),
    },
  };
}

export function validateCronJob(cronJob: Fields): FieldError[] {
  const spec = objectAt(cronJob, 'spec');
  const jobSpec = objectAt(objectAt(spec, 'jobTemplate'), 'spec');
  const errors = [...validateSchedule(spec), ...validateNonNegative(spec, 'startingDeadlineSeconds', 'spec')];
  append(errors, validateJobSpec(jobSpec, 'spec.jobTemplate.spec'));
  if (objectAt(jobSpec, 'selector') !== undefined) {
    const detail = '`selector` will be auto-generated';
    errors.push(fieldInvalid('spec.jobTemplate.spec.selector', jobSpec?.['selector'], detail));
  }
  if (jobSpec?.['manualSelector'] === true) {
    errors.push(fieldNotSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']));
  }
  return [
    ...errors,
    ...validateNonNegative(spec, 'successfulJobsHistoryLimit', 'spec'),
    ...validateNonNegative(spec, 'failedJobsHistoryLimit', 'spec'),
  ];
}

/** Checks the length of the name only on create, because the name of an existing object cannot change. */
export function validateCronJobOnCreate(cronJob: Fields): FieldError[] {
  const name = textAt(objectAt(cronJob, 'metadata'), 'name');
  const errors = validateTimeZone(cronJob);
  if (name.length <= MAX_CRON_JOB_NAME) return errors;
  return [...errors, fieldInvalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`)];
}

/** Databases of time zones differ, so a time zone that is stored stays valid. */
export function validateCronJobUpdate(next: Fields, previous: Fields): FieldError[] {
  const before = objectAt(previous, 'spec')?.['timeZone'];
  return objectAt(next, 'spec')?.['timeZone'] === before ? [] : validateTimeZone(next);
}

function validateTimeZone(cronJob: Fields): FieldError[] {
  const zone = objectAt(cronJob, 'spec')?.['timeZone'];
  const problem = typeof zone === 'string' ? timeZoneProblem(zone) : undefined;
  return problem === undefined ? [] : [fieldInvalid('spec.timeZone', zone, problem)];
}

function validateSchedule(spec: Fields | undefined): FieldError[] {
  const schedule = textAt(spec, 'schedule');
  if (schedule === '') return [fieldRequired('spec.schedule')];
  const problem = cronProblem(schedule);
  const errors = problem === undefined ? [] : [fieldInvalid('spec.schedule', schedule, problem)];
  if (schedule.includes('TZ')) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    errors.push(fieldInvalid('spec.schedule', schedule, detail));
  }
  return errors;
}
