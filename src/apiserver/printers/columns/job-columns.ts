import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { humanDuration } from '../../../api/meta/duration.ts';
import { parseTime } from '../../../api/meta/time.ts';
import { NONE, textOr, UNSET } from '../cells/cell-text.ts';
import { at, isConditionTrue, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, ageOf, booleanColumn, column, integerColumn, nameColumn } from '../cells/printer-column.ts';
import { selectorColumn, templateColumns } from './workload-columns.ts';

export const jobColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Status', 'How far the job is.', statusCell),
  column('Completions', 'Pods that succeeded out of those needed.', completionsCell),
  column('Duration', 'Time from the start to the end, or until now.', durationCell),
  ageColumn,
  ...templateColumns('spec'),
  selectorColumn('spec'),
];

export const cronJobColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Schedule', 'When jobs start, in cron notation.', (cron) => textAt(cron, 'spec', 'schedule')),
  column('Timezone', 'Zone the schedule is read in.', (cron) => textOr(NONE, cron, 'spec', 'timeZone')),
  // The cell is a string although the type says boolean, as in kube-apiserver.
  booleanColumn('Suspend', 'True while no new jobs are started.', suspendCell),
  integerColumn('Active', 'Jobs that are running.', (cron) => listAt(cron, 'status', 'active').length),
  column('Last Schedule', 'When a job was last started.', (cron, now) =>
    isSet(cron, 'status', 'lastScheduleTime') ? ageOf(at(cron, 'status', 'lastScheduleTime'), now) : NONE,
  ),
  ageColumn,
  ...templateColumns('spec', 'jobTemplate', 'spec'),
  selectorColumn('spec', 'jobTemplate', 'spec'),
];

/** The first status that applies (API-438). */
function statusCell(job: KubeObject): string {
  const conditions = listAt(job, 'status', 'conditions');
  for (const type of ['Complete', 'Failed']) if (isConditionTrue(conditions, type)) return type;
  if (isSet(job, 'metadata', 'deletionTimestamp')) return 'Terminating';
  if (isConditionTrue(conditions, 'Suspended')) return 'Suspended';
  for (const type of ['FailureTarget', 'SuccessCriteriaMet']) if (isConditionTrue(conditions, type)) return type;
  return 'Running';
}

function completionsCell(job: KubeObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded');
  if (isSet(job, 'spec', 'completions')) return `${succeeded}/${numberAt(job, 'spec', 'completions')}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell(job: KubeObject, now: number): string {
  const start = parseTime(textAt(job, 'status', 'startTime'));
  if (start === undefined) return '';
  return humanDuration((parseTime(textAt(job, 'status', 'completionTime')) ?? now) - start);
}

function suspendCell(cron: KubeObject): string {
  const suspend = at(cron, 'spec', 'suspend');
  if (typeof suspend !== 'boolean') return UNSET;
  return suspend ? 'True' : 'False';
}
