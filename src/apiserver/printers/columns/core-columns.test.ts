import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  ['', 'ConfigMap', { data: { a: '', b: '' }, binaryData: { c: '' } }, { Name: 'x', Data: 3, Age: '10h' }],
  ['', 'Secret', { type: 'Opaque', data: { a: '' } }, { Type: 'Opaque', Data: 1 }],
  ['', 'Namespace', { status: { phase: 'Terminating' } }, { Status: 'Terminating' }],
  [
    '',
    'ResourceQuota',
    {
      status: {
        hard: { 'requests.cpu': '4', pods: '10', 'limits.memory': '8Gi' },
        used: { 'requests.cpu': '500m', pods: '3' },
      },
    },
    { Request: 'pods: 3/10, requests.cpu: 500m/4', Limit: 'limits.memory: 0/8Gi' },
  ],
  [
    '',
    'ComponentStatus',
    { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] },
    { Status: 'Unhealthy', Message: 'm', Error: 'e' },
  ],
  ['', 'ComponentStatus', {}, { Status: 'Unknown', Message: '', Error: '' }],
];

describe('core cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
