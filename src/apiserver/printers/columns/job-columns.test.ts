import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, hoursAgo, template, wide } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  ['batch', 'Job', { spec: { completions: 3 }, status: { succeeded: 1 } }, { Completions: '1/3', Status: 'Running' }],
  ['batch', 'Job', { spec: { parallelism: 4 } }, { Completions: '0/1 of 4', Duration: '' }],
  ['batch', 'Job', { spec: { parallelism: 1 } }, { Completions: '0/1' }],
  ['batch', 'Job', { status: { startTime: hoursAgo(3) } }, { Duration: '3h' }],
  ['batch', 'Job', { status: { startTime: hoursAgo(3), completionTime: hoursAgo(2) } }, { Duration: '60m' }],
  [
    'batch',
    'CronJob',
    {
      spec: {
        schedule: '* * * * *',
        suspend: false,
        jobTemplate: { spec: { template, selector: { matchLabels: { a: '1' } } } },
      },
      status: { active: [{}, {}], lastScheduleTime: hoursAgo(1) },
    },
    {
      Schedule: '* * * * *',
      Timezone: '<none>',
      Suspend: 'False',
      Active: 2,
      'Last Schedule': '60m',
      Selector: 'a=1',
      ...wide,
    },
  ],
  [
    'batch',
    'CronJob',
    { spec: { suspend: true, timeZone: 'Etc/UTC' } },
    { Suspend: 'True', Timezone: 'Etc/UTC', 'Last Schedule': '<none>', Selector: '<none>' },
  ],
  ['batch', 'CronJob', { spec: {} }, { Suspend: '<unset>' }],
];

describe('job cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });

  it.each([
    [
      [
        { type: 'Complete', status: 'True' },
        { type: 'Failed', status: 'True' },
      ],
      false,
      'Complete',
    ],
    [
      [
        { type: 'Failed', status: 'True' },
        { type: 'FailureTarget', status: 'True' },
      ],
      true,
      'Failed',
    ],
    [[{ type: 'Suspended', status: 'True' }], true, 'Terminating'],
    [
      [
        { type: 'Suspended', status: 'True' },
        { type: 'FailureTarget', status: 'True' },
      ],
      false,
      'Suspended',
    ],
    [
      [
        { type: 'FailureTarget', status: 'True' },
        { type: 'SuccessCriteriaMet', status: 'True' },
      ],
      false,
      'FailureTarget',
    ],
    [[{ type: 'SuccessCriteriaMet', status: 'True' }], false, 'SuccessCriteriaMet'],
    [[{ type: 'Complete', status: 'False' }], false, 'Running'],
  ])('API-438 Job status %# is the first that holds', (conditions, deleted, status) => {
    const job = { metadata: deleted ? { deletionTimestamp: hoursAgo(1) } : {}, status: { conditions } };
    expect(cells('batch', 'Job', job)['Status']).toBe(status);
  });
});
