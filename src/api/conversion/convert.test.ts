import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { copyJson } from '../codec/json/json-value.ts';
import { builtinResources, findResource } from '../kinds/builtin-resources.ts';
import type { ResourceInfo } from '../kinds/resource-info.ts';
import { typeNameOf } from '../kinds/type-table.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { decodeTyped } from '../schema/decoding/typed-decoding.ts';
import { fromStorage, isConverted, storageResource, toStorage } from './convert.ts';

type Json = Record<string, unknown>;

function infoOf(group: string, version: string, resource: string): ResourceInfo {
  const info = findResource(group, version, resource);
  if (info === undefined) throw new Error(`${group}/${version}/${resource} is not served`);
  return info;
}

const EVENTS = infoOf('events.k8s.io', 'v1', 'events');
const CORE_EVENTS = infoOf('', 'v1', 'events');
const HPA_V1 = infoOf('autoscaling', 'v1', 'horizontalpodautoscalers');
const HPA_V2 = infoOf('autoscaling', 'v2', 'horizontalpodautoscalers');
const decode = (apiVersion: string, kind: string, fields: Json): KubeObject =>
  decodeTyped({ apiVersion, kind, ...fields } as KubeObject, typeNameOf(apiVersion, kind) ?? '').object;

describe('where kinds are stored', () => {
  it('kinds served in several versions share one place', () => {
    expect(storageResource('events.k8s.io', 'events')).toEqual({
      group: '',
      version: 'v1',
      resource: 'events',
      kind: 'Event',
    });
    expect(storageResource('', 'events')).toEqual({ group: '', version: 'v1', resource: 'events', kind: 'Event' });
    expect(storageResource('autoscaling', 'horizontalpodautoscalers')).toMatchObject({ version: 'v2' });
    expect(storageResource('apps', 'deployments')).toEqual({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      kind: 'Deployment',
    });
    expect(storageResource('example.com', 'widgets')).toMatchObject({ group: 'example.com', resource: 'widgets' });
  });

  it('every resource served in several versions is stored in one of them', () => {
    const places = new Map<string, Set<string>>();
    for (const info of builtinResources()) {
      const storage = isConverted(info) ? storageResource(info.group, info.resource) : info;
      const key = `${info.group}/${info.resource}`;
      places.set(key, (places.get(key) ?? new Set()).add(`${storage.group}/${storage.version}`));
    }
    for (const [resource, versions] of places) expect([...versions], resource).toHaveLength(1);
  });

  it('an object that needs no conversion is passed on as it is', () => {
    const object = { kind: 'Deployment' };
    const info = infoOf('apps', 'v1', 'deployments');
    expect(isConverted(info)).toBe(false);
    expect(toStorage(object, info)).toBe(object);
    expect(fromStorage(object, info)).toBe(object);
  });
});

describe('events', () => {
  const event = decode('events.k8s.io/v1', 'Event', {
    metadata: { name: 'e', namespace: 'n' },
    eventTime: '2026-11-21T12:00:00.123456Z',
    series: { count: 2, lastObservedTime: '2026-11-21T12:00:01.000000Z' },
    reportingController: 'kubegc.io/collector',
    reportingInstance: 'kubegc-0',
    action: 'Collect',
    reason: 'Collected',
    regarding: { kind: 'Pod', name: 'p', namespace: 'n' },
    related: { kind: 'Node', name: 'o' },
    note: 'gone',
    type: 'Normal',
    deprecatedSource: { component: 'c' },
    deprecatedFirstTimestamp: '2026-11-21T12:00:00Z',
    deprecatedLastTimestamp: '2026-11-21T12:00:02Z',
    deprecatedCount: 3,
  });

  it('are stored as v1 under the names of v1', () => {
    expect(toStorage(event, EVENTS)).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace: 'n' },
      eventTime: '2026-11-21T12:00:00.123456Z',
      series: { count: 2, lastObservedTime: '2026-11-21T12:00:01.000000Z' },
      reportingComponent: 'kubegc.io/collector',
      reportingInstance: 'kubegc-0',
      action: 'Collect',
      reason: 'Collected',
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'n' },
      related: { kind: 'Node', name: 'o' },
      message: 'gone',
      type: 'Normal',
      source: { component: 'c' },
      firstTimestamp: '2026-11-21T12:00:00Z',
      lastTimestamp: '2026-11-21T12:00:02Z',
      count: 3,
    });
  });

  it('come back as they were, and are served by both groups', () => {
    const stored = toStorage(event, EVENTS);
    const before = copyJson(stored);
    expect(fromStorage(stored, EVENTS)).toEqual(event);
    expect(stored).toEqual(before);
    const core = decode('v1', 'Event', { involvedObject: { kind: 'Pod', name: 'p' }, message: 'm', count: 1 });
    expect(toStorage(core, CORE_EVENTS)).toBe(core);
    expect(fromStorage(core, EVENTS)).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod', name: 'p' },
      note: 'm',
      deprecatedCount: 1,
      eventTime: null,
    });
  });
});

describe('autoscalers', () => {
  const target = {
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    minReplicas: 1,
    maxReplicas: 5,
  };
  const cpu = (averageUtilization: number): Json => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  });

  it('a v1 with a CPU target is a v2 with one metric', () => {
    const v1 = decode('autoscaling/v1', 'HorizontalPodAutoscaler', {
      metadata: { name: 'h', annotations: { keep: 'this' } },
      spec: { ...target, targetCPUUtilizationPercentage: 60 },
      status: { currentCPUUtilizationPercentage: 40, currentReplicas: 2 },
    });
    const stored = toStorage(v1, HPA_V1);
    expect(stored).toEqual({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h', annotations: { keep: 'this' } },
      spec: { ...target, metrics: [cpu(60)] },
      status: {
        currentReplicas: 2,
        desiredReplicas: 0,
        currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } }],
      },
    });
    expect(fromStorage(stored, HPA_V1)).toMatchObject({ spec: v1['spec'], status: v1['status'] });
  });

  it('a v1 without any metric aims at 80 % CPU', () => {
    const v1 = decode('autoscaling/v1', 'HorizontalPodAutoscaler', { spec: target });
    expect(toStorage(v1, HPA_V1)).toMatchObject({ spec: { metrics: [cpu(80)] } });
  });

  const metrics = [
    {
      type: 'Pods',
      pods: {
        metric: { name: 'qps', selector: { matchLabels: { a: 'b' } } },
        target: { type: 'AverageValue', averageValue: '1k' },
      },
    },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Ingress', name: 'i', apiVersion: 'networking.k8s.io/v1' },
        target: { type: 'Value', value: '10k' },
        metric: { name: 'rps' },
      },
    },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Ingress', name: 'i' },
        target: { type: 'AverageValue', averageValue: '5' },
        metric: { name: 'rps' },
      },
    },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } } },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '100m' } } },
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } },
    },
    {
      type: 'External',
      external: {
        metric: { name: 'queue', selector: { matchLabels: { q: 'x' } } },
        target: { type: 'Value', value: '30' },
      },
    },
    { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } } },
  ];
  const statuses = [
    { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '50m', averageUtilization: 45 } } },
    { type: 'Pods', pods: { metric: { name: 'qps' }, current: { averageValue: '900' } } },
    {
      type: 'Object',
      object: { metric: { name: 'rps' }, current: { value: '9k' }, describedObject: { kind: 'Ingress', name: 'i' } },
    },
    { type: 'External', external: { metric: { name: 'queue' }, current: { value: '0', averageValue: '3' } } },
    { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', current: { averageValue: '1' } } },
  ];
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }],
    },
    scaleDown: { stabilizationWindowSeconds: 300, tolerance: '100m' },
  };
  const conditions = [
    { type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-11-21T12:00:00Z', reason: 'Ready', message: 'm' },
  ];

  it('values that v1 cannot express stay in the upstream annotations', () => {
    const v2 = decode('autoscaling/v2', 'HorizontalPodAutoscaler', {
      metadata: { name: 'h', annotations: { keep: 'this' } },
      spec: { ...target, metrics: [metrics[0], cpu(60)], behavior },
      status: { desiredReplicas: 1, currentMetrics: [statuses[0]], conditions },
    });
    const v1 = fromStorage(v2, HPA_V1);
    expect(v1).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { ...target, targetCPUUtilizationPercentage: 60 },
      status: { currentCPUUtilizationPercentage: 45 },
    });
    expect(v1['spec']).not.toHaveProperty('metrics');
    const annotations = v1.metadata?.annotations ?? {};
    expect(Object.keys(annotations).sort()).toEqual([
      'autoscaling.alpha.kubernetes.io/behavior',
      'autoscaling.alpha.kubernetes.io/conditions',
      'autoscaling.alpha.kubernetes.io/current-metrics',
      'autoscaling.alpha.kubernetes.io/metrics',
      'keep',
    ]);
    expect(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? '')).toEqual([
      { type: 'Pods', pods: { metricName: 'qps', selector: { matchLabels: { a: 'b' } }, targetAverageValue: '1k' } },
    ]);
    expect(JSON.parse(annotations['autoscaling.alpha.kubernetes.io/behavior'] ?? '')).toEqual({
      ScaleUp: {
        StabilizationWindowSeconds: 0,
        SelectPolicy: 'Max',
        Policies: [{ Type: 'Pods', Value: 4, PeriodSeconds: 15 }],
        Tolerance: null,
      },
      ScaleDown: { StabilizationWindowSeconds: 300, SelectPolicy: null, Policies: null, Tolerance: '100m' },
    });
    expect(toStorage(v1, HPA_V1)).toEqual(v2);
  });

  it('any v2 comes back from v1, the CPU utilization last', () => {
    fc.assert(
      fc.property(
        fc.subarray(metrics),
        fc.subarray(statuses, { minLength: 1 }),
        fc.record({ behavior: fc.constant(behavior) }, { requiredKeys: [] }),
        fc.record({ conditions: fc.constant(conditions) }, { requiredKeys: [] }),
        (others, currentMetrics, withBehavior, withConditions) => {
          const v2 = decode('autoscaling/v2', 'HorizontalPodAutoscaler', {
            spec: { ...target, metrics: [...others, cpu(50)], ...withBehavior },
            status: { desiredReplicas: 1, currentMetrics, ...withConditions },
          });
          const before = copyJson(v2);
          expect(toStorage(fromStorage(v2, HPA_V1), HPA_V1)).toEqual(v2);
          expect(v2).toEqual(before);
          expect(fromStorage(v2, HPA_V2)).toBe(v2);
        },
      ),
    );
  });

  it.each([
    ['no JSON', '{'],
    ['another type', '"x"'],
    ['wrong fields', '[{"type":5}]'],
    ['null', 'null'],
  ])('annotations that cannot be read are dropped: %s', (_, text) => {
    const prefix = 'autoscaling.alpha.kubernetes.io/';
    const annotations = Object.fromEntries(
      ['metrics', 'current-metrics', 'conditions', 'behavior'].map((name) => [prefix + name, text]),
    );
    const v1 = decode('autoscaling/v1', 'HorizontalPodAutoscaler', { metadata: { annotations }, spec: target });
    expect(toStorage(v1, HPA_V1)).toEqual({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: {},
      spec: { ...target, metrics: [cpu(80)] },
      status: { desiredReplicas: 0, currentMetrics: null },
    });
  });
});
