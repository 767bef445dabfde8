import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, hoursAgo, template } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  ['', 'PodTemplate', { template }, { Containers: 'web,log', Images: 'nginx:1,fluentd', 'Pod Labels': 'a=1,b=2' }],
  [
    '',
    'Pod',
    {
      spec: {
        containers: [{ name: 'c' }],
        nodeName: 'n1',
        readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }],
      },
      status: {
        phase: 'Running',
        podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
        conditions: [{ type: 'g', status: 'True' }],
        containerStatuses: [
          {
            name: 'c',
            ready: true,
            restartCount: 3,
            state: { running: {} },
            lastState: { terminated: { finishedAt: hoursAgo(2.5) } },
          },
        ],
      },
    },
    {
      Ready: '1/1',
      Status: 'Running',
      Restarts: '3 (150m ago)',
      IP: '10.0.0.1',
      Node: 'n1',
      'Nominated Node': '<none>',
      'Readiness Gates': '1/2',
    },
  ],
  [
    '',
    'Pod',
    { spec: { containers: [] }, status: { phase: 'Pending' } },
    { Ready: '0/0', Restarts: '0', IP: '<none>', Node: '<none>', 'Readiness Gates': '<none>' },
  ],
];

describe('pod cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
