import { formatTime, parseTime } from '../../api/meta/time.ts';
import type { EventType } from '../../client/events/event-correlator.ts';
import { conditionOf, isJobFinished, type Job } from '../job/job.ts';
import { controllerReference } from '../ownership/controller-reference.ts';
import { type ActiveJob, CRON_JOB_KIND, type CronJob, type CronJobStatus, SCHEDULED_AT } from './cronjob.ts';
import { hasOwnZone, parseSchedule, type Schedule } from './schedule.ts';
import { formatZoned } from './zoned-time.ts';

interface CronJobEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

interface CronJobFacts {
  /** Jobs that this CronJob controls, by uid (LIFE-403). */
  readonly jobs: readonly Job[];
  /** Uids of active Jobs that a live read did not find. */
  readonly missing: ReadonlySet<string>;
  /** Epoch ms. */
  readonly now: number;
}

/** The actions of one sync, in this order (LIFE-400). */
export interface CronJobPlan {
  /** Finished Jobs beyond the history limits. */
  readonly forget: readonly Job[];
  /** Active Jobs that a new one replaces. */
  readonly replace: readonly ActiveJob[];
  readonly create: { readonly job: Job; readonly scheduledAt: number } | undefined;
  /** The status without the Job that is still to be created. */
  readonly status: CronJobStatus;
  readonly events: readonly CronJobEvent[];
  readonly againInMs: number | undefined;
}

/** Number of missed runs beyond which a warning is recorded; a run is started nevertheless. */
const MANY_MISSED = 100;
/** Delay after the scheduled time, so that it has certainly passed. */
const DELTA_MS = 100;

/** Decides the next actions for a CronJob (LIFE-400 to LIFE-409; `pkg/controller/cronjob/cronjob_controllerv2.go`). */
export function decideCronJob(cronJob: CronJob, { jobs, missing, now }: CronJobFacts): CronJobPlan {
  const { spec = {}, metadata = {} } = cronJob;
  const events: CronJobEvent[] = [];
  const warn = (reason: string, message: string): void => void events.push({ type: 'Warning', reason, message });
  const forget = surplus(cronJob, jobs);
  const forgotten = new Set(forget.map((job) => job.metadata?.uid));
  const status = statusWithoutEnded(cronJob, { jobs, missing, forgotten }, events);
  const done = (more: Partial<CronJobPlan> = {}): CronJobPlan => ({
    forget,
    replace: [],
    create: undefined,
    status,
    events,
    againInMs: undefined,
    ...more,
  });
  if (metadata.deletionTimestamp) return done();

  const text = spec.schedule ?? '';
  const parsed = parseSchedule(text, spec.timeZone ?? undefined);
  if ('problem' in parsed && parsed.problem === 'timeZone') {
    warn('UnknownTimeZone', `invalid timeZone: "${spec.timeZone ?? ''}": ${parsed.message}`);
    return done();
  }
  if (spec.suspend === true) return done();
  if ('problem' in parsed) {
    warn('UnparseableSchedule', `unparseable schedule: "${text}" : ${parsed.message}`);
    return done();
  }
  if (hasOwnZone(text)) {
    warn(
      'UnsupportedSchedule',
      `CRON_TZ or TZ used in schedule "${text}" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    );
  }
  const { schedule, zone } = parsed;
  const upcoming = schedule.next(now);
  const againInMs = upcoming === undefined ? undefined : upcoming - now + DELTA_MS;
  const { at, missed } = latestRun(cronJob, schedule, now);
  if (missed > MANY_MISSED) {
    warn(
      'TooManyMissedTimes',
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    );
  }
  if (at === undefined) return done({ againInMs });
  const deadline = spec.startingDeadlineSeconds ?? undefined;
  if (deadline !== undefined && at + Number(deadline) * 1000 < now) {
    warn('MissSchedule', `Missed scheduled time to start a job: ${rfc1123(at)}`);
    return done({ againInMs });
  }
  const job = jobAt(cronJob, at, zone);
  const known = (status.active ?? []).some(({ name }) => name === job.metadata?.name);
  if (known || parseTime(status.lastScheduleTime ?? '') === at) return done({ againInMs });
  const active = status.active ?? [];
  if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.push({ type: 'Normal', reason: 'JobAlreadyActive', message });
    return done({ againInMs });
  }
  return done({
    againInMs,
    replace: spec.concurrencyPolicy === 'Replace' ? active : [],
    create: { job, scheduledAt: at },
  });
}

/** The status after a Job was created. */
export function withStarted(status: CronJobStatus, { metadata }: Job, scheduledAt: number): CronJobStatus {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  const reference = Object.fromEntries(
    Object.entries({ kind: 'Job', apiVersion: 'batch/v1', namespace, name, uid, resourceVersion }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  return { ...status, active: [...(status.active ?? []), reference], lastScheduleTime: formatTime(scheduledAt) };
}

function statusWithoutEnded(
  cronJob: CronJob,
  {
    jobs,
    missing,
    forgotten,
  }: {
    readonly jobs: readonly Job[];
    readonly missing: ReadonlySet<string>;
    readonly forgotten: ReadonlySet<string | undefined>;
  },
  events: CronJobEvent[],
): CronJobStatus {
  const status: CronJobStatus = { ...cronJob.status };
  const active = new Map((status.active ?? []).map((reference) => [reference.uid ?? '', reference]));
  for (const job of jobs) {
    const { uid = '', name = '' } = job.metadata ?? {};
    const finished = isJobFinished(job);
    if (!active.has(uid) && !finished) {
      const message = `Saw a job that the controller did not create or forgot: ${name}`;
      events.push({ type: 'Warning', reason: 'UnexpectedJob', message });
    } else if (active.has(uid) && finished) {
      active.delete(uid);
      const condition = conditionOf(job, 'Complete') === undefined ? 'Failed' : 'Complete';
      events.push({
        type: 'Normal',
        reason: 'SawCompletedJob',
        message: `Saw completed job: ${name}, condition: ${condition}`,
      });
    }
    const completedAt =
      conditionOf(job, 'Complete') === undefined ? undefined : parseTime(job.status?.completionTime ?? '');
    const last = parseTime(status.lastSuccessfulTime ?? '');
    if (completedAt !== undefined && (last === undefined || completedAt > last))
      status.lastSuccessfulTime = formatTime(completedAt);
  }
  for (const uid of missing) {
    const reference = active.get(uid);
    if (reference === undefined) continue;
    active.delete(uid);
    events.push({ type: 'Warning', reason: 'MissingJob', message: `Active job went missing: ${reference.name ?? ''}` });
  }
  for (const uid of forgotten) active.delete(uid ?? '');
  status.active = [...active.values()];
  return status;
}

/** Jobs beyond the history limits, for each outcome the oldest first (LIFE-401). */
function surplus({ spec = {} }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: string, limit: number | null | undefined): Job[] => {
    if (limit === undefined || limit === null) return [];
    const ended = jobs.filter((job) => conditionOf(job, type) !== undefined && !job.metadata?.deletionTimestamp);
    const started = (job: Job): number => parseTime(job.status?.startTime ?? '') ?? Number.POSITIVE_INFINITY;
    const name = (job: Job): string => job.metadata?.name ?? '';
    return ended
      .toSorted((a, b) => (started(a) === started(b) ? (name(a) < name(b) ? -1 : 1) : started(a) - started(b)))
      .slice(0, Math.max(0, ended.length - limit));
  };
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)];
}

/** The latest due run and the number of missed runs before it (`mostRecentScheduleTime`). Its loop is short for every clock. */
function latestRun(
  cronJob: CronJob,
  schedule: Schedule,
  now: number,
): { readonly at: number | undefined; readonly missed: number } {
  const { metadata = {}, spec = {}, status = {} } = cronJob;
  let earliest = parseTime(status.lastScheduleTime ?? '') ?? parseTime(metadata.creationTimestamp ?? '') ?? now;
  const deadline = spec.startingDeadlineSeconds ?? undefined;
  if (deadline !== undefined) earliest = Math.max(earliest, now - Number(deadline) * 1000);
  const first = schedule.next(earliest);
  if (first === undefined || now < first) return { at: undefined, missed: 0 };
  const second = schedule.next(first);
  if (second === undefined || now < second) return { at: first, missed: 0 };
  const between = Math.max(1000, second - first);
  const missed = Math.floor((now - first) / between) + 1;
  // With unequal intervals, this estimate is a few runs too late or too early; the due run is after it, or is found from the first one.
  let latest = first;
  let at = schedule.next(Math.max(first, first + (missed - 2) * between));
  for (let tries = 0; at !== undefined && at <= now && tries < 10_000; tries++) {
    latest = at;
    at = schedule.next(at);
  }
  return { at: latest, missed };
}

/** The Job of one run. Its name identifies the run, so that it is started once (LIFE-406). */
function jobAt(cronJob: CronJob, scheduledAt: number, zone: string): Job {
  const { name = '', namespace } = cronJob.metadata ?? {};
  const { metadata = {}, spec } = cronJob.spec?.jobTemplate ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${Math.floor(scheduledAt / 60_000)}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [SCHEDULED_AT]: formatZoned(scheduledAt, zone) },
      ownerReferences: [controllerReference(CRON_JOB_KIND, cronJob)],
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** `Thu, 01 Jan 2026 00:00:00 +0000`. */
function rfc1123(at: number): string {
  return new Date(at).toUTCString().replace('GMT', '+0000');
}
