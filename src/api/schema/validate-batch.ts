import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../field-error.ts';
import type { Fields } from './defaults-fields.ts';
import { objectAt } from './defaults-fields.ts';
import { sameContent, validateImmutable, validateNonNegative } from './validate-fields.ts';
import { validatePodTemplate } from './validate-pod-spec.ts';
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
/** The job's own name is made of this and eleven characters. */
const MAX_CRON_JOB_NAME = 52;
const CRON_FIELDS = 5;

function isIndexed(spec: Fields | undefined): boolean {
  return spec?.['completionMode'] === 'Indexed';
}

/** What jobs and templates of jobs have in common. */
function validateJobSpec(spec: Fields | undefined, path: string): FieldError[] {
  const template = objectAt(spec, 'template');
  const errors = NON_NEGATIVE.flatMap((field) => validateNonNegative(spec, field, path));
  if (isIndexed(spec)) {
    if (typeof spec?.['completions'] !== 'number') {
      errors.push(fieldRequired(`${path}.completions`, 'when completion mode is Indexed'));
    }
  } else {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']) {
      const value = spec?.[field];
      if (value !== undefined && value !== null) {
        errors.push(fieldInvalid(`${path}.${field}`, value, 'requires indexed completion mode'));
      }
    }
  }
  errors.push(...validatePodTemplate(template, `${path}.template`));
  errors.push(...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`));
  return errors;
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
  return [...errors, ...validateTemplateMatch(spec)];
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

/** A suspended job that never ran may still be told where its pods may go; otherwise its template is fixed. */
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
  const errors = [
    ...validateSchedule(spec),
    ...validateNonNegative(spec, 'startingDeadlineSeconds', 'spec'),
    ...validateNonNegative(spec, 'successfulJobsHistoryLimit', 'spec'),
    ...validateNonNegative(spec, 'failedJobsHistoryLimit', 'spec'),
    ...validateJobSpec(jobSpec, 'spec.jobTemplate.spec'),
  ];
  if (objectAt(jobSpec, 'selector') !== undefined) {
    const detail = '`selector` will be auto-generated';
    errors.push(fieldInvalid('spec.jobTemplate.spec.selector', jobSpec?.['selector'], detail));
  }
  if (jobSpec?.['manualSelector'] === true) {
    errors.push(fieldNotSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']));
  }
  return errors;
}

/** Only on create: a longer name cannot be changed any more. */
export function validateCronJobName(cronJob: Fields): FieldError[] {
  const name = String(objectAt(cronJob, 'metadata')?.['name'] ?? '');
  if (name.length <= MAX_CRON_JOB_NAME) return [];
  return [fieldInvalid('metadata.name', name, `must be no more than ${MAX_CRON_JOB_NAME} characters`)];
}

/** The number of fields only; the controller that reads the schedule knows the rest. */
function validateSchedule(spec: Fields | undefined): FieldError[] {
  const schedule = String(spec?.['schedule'] ?? '');
  if (schedule === '') return [fieldRequired('spec.schedule')];
  if (schedule.includes('TZ')) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    return [fieldInvalid('spec.schedule', schedule, detail)];
  }
  const fields = schedule.trim().split(/\s+/);
  if (schedule.startsWith('@') || fields.length === CRON_FIELDS) return [];
  const detail = `expected exactly ${CRON_FIELDS} fields, found ${fields.length}: [${fields.join(' ')}]`;
  return [fieldInvalid('spec.schedule', schedule, detail)];
}
