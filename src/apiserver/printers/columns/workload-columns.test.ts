import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, metadata, template, wide } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    '',
    'ReplicationController',
    {
      spec: { replicas: 3, selector: { app: 'a' }, template },
      status: { replicas: 2, readyReplicas: 1 },
    },
    { Desired: 3, Current: 2, Ready: 1, Selector: 'app=a', ...wide },
  ],
  [
    'apps',
    'ReplicaSet',
    {
      spec: {
        replicas: 3,
        template,
        selector: {
          matchLabels: { b: '2', a: '1' },
          matchExpressions: [
            { key: 'c', operator: 'In', values: ['y', 'x'] },
            { key: 'd', operator: 'Exists' },
          ],
        },
      },
      status: { replicas: 3, readyReplicas: 3 },
    },
    { Desired: 3, Current: 3, Ready: 3, Selector: 'a=1,b=2,c in (x,y),d', ...wide },
  ],
  [
    'apps',
    'Deployment',
    {
      spec: { replicas: 4, selector: {}, template },
      status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 3 },
    },
    { Ready: '1/4', 'Up-to-date': 2, Available: 3, Selector: '', ...wide },
  ],
  [
    'apps',
    'Deployment',
    { spec: { replicas: 0, selector: { matchExpressions: [{ key: 'a', operator: 'Nope' }] }, template } },
    { Ready: '0/0', 'Up-to-date': 0, Available: 0, Selector: '<invalid>' },
  ],
  ['apps', 'StatefulSet', { spec: { replicas: 2, template }, status: { readyReplicas: 1 } }, { Ready: '1/2', ...wide }],
  [
    'apps',
    'DaemonSet',
    {
      spec: { selector: { matchLabels: { a: '1' } }, template },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    {
      Desired: 5,
      Current: 4,
      Ready: 3,
      'Up-to-date': 2,
      Available: 1,
      'Node Selector': 'disk=ssd',
      Selector: 'a=1',
    },
  ],
  [
    'apps',
    'ControllerRevision',
    {
      metadata: {
        ...metadata,
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: '1' },
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: '2', controller: true },
        ],
      },
      revision: 7,
    },
    { Controller: 'statefulset.apps/db', Revision: 7 },
  ],
  ['apps', 'ControllerRevision', { revision: 1 }, { Controller: '<none>', Revision: 1 }],
  [
    'autoscaling',
    'Scale',
    { spec: { replicas: 3 }, status: { replicas: 2 } },
    { Name: 'x', Desired: 3, Available: 2, Age: '10h' },
  ],
];

describe('workload cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
