import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    'autoscaling',
    'HorizontalPodAutoscaler',
    {
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5, targetCPUUtilizationPercentage: 80 },
      status: { currentReplicas: 2, currentCPUUtilizationPercentage: 20 },
    },
    { Reference: 'Deployment/d', Targets: 'cpu: 20%/80%', MinPods: '<unset>', MaxPods: 5, Replicas: 2 },
  ],
  [
    'policy',
    'PodDisruptionBudget',
    { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } },
    { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 1 },
  ],
];

describe('autoscaler cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });

  it.each([
    [[], [], '<none>'],
    [
      [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
      [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 20 } } }],
      'cpu: 20%/80%',
    ],
    [[{ type: 'Resource', resource: { name: 'cpu', target: {} } }], [], 'cpu: <unknown>/<auto>'],
    [
      [{ type: 'ContainerResource', containerResource: { name: 'memory', target: { averageValue: '1Gi' } } }],
      [{ containerResource: { current: { averageValue: '512Mi' } } }],
      'memory: 512Mi/1Gi',
    ],
    [
      [{ type: 'Pods', pods: { target: { averageValue: '10' } } }],
      [{ pods: { current: { averageValue: '7' } } }],
      '7/10',
    ],
    [[{ type: 'External', external: { target: { averageValue: '5' } } }], [], '<unknown>/5 (avg)'],
    [[{ type: 'External', external: { target: { value: '5' } } }], [{ external: { current: { value: '4' } } }], '4/5'],
    [[{ type: 'Object', object: { target: { value: '5' } } }], [], '<unknown>/5'],
    [[{ type: 'New' }, { type: 'New' }, { type: 'New' }], [], '<unknown type>, <unknown type> + 1 more...'],
  ])('API-438 HorizontalPodAutoscaler targets %#', (metrics, currentMetrics, text) => {
    const autoscaler = { spec: { metrics }, status: { currentMetrics } };
    expect(cells('autoscaling', 'HorizontalPodAutoscaler', autoscaler, 'v2')['Targets']).toBe(text);
  });
});
