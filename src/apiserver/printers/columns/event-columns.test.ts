import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, hoursAgo } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    '',
    'Event',
    {
      type: 'Warning',
      reason: 'Failed',
      message: ' it broke\n',
      involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{c}' },
      source: { component: 'kubelet', host: 'n1' },
      firstTimestamp: hoursAgo(10),
      lastTimestamp: hoursAgo(9),
      count: 4,
    },
    {
      'Last Seen': '9h',
      Type: 'Warning',
      Reason: 'Failed',
      Object: 'pod/p',
      Subobject: 'spec.containers{c}',
      Source: 'kubelet, n1',
      Message: 'it broke',
      'First Seen': '10h',
      Count: 4,
      Name: 'x',
    },
  ],
  [
    '',
    'Event',
    {
      involvedObject: { kind: 'Node' },
      eventTime: `${hoursAgo(1).slice(0, 19)}.000000Z`,
      reportingComponent: 'kubegc',
    },
    { 'Last Seen': '60m', 'First Seen': '60m', Object: 'node', Source: 'kubegc', Count: 1 },
  ],
  [
    'events.k8s.io',
    'Event',
    {
      regarding: { kind: 'Pod', name: 'p' },
      note: 'n',
      reportingController: 'kubegc',
      reportingInstance: 'i',
      eventTime: hoursAgo(10),
      series: { count: 9, lastObservedTime: hoursAgo(8) },
    },
    { 'Last Seen': '8h', 'First Seen': '10h', Object: 'pod/p', Message: 'n', Source: 'kubegc, i', Count: 9 },
  ],
];

describe('event cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
