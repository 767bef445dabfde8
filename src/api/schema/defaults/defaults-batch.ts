import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultTemplateOf } from './defaults-pod.ts';
import { labelFromTemplate } from './defaults-workloads.ts';

const DEFAULT_BACKOFF_LIMIT = 6;
/** A job with a limit per index has no total limit. */
const NO_BACKOFF_LIMIT = 2_147_483_647;

export function defaultJob(job: Fields): void {
  const spec = ensureObjectAt(job, 'spec');
  if (isUnset(spec['completions']) && isUnset(spec['parallelism'])) spec['completions'] = 1;
  setIfUnset(spec, 'parallelism', 1);
  setIfUnset(spec, 'backoffLimit', isUnset(spec['backoffLimitPerIndex']) ? DEFAULT_BACKOFF_LIMIT : NO_BACKOFF_LIMIT);
  setIfUnset(spec, 'completionMode', 'NonIndexed');
  setIfUnset(spec, 'suspend', false);
  setIfUnset(spec, 'manualSelector', false);
  setIfUnset(spec, 'podReplacementPolicy', isUnset(spec['podFailurePolicy']) ? 'TerminatingOrFailed' : 'Failed');
  for (const rule of objectsAt(objectAt(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of objectsAt(rule, 'onPodConditions')) setIfZero(pattern, 'status', 'True');
  }
  labelFromTemplate(job, objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels'));
  defaultTemplateOf(spec);
}

export function defaultCronJob(cronJob: Fields): void {
  const spec = ensureObjectAt(cronJob, 'spec');
  setIfZero(spec, 'concurrencyPolicy', 'Allow');
  setIfUnset(spec, 'suspend', false);
  setIfUnset(spec, 'successfulJobsHistoryLimit', 3);
  setIfUnset(spec, 'failedJobsHistoryLimit', 1);
  // Defaults only the pods of the template; the job itself is defaulted when it is created.
  defaultTemplateOf(objectAt(objectAt(spec, 'jobTemplate'), 'spec'));
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null;
}
