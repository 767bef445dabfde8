import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, metadata } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    '',
    'Node',
    {
      metadata: {
        ...metadata,
        labels: {
          'node-role.kubernetes.io/worker': '',
          'node-role.kubernetes.io/control-plane': '',
          'kubernetes.io/role': 'edge',
          'node-role.kubernetes.io/': '',
        },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
        nodeInfo: { kubeletVersion: 'v1.36.0', kernelVersion: '6.1', architecture: 'arm64', osImage: 'Debian' },
      },
    },
    {
      Status: 'Ready,SchedulingDisabled',
      Roles: 'control-plane,edge,worker',
      Version: 'v1.36.0',
      'Internal-IP': '10.0.0.9',
      'External-IP': '<none>',
      'OS-Image': 'Debian',
      'Kernel-Version': '6.1 (arm64)',
      'Container-Runtime': '<unknown>',
    },
  ],
  [
    '',
    'Node',
    { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    { Status: 'NotReady', Roles: '<none>' },
  ],
  ['', 'Node', {}, { Status: 'Unknown', 'Kernel-Version': '<unknown>' }],
];

describe('node cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
