import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../meta/object-meta.ts';
import { podResources } from './pod-resources.ts';
import { formatResourceList, increaseOf, parseResourceList, resourceListFields } from './resource-list.ts';
import { isWithin, scopesOf } from './scopes.ts';
import { consumedNames, isCounted, unspecified, usageOf } from './usage.ts';

const NOW = Date.UTC(2026, 0, 1);
const core = (resource: string) => ({ group: '', resource });
const needing = (requests: object, limits: object = {}, more: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
  ...more,
});

describe('podResources', () => {
  it.each([
    [
      'the sum of its containers',
      { containers: [needing({ cpu: '100m', memory: '1Gi' }), needing({ cpu: '1' })] },
      'cpu=1100m,memory=1Gi',
    ],
    [
      'an init container, if that needs more',
      { containers: [needing({ cpu: '1' })], initContainers: [needing({ cpu: '3' }), needing({ cpu: '2' })] },
      'cpu=3',
    ],
    [
      'one that goes on running, as well',
      { containers: [needing({ cpu: '1' })], initContainers: [needing({ cpu: '2' }, {}, { restartPolicy: 'Always' })] },
      'cpu=3',
    ],
    [
      'what runs already while another one starts',
      {
        containers: [needing({ cpu: '1' })],
        initContainers: [needing({ cpu: '2' }, {}, { restartPolicy: 'Always' }), needing({ cpu: '5' })],
      },
      'cpu=7',
    ],
    [
      'what the pod says as a whole',
      {
        containers: [needing({ cpu: '1', 'ephemeral-storage': '1Gi' })],
        resources: { requests: { cpu: '5', 'ephemeral-storage': '9Gi' } },
      },
      'cpu=5,ephemeral-storage=1Gi',
    ],
    ['nothing', { containers: null }, ''],
  ])('API-361 counts %s', (_, spec, expected) => {
    expect(formatResourceList(podResources(spec, 'requests'))).toBe(expected);
  });
});

describe('usageOf', () => {
  const pod = (more: object = {}) => ({
    spec: { containers: [needing({ cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, { memory: '2Gi' })] },
    ...more,
  });
  const whole =
    'count/pods=1,cpu=1,hugepages-2Mi=4Mi,limits.memory=2Gi,pods=1,requests.cpu=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi';
  it.each<[string, string, KubeObject, string]>([
    ['a pod', 'pods', pod(), whole],
    ['a pod that has ended', 'pods', pod({ status: { phase: 'Succeeded' } }), 'count/pods=1'],
    [
      'a pod within its grace',
      'pods',
      pod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 } }),
      whole,
    ],
    [
      'a pod beyond its grace',
      'pods',
      pod({ metadata: { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 1 } }),
      'count/pods=1',
    ],
    [
      'a Service',
      'services',
      { spec: { ports: [{}, {}] } },
      'count/services=1,services=1,services.loadbalancers=0,services.nodeports=0',
    ],
    [
      'a NodePort Service',
      'services',
      { spec: { type: 'NodePort', ports: [{}, {}] } },
      'count/services=1,services=1,services.loadbalancers=0,services.nodeports=2',
    ],
    [
      'a LoadBalancer',
      'services',
      { spec: { type: 'LoadBalancer', ports: [{}] } },
      'count/services=1,services=1,services.loadbalancers=1,services.nodeports=1',
    ],
    [
      'a LoadBalancer without node ports',
      'services',
      { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 30_000 }] } },
      'count/services=1,services=1,services.loadbalancers=1,services.nodeports=1',
    ],
    [
      'a claim',
      'persistentvolumeclaims',
      { spec: { resources: { requests: { storage: '1Gi' } } } },
      'count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=1Gi',
    ],
    [
      'a claim of a class',
      'persistentvolumeclaims',
      { spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } } },
      'count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/requests.storage=1Gi,persistentvolumeclaims=1,requests.storage=1Gi',
    ],
    ['a ConfigMap', 'configmaps', {}, 'configmaps=1,count/configmaps=1'],
    ['anything else', 'serviceaccounts', {}, 'count/serviceaccounts=1'],
  ])('API-361 %s', (_, resource, object, expected) => {
    expect(formatResourceList(usageOf(core(resource), object, NOW))).toBe(expected);
  });

  it('API-361 counts towards names of its own only', () => {
    const names = [
      'pods',
      'services',
      'count/deployments.apps',
      'count/pods',
      'requests.storage',
      'fast.storageclass.storage.k8s.io/requests.storage',
      'requests.example.com/gpu',
    ];
    expect([...consumedNames(core('pods'), names)]).toEqual(['pods', 'count/pods', 'requests.example.com/gpu']);
    expect([...consumedNames(core('persistentvolumeclaims'), names)]).toEqual([
      'requests.storage',
      'fast.storageclass.storage.k8s.io/requests.storage',
    ]);
    expect([...consumedNames({ group: 'apps', resource: 'deployments' }, names)]).toEqual(['count/deployments.apps']);
    expect([...consumedNames({ group: 'example.com', resource: 'pods' }, names)]).toEqual([]);
    expect([
      ...consumedNames({ group: 'resource.k8s.io', resource: 'resourceclaims' }, [
        'count/resourceclaims.resource.k8s.io',
        'gpu.deviceclass.resource.k8s.io/devices',
        'pods',
      ]),
    ]).toEqual(['count/resourceclaims.resource.k8s.io', 'gpu.deviceclass.resource.k8s.io/devices']);
    expect([
      isCounted(core('events')),
      isCounted({ group: 'events.k8s.io', resource: 'events' }),
      isCounted(core('pods')),
    ]).toEqual([false, false, true]);
  });

  it('API-361 what is limited must be said by every container', () => {
    const spec = { containers: [needing({ cpu: '1' }), { name: 'b' }], initContainers: [{ name: 'a' }] };
    const limited = new Set(['cpu', 'limits.memory', 'pods']);
    expect(unspecified(core('pods'), { spec }, limited)).toBe('must specify cpu for: a,b; limits.memory for: a,b,c');
    expect(
      unspecified(core('pods'), { spec: { ...spec, resources: { limits: { cpu: '1' } } } }, limited),
    ).toBeUndefined();
    expect(unspecified(core('services'), { spec }, limited)).toBeUndefined();
  });
});

describe('devices of resource claims', () => {
  const exactly = (deviceClassName: string, more: object = {}) => ({ exactly: { deviceClassName, ...more } });
  const alternatives = (...firstAvailable: object[]) => ({ firstAvailable });
  it.each([
    ['one device', [exactly('gpu')], 'gpu=1'],
    [
      'a count',
      [exactly('gpu', { allocationMode: 'ExactCount', count: 5 }), exactly('gpu'), exactly('nic')],
      'gpu=6,nic=1',
    ],
    ['all devices as the most there can be', [exactly('gpu', { allocationMode: 'All' })], 'gpu=32'],
    ['nothing for a mode that it does not know', [exactly('gpu', { allocationMode: 'Some' })], 'gpu=0'],
    [
      'the greatest of the alternatives, for each class',
      [
        alternatives(
          { deviceClassName: 'gpu', count: 2 },
          { deviceClassName: 'gpu', count: 3 },
          { deviceClassName: 'nic', allocationMode: 'All' },
        ),
        exactly('gpu'),
      ],
      'gpu=4,nic=32',
    ],
    ['nothing', undefined, ''],
  ])('API-361 counts %s', (_, requests, expected) => {
    const usage = usageOf(
      { group: 'resource.k8s.io', resource: 'resourceclaims' },
      { spec: { devices: { requests } } },
      NOW,
    );
    const counted = formatResourceList(usage).replaceAll('.deviceclass.resource.k8s.io/devices', '');
    expect(
      counted
        .split(',')
        .filter((each) => !each.startsWith('count/'))
        .join(','),
    ).toBe(expected);
    expect(counted).toContain('count/resourceclaims.resource.k8s.io=1');
  });
});

describe('scopes', () => {
  const containers = [{ name: 'c' }];
  const pod = (spec: object = {}) => ({ spec: { containers, ...spec } });
  const affinity = {
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaces: ['x'] } }] },
  };
  const byClass = (operator: string, ...values: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
  });
  it.each<[object, KubeObject, boolean]>([
    [{}, pod(), true],
    [{ scopes: ['Terminating'] }, pod({ activeDeadlineSeconds: 5 }), true],
    [{ scopes: ['Terminating'] }, pod(), false],
    [{ scopes: ['NotTerminating'] }, pod(), true],
    [{ scopes: ['BestEffort'] }, pod(), true],
    [{ scopes: ['BestEffort'] }, pod({ containers: [needing({ cpu: '1' })] }), false],
    [{ scopes: ['NotBestEffort', 'NotTerminating'] }, pod({ containers: [needing({}, { cpu: '1' })] }), true],
    [{ scopes: ['NotBestEffort', 'Terminating'] }, pod({ containers: [needing({}, { cpu: '1' })] }), false],
    [{ scopes: ['PriorityClass'] }, pod({ priorityClassName: 'high' }), true],
    [byClass('In', 'high', 'low'), pod({ priorityClassName: 'high' }), true],
    [byClass('In', 'low'), pod({ priorityClassName: 'high' }), false],
    [byClass('NotIn', 'low'), pod(), true],
    [byClass('DoesNotExist'), pod({ priorityClassName: 'high' }), false],
    [{ scopes: ['CrossNamespacePodAffinity'] }, pod({ affinity }), true],
    [{ scopes: ['CrossNamespacePodAffinity'] }, pod(), false],
    [{ scopes: ['VolumeAttributesClass'] }, pod(), false],
  ])('API-361 %j of %j: %j', (spec, object, expected) => {
    expect(isWithin(core('pods'), object, scopesOf(spec))).toBe(expected);
    expect(isWithin(core('services'), object, scopesOf(spec))).toBe(scopesOf(spec).length === 0);
  });
});

describe('scopes of claims of volumes', () => {
  const byClass = (operator: string, ...values: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator, values }] },
  });
  const wanted = { spec: { volumeAttributesClassName: 'gold' } };
  const moving = {
    spec: { volumeAttributesClassName: '' },
    status: {
      currentVolumeAttributesClassName: 'silver',
      modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' },
    },
  };
  it.each<[object, KubeObject, boolean]>([
    [{ scopes: ['VolumeAttributesClass'] }, wanted, true],
    [{ scopes: ['VolumeAttributesClass'] }, moving, true],
    [{ scopes: ['VolumeAttributesClass'] }, {}, false],
    [byClass('Exists'), wanted, true],
    [byClass('DoesNotExist'), wanted, false],
    [byClass('DoesNotExist'), {}, true],
    [byClass('In', 'gold'), moving, true],
    [byClass('In', 'bronze'), moving, false],
    [byClass('In', 'gold'), {}, false],
    [byClass('NotIn', 'gold'), moving, true],
    [byClass('NotIn', 'gold'), wanted, false],
    [byClass('NotIn', 'gold'), {}, true],
    [{ scopes: ['BestEffort'] }, wanted, false],
    [{ scopes: ['VolumeAttributesClass', 'Terminating'] }, wanted, false],
  ])('API-361 %j of %j: %j', (spec, claim, expected) => {
    expect(isWithin(core('persistentvolumeclaims'), claim, scopesOf(spec))).toBe(expected);
  });
});

describe('lists of resources', () => {
  it('are exact, in the form they were given in', () => {
    const list = parseResourceList({ b: '1.5Gi', a: '0.1', c: 'nonsense' });
    expect(resourceListFields(list)).toEqual({ a: '100m', b: '1536Mi' });
    expect(
      formatResourceList(
        increaseOf(parseResourceList({ a: '3', b: '1', c: '2' }), parseResourceList({ a: '1', b: '1' })),
      ),
    ).toBe('a=2,c=2');
  });
});
