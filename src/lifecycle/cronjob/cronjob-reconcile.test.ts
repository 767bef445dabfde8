import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Job } from '../job/job.ts';
import type { CronJob, CronJobStatus } from './cronjob.ts';
import { decideCronJob } from './cronjob-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const cronJob = (spec: CronJob['spec'] & object = {}, status: CronJobStatus = {}, metadata: object = {}): CronJob => ({
  metadata: { name: 'c', namespace: 'n', uid: 'cj', creationTimestamp: formatTime(START), ...metadata },
  spec: { schedule: '*/5 * * * *', ...spec },
  status,
});
const job = (name: string, over: { type?: string; started?: number; terminating?: boolean } = {}): Job => ({
  metadata: { name, uid: name, ...(over.terminating ? { deletionTimestamp: formatTime(START) } : {}) },
  status: {
    ...(over.type === undefined
      ? {}
      : { conditions: [{ type: over.type, status: 'True' }], completionTime: formatTime(START) }),
    startTime: formatTime(START + (over.started ?? 0)),
  },
});
const plan = (subject: CronJob, now: number, jobs: Job[] = [], missing: string[] = []) =>
  decideCronJob(subject, { jobs, missing: new Set(missing), now });
const names = (jobs: readonly Job[]) => jobs.map(({ metadata }) => metadata?.name);
const reasons = (events: readonly { reason: string }[]) => events.map(({ reason }) => reason);

describe('a CronJob', () => {
  it('LIFE-406 LIFE-407 starts what is due, under a name that says which run it is, and waits for the next', () => {
    expect(plan(cronJob(), START + MINUTE)).toMatchObject({ create: undefined, againInMs: 4 * MINUTE + 100 });
    const { create, againInMs } = plan(cronJob({ timeZone: 'Asia/Tokyo' }), START + 5 * MINUTE + 100);
    expect(create?.job.metadata).toMatchObject({
      name: `c-${(START + 5 * MINUTE) / MINUTE}`,
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T09:05:00+09:00' },
      ownerReferences: [{ kind: 'CronJob', uid: 'cj', controller: true, blockOwnerDeletion: true }],
    });
    expect(againInMs).toBe(5 * MINUTE);
  });

  it('LIFE-407 starts only the latest of many missed runs, and says that they were too many', () => {
    const few = plan(cronJob(), START + 61 * MINUTE);
    expect(few.create?.scheduledAt).toBe(START + 60 * MINUTE);
    expect(few.events).toEqual([]);
    const many = plan(cronJob(), START + 100_001 * MINUTE);
    expect(many.create?.scheduledAt).toBe(START + 100_000 * MINUTE);
    expect(reasons(many.events)).toEqual(['TooManyMissedTimes']);
  });

  it('LIFE-407 starts nothing after the starting deadline', () => {
    const late = plan(cronJob({ startingDeadlineSeconds: 10 }), START + 5 * MINUTE + 11_000);
    expect(late.create).toBeUndefined();
    expect(plan(cronJob({ startingDeadlineSeconds: 10 }), START + 5 * MINUTE + 9000).create).toBeDefined();
    const ever = cronJob({ startingDeadlineSeconds: 9223372036854775807n });
    expect(plan(ever, START + 5 * MINUTE + 9000).create).toBeDefined();
  });

  it('LIFE-401 forgets the finished Jobs that started first', () => {
    const jobs = [
      job('b', { type: 'Complete', started: 1000 }),
      job('a', { type: 'Complete', started: 3000 }),
      job('c', { type: 'Failed', started: 2000 }),
    ];
    const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 };
    expect(names(plan(cronJob(limits), START, jobs).forget)).toEqual(['b', 'c']);
  });

  it('LIFE-406 starts each run once', () => {
    const status = { lastScheduleTime: formatTime(START + 5 * MINUTE) };
    expect(plan(cronJob({}, status), START + 6 * MINUTE).create).toBeUndefined();
  });

  it('LIFE-407 does nothing for ever when there is no next time', () => {
    expect(plan(cronJob({ schedule: '0 0 30 2 *' }), START + 1e11)).toMatchObject({
      create: undefined,
      againInMs: undefined,
    });
  });

  it.each([
    ['Forbid', undefined, ['JobAlreadyActive'], []],
    ['Replace', true, [], ['a']],
    ['Allow', true, [], []],
  ])('LIFE-408 with %s', (concurrencyPolicy, starts, want, replaced) => {
    const status = { active: [{ uid: 'a', name: 'a' }] };
    const decided = plan(cronJob({ concurrencyPolicy }, status), START + 5 * MINUTE, [job('a')]);
    expect(decided.create !== undefined).toBe(starts ?? false);
    expect(reasons(decided.events)).toEqual(want);
    expect(decided.replace.map(({ uid }) => uid)).toEqual(replaced);
  });

  it('LIFE-401 LIFE-402 keeps its history also while it is suspended, broken or on its way out', () => {
    const jobs = [
      job('b', { type: 'Complete', started: 2 }),
      job('a', { type: 'Complete', started: 1 }),
      job('f', { type: 'Failed' }),
      job('r'),
    ];
    const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 };
    for (const spec of [{ suspend: true }, { schedule: 'x' }, {}]) {
      expect(names(plan(cronJob({ ...limits, ...spec }), START, jobs).forget)).toEqual(['a', 'f']);
    }
    const leaving = cronJob(limits, {}, { deletionTimestamp: formatTime(START) });
    expect(names(plan(leaving, START, jobs).forget)).toEqual(['a', 'f']);
    expect(plan(cronJob(), START, jobs).forget).toEqual([]);
  });

  it('LIFE-405 on its way out starts nothing', () => {
    const leaving = cronJob({}, {}, { deletionTimestamp: formatTime(START) });
    expect(plan(leaving, START + 5 * MINUTE).create).toBeUndefined();
  });

  it('LIFE-409 takes finished and vanished Jobs from its active ones, and says so', () => {
    const status = {
      active: [
        { uid: 'a', name: 'a' },
        { uid: 'gone', name: 'gone' },
        { uid: 'r', name: 'r' },
      ],
    };
    const decided = plan(
      cronJob({ suspend: true }, status),
      START,
      [job('a', { type: 'Complete' }), job('r'), job('x')],
      ['gone'],
    );
    expect(decided.status.active?.map(({ uid }) => uid)).toEqual(['r']);
    expect(decided.status.lastSuccessfulTime).toBe(formatTime(START));
    expect(decided.events.map(({ message }) => message)).toEqual([
      'Saw completed job: a, condition: Complete',
      'Saw a job that the controller did not create or forgot: x',
      'Active job went missing: gone',
    ]);
  });

  it.each([
    ['UnknownTimeZone', { timeZone: 'Mars/X' }],
    ['UnparseableSchedule', { schedule: '* *' }],
  ])('LIFE-407 says %s and does not try again by itself', (reason, spec) => {
    const decided = plan(cronJob(spec), START + 5 * MINUTE);
    expect(reasons(decided.events)).toEqual([reason]);
    expect(decided.againInMs).toBeUndefined();
  });
});
