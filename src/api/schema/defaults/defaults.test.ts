import { describe, expect, it } from 'vitest';

import { copyJson } from '../../codec/json/json-value.ts';
import { kindNames, typeNameOf } from '../../kinds/type-table.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { applyDefaults, defaultsMetadata, kindsWithDefaults } from './defaults.ts';
import { imageTag } from './image-reference.ts';
import { decodeTyped } from '../decoding/typed-decoding.ts';

type Json = Record<string, unknown>;

/** As the server does on a write: decode, then default. */
function defaulted(apiVersion: string, kind: string, fields: Json): KubeObject {
  const { object } = decodeTyped({ apiVersion, kind, ...fields } as KubeObject, typeNameOf(apiVersion, kind) ?? '');
  applyDefaults(object, apiVersion, kind);
  return object;
}

const CONTAINER = { name: 'c', image: 'nginx:1.27' };
const DEFAULTED_CONTAINER = {
  name: 'c',
  image: 'nginx:1.27',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};
const TEMPLATE = { metadata: { labels: { app: 'x' } }, spec: { containers: [CONTAINER] } };
const DEFAULTED_POD_SPEC = {
  containers: [DEFAULTED_CONTAINER],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};
const DEFAULTED_TEMPLATE = { metadata: { labels: { app: 'x' } }, spec: DEFAULTED_POD_SPEC };
const SELECTOR = { matchLabels: { app: 'x' } };

describe('defaults of workloads', () => {
  it('API-501 a Deployment with only selector and template', () => {
    expect(
      defaulted('apps/v1', 'Deployment', { metadata: { name: 'd' }, spec: { selector: SELECTOR, template: TEMPLATE } }),
    ).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        replicas: 1,
        selector: SELECTOR,
        template: DEFAULTED_TEMPLATE,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: {},
    });
  });

  it('API-500 what is given stays', () => {
    const spec = {
      replicas: 0,
      selector: SELECTOR,
      template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never', terminationGracePeriodSeconds: 0 } },
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 0,
    };
    expect(defaulted('apps/v1', 'Deployment', { spec })['spec']).toMatchObject({
      replicas: 0,
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 0,
      template: { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0 } },
    });
  });

  it('API-500 ReplicaSet, StatefulSet and DaemonSet', () => {
    const spec = { selector: SELECTOR, template: TEMPLATE };
    expect(defaulted('apps/v1', 'ReplicaSet', { spec })).toMatchObject({
      spec: { replicas: 1, template: DEFAULTED_TEMPLATE },
      status: { replicas: 0 },
    });
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    expect(
      defaulted('apps/v1', 'StatefulSet', { spec: { ...spec, serviceName: 's', volumeClaimTemplates: [claim] } })[
        'spec'
      ],
    ).toEqual({
      ...spec,
      template: DEFAULTED_TEMPLATE,
      serviceName: 's',
      volumeClaimTemplates: [
        {
          kind: 'PersistentVolumeClaim',
          apiVersion: 'v1',
          ...claim,
          spec: { ...claim.spec, volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      replicas: 1,
      revisionHistoryLimit: 10,
    });
    expect(defaulted('apps/v1', 'DaemonSet', { spec })['spec']).toEqual({
      selector: SELECTOR,
      template: DEFAULTED_TEMPLATE,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
  });

  it('API-500 a StatefulSet that names RollingUpdate without parameters gets none', () => {
    const spec = { selector: SELECTOR, template: TEMPLATE, updateStrategy: { type: 'RollingUpdate' } };
    expect(defaulted('apps/v1', 'StatefulSet', { spec })['spec']).toMatchObject({
      updateStrategy: { type: 'RollingUpdate' },
    });
    expect(JSON.stringify(defaulted('apps/v1', 'StatefulSet', { spec }))).not.toContain('partition');
  });

  it('API-500 a ReplicationController takes selector and labels from its template', () => {
    expect(defaulted('v1', 'ReplicationController', { spec: { template: TEMPLATE } })).toMatchObject({
      metadata: { labels: { app: 'x' } },
      spec: { replicas: 1, selector: { app: 'x' }, template: DEFAULTED_TEMPLATE },
    });
  });

  it('API-500 a Job', () => {
    const template = { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } };
    expect(defaulted('batch/v1', 'Job', { spec: { template } })).toMatchObject({
      metadata: { labels: { app: 'x' } },
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        suspend: false,
        manualSelector: false,
        podReplacementPolicy: 'TerminatingOrFailed',
      },
    });
    const indexed = { template, completions: 3, backoffLimitPerIndex: 1, podFailurePolicy: { rules: [] } };
    expect(defaulted('batch/v1', 'Job', { spec: indexed })['spec']).toMatchObject({
      parallelism: 1,
      completions: 3,
      backoffLimit: 2147483647,
      podReplacementPolicy: 'Failed',
    });
    expect(defaulted('batch/v1', 'Job', { spec: { template, parallelism: 2 } })['spec']).not.toHaveProperty(
      'completions',
    );
  });

  it('API-500 a CronJob defaults the pods of its template, not the job', () => {
    const spec = { schedule: '* * * * *', jobTemplate: { spec: { template: TEMPLATE } } };
    const { jobTemplate, ...rest } = defaulted('batch/v1', 'CronJob', { spec })['spec'] as Json;
    expect(rest).toEqual({
      schedule: '* * * * *',
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect(jobTemplate).toEqual({ metadata: {}, spec: { template: DEFAULTED_TEMPLATE } });
  });
});

describe('defaults of pods', () => {
  const podSpec = (spec: Json): Json => defaulted('v1', 'Pod', { spec })['spec'] as Json;

  it('API-500 a Pod has more of them than a template', () => {
    expect(podSpec({ containers: [CONTAINER] })).toEqual({ ...DEFAULTED_POD_SPEC, enableServiceLinks: true });
  });

  it('API-500 missing requests are the limits, per resource', () => {
    const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } };
    expect(podSpec({ containers: [{ ...CONTAINER, resources }] })).toMatchObject({
      containers: [{ resources: { limits: resources.limits, requests: { cpu: '500m', memory: '1Gi' } } }],
    });
    expect(
      defaulted('v1', 'PodTemplate', { template: { spec: { containers: [{ ...CONTAINER, resources }] } } }),
    ).toMatchObject({
      template: { spec: { containers: [{ resources }] } },
    });
  });

  it('API-500 with hostNetwork the host ports are the container ports', () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081 }];
    const container = { ...CONTAINER, ports };
    expect(podSpec({ hostNetwork: true, containers: [container], initContainers: [container] })).toMatchObject({
      containers: [{ ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }, { hostPort: 8081 }] }],
      initContainers: [{ ports: [{ hostPort: 80 }, { hostPort: 8081 }] }],
    });
    expect(JSON.stringify(podSpec({ containers: [container] }))).not.toContain('"hostPort":80,');
  });

  it.each([
    [{ serviceAccountName: 'a' }, { serviceAccountName: 'a', serviceAccount: 'a' }],
    [{ serviceAccount: 'b' }, { serviceAccountName: 'b', serviceAccount: 'b' }],
    [
      { serviceAccountName: 'a', serviceAccount: 'b' },
      { serviceAccountName: 'a', serviceAccount: 'a' },
    ],
  ])('API-500 serviceAccount mirrors serviceAccountName: %j', (given, expected) => {
    expect(podSpec({ containers: [CONTAINER], ...given })).toMatchObject(expected);
  });

  it('API-500 probes, handlers and references', () => {
    const container = {
      ...CONTAINER,
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { grpc: { port: 1 }, periodSeconds: 3 },
      lifecycle: { preStop: { httpGet: { port: 'x' } } },
      env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    };
    expect(podSpec({ containers: [container] })).toMatchObject({
      containers: [
        {
          livenessProbe: {
            httpGet: { port: 80, path: '/', scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          readinessProbe: { grpc: { port: 1, service: '' }, periodSeconds: 3 },
          lifecycle: { preStop: { httpGet: { port: 'x', path: '/', scheme: 'HTTP' } } },
          env: [{ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }],
        },
      ],
    });
  });

  it.each<[string, Json, Json]>([
    ['no source', {}, { emptyDir: {} }],
    ['secret', { secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
    ['configMap', { configMap: { name: 'c', defaultMode: 0 } }, { configMap: { name: 'c', defaultMode: 0 } }],
    ['hostPath', { hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    [
      'downwardAPI',
      { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'f' } }] } },
      { downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'f' } }], defaultMode: 420 } },
    ],
    [
      'projected',
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 } },
    ],
    ['image', { image: { reference: 'a' } }, { image: { reference: 'a', pullPolicy: 'Always' } }],
    [
      'iscsi',
      { iscsi: { targetPortal: 't', iqn: 'i', lun: 0 } },
      { iscsi: { targetPortal: 't', iqn: 'i', lun: 0, iscsiInterface: 'default' } },
    ],
  ])('API-500 a volume with %s', (_, given, expected) => {
    expect(podSpec({ containers: [CONTAINER], volumes: [{ name: 'v', ...given }] })['volumes']).toEqual([
      { name: 'v', ...expected },
    ]);
  });

  it.each([
    ['nginx', 'latest'],
    ['nginx:latest', 'latest'],
    ['nginx:1.2', '1.2'],
    ['registry.example:5000/a/b', 'latest'],
    ['registry.example:5000/a/b:v1', 'v1'],
    [`nginx@sha256:${'a'.repeat(64)}`, ''],
    [`nginx:latest@sha256:${'a'.repeat(64)}`, 'latest'],
    ['', ''],
    ['Nginx', ''],
    ['a b', ''],
  ])('API-500 the tag of %j is %j', (image, tag) => {
    expect(imageTag(image)).toBe(tag);
    expect(podSpec({ containers: [{ name: 'c', image }] })).toMatchObject({
      containers: [{ imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent' }],
    });
  });

  it.each([
    ['1u', '1m'],
    ['1500u', '2m'],
    ['999999999n', '1'],
    ['-1500u', '-2m'],
    ['1e-9', '1e-3'],
    ['1m', '1m'],
    ['1Gi', '1Gi'],
  ])('API-500 the amount %s is rounded up to %s', (amount, expected) => {
    expect(podSpec({ containers: [{ ...CONTAINER, resources: { limits: { cpu: amount } } }] })).toMatchObject({
      containers: [{ resources: { limits: { cpu: expected } } }],
    });
  });
});

describe('defaults of other kinds', () => {
  const rows: readonly (readonly [name: string, apiVersion: string, kind: string, given: Json, expected: Json])[] = [
    [
      'a Service',
      'v1',
      'Service',
      { spec: { ports: [{ port: 80 }] } },
      {
        spec: {
          type: 'ClusterIP',
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
          ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
        },
      },
    ],
    [
      'a NodePort',
      'v1',
      'Service',
      { spec: { type: 'NodePort' } },
      { spec: { externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' } },
    ],
    [
      'a LoadBalancer',
      'v1',
      'Service',
      { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'h' }] } } },
      {
        spec: { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true },
        status: { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }, { hostname: 'h' }] } },
      },
    ],
    [
      'session affinity',
      'v1',
      'Service',
      { spec: { sessionAffinity: 'ClientIP' } },
      { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } } },
    ],
    [
      'a Secret',
      'v1',
      'Secret',
      { data: { a: 'YQ==', b: 'Yg==' }, stringData: { b: 'ü', c: '' } },
      { type: 'Opaque', data: { a: 'YQ==', b: 'w7w=', c: '' } },
    ],
    [
      'a Namespace',
      'v1',
      'Namespace',
      { metadata: { name: 'n' } },
      { metadata: { labels: { 'kubernetes.io/metadata.name': 'n' } }, status: { phase: 'Active' } },
    ],
    ['a Node', 'v1', 'Node', { status: { capacity: { cpu: '2' } } }, { status: { allocatable: { cpu: '2' } } }],
    [
      'a PersistentVolume',
      'v1',
      'PersistentVolume',
      { spec: { hostPath: { path: '/x' } } },
      {
        spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', hostPath: { path: '/x', type: '' } },
        status: { phase: 'Pending' },
      },
    ],
    [
      'a PersistentVolumeClaim',
      'v1',
      'PersistentVolumeClaim',
      {},
      { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
    ],
    [
      'a LimitRange',
      'v1',
      'LimitRange',
      {
        spec: {
          limits: [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' }, default: { memory: '2Mi' } }],
        },
      },
      { spec: { limits: [{ default: { cpu: '2', memory: '2Mi' }, defaultRequest: { cpu: '2', memory: '2Mi' } }] } },
    ],
    [
      'a LimitRange with min only',
      'v1',
      'LimitRange',
      { spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] } },
      { spec: { limits: [{ defaultRequest: { cpu: '1' } }] } },
    ],
    [
      'Endpoints',
      'v1',
      'Endpoints',
      { subsets: [{ ports: [{ port: 1 }] }] },
      { subsets: [{ ports: [{ protocol: 'TCP' }] }] },
    ],
    [
      'an EndpointSlice',
      'discovery.k8s.io/v1',
      'EndpointSlice',
      { ports: [{ port: 1 }] },
      { ports: [{ name: '', protocol: 'TCP' }] },
    ],
    [
      'a StorageClass',
      'storage.k8s.io/v1',
      'StorageClass',
      { provisioner: 'p' },
      { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
    ],
    [
      'a CSIDriver',
      'storage.k8s.io/v1',
      'CSIDriver',
      {},
      {
        spec: {
          attachRequired: true,
          podInfoOnMount: false,
          storageCapacity: false,
          requiresRepublish: false,
          fsGroupPolicy: 'ReadWriteOnceWithFSType',
          volumeLifecycleModes: ['Persistent'],
        },
      },
    ],
    [
      'a NetworkPolicy',
      'networking.k8s.io/v1',
      'NetworkPolicy',
      { spec: { ingress: [{ ports: [{ port: 1 }] }] } },
      { spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ protocol: 'TCP' }] }] } },
    ],
    [
      'a NetworkPolicy with egress',
      'networking.k8s.io/v1',
      'NetworkPolicy',
      { spec: { egress: [{}] } },
      { spec: { policyTypes: ['Ingress', 'Egress'] } },
    ],
    [
      'an IngressClass',
      'networking.k8s.io/v1',
      'IngressClass',
      { spec: { parameters: { kind: 'K', name: 'n' } } },
      { spec: { parameters: { scope: 'Cluster' } } },
    ],
    ['an HPA v1', 'autoscaling/v1', 'HorizontalPodAutoscaler', {}, { spec: { minReplicas: 1 } }],
    [
      'an HPA v2',
      'autoscaling/v2',
      'HorizontalPodAutoscaler',
      {},
      {
        spec: {
          minReplicas: 1,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
          ],
        },
      },
    ],
    [
      'HPA behavior',
      'autoscaling/v2',
      'HorizontalPodAutoscaler',
      { spec: { behavior: { scaleUp: { stabilizationWindowSeconds: 5 } } } },
      {
        spec: {
          behavior: {
            scaleUp: {
              stabilizationWindowSeconds: 5,
              selectPolicy: 'Max',
              policies: [
                { type: 'Pods', value: 4 },
                { type: 'Percent', value: 100 },
              ],
            },
            scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
          },
        },
      },
    ],
    [
      'a RoleBinding',
      'rbac.authorization.k8s.io/v1',
      'RoleBinding',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }, { name: 's' }],
      },
    ],
    [
      'a PriorityClass',
      'scheduling.k8s.io/v1',
      'PriorityClass',
      { value: 1 },
      { preemptionPolicy: 'PreemptLowerPriority' },
    ],
    [
      'webhooks (API-354)',
      'admissionregistration.k8s.io/v1',
      'MutatingWebhookConfiguration',
      { webhooks: [{ name: 'w', clientConfig: { service: { name: 's', namespace: 'n' } }, rules: [{}] }] },
      {
        webhooks: [
          {
            failurePolicy: 'Fail',
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            timeoutSeconds: 10,
            reinvocationPolicy: 'Never',
            clientConfig: { service: { port: 443 } },
            rules: [{ scope: '*' }],
          },
        ],
      },
    ],
    [
      'an admission policy',
      'admissionregistration.k8s.io/v1',
      'ValidatingAdmissionPolicy',
      { spec: { matchConstraints: { resourceRules: [{}] } } },
      {
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            resourceRules: [{ scope: '*' }],
          },
        },
      },
    ],
    ['a FlowSchema', 'flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', {}, { spec: { matchingPrecedence: 1000 } }],
    [
      'a priority level',
      'flowcontrol.apiserver.k8s.io/v1',
      'PriorityLevelConfiguration',
      { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } },
      {
        spec: {
          limited: {
            nominalConcurrencyShares: 30,
            lendablePercent: 0,
            limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
          },
        },
      },
    ],
    [
      'a CRD',
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      {
        spec: { names: { kind: 'Widget', plural: 'widgets' }, versions: [{ name: 'v1', served: true, storage: true }] },
      },
      {
        spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
        status: { storedVersions: ['v1'] },
      },
    ],
    [
      'an APIService',
      'apiregistration.k8s.io/v1',
      'APIService',
      { spec: { service: { name: 's', namespace: 'n' } } },
      { spec: { service: { port: 443 } } },
    ],
    [
      'a ResourceClaim',
      'resource.k8s.io/v1',
      'ResourceClaim',
      { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'd' } }] } } },
      { spec: { devices: { requests: [{ exactly: { allocationMode: 'ExactCount', count: 1 } }] } } },
    ],
  ];

  it.each(rows)('API-500 %s', (_, apiVersion, kind, given, expected) => {
    expect(defaulted(apiVersion, kind, given)).toMatchObject(expected);
  });

  it('API-500 stringData is never stored', () => {
    expect(defaulted('v1', 'Secret', { stringData: { a: 'b' } })).not.toHaveProperty('stringData');
  });

  it('API-500 every kind with defaults is a kind of the table', () => {
    for (const [apiVersion, kind] of kindsWithDefaults()) expect(typeNameOf(apiVersion, kind), kind).toBeDefined();
  });

  it('API-500 metadata is defaulted where it is said to be, and nowhere else', () => {
    const given = { metadata: { name: 'n' }, spec: { template: TEMPLATE }, template: TEMPLATE };
    for (const [apiVersion, kind] of kindNames()) {
      const { object } = decodeTyped({ apiVersion, kind, ...given }, typeNameOf(apiVersion, kind) ?? '');
      const before = copyJson(object.metadata);
      applyDefaults(object, apiVersion, kind);
      const changed = JSON.stringify(object.metadata) !== JSON.stringify(before);
      expect([kind, changed]).toEqual([kind, defaultsMetadata(apiVersion, kind)]);
    }
  });

  it('API-501 defaulting twice is defaulting once, and so is decoding the result, for all kinds and rows', () => {
    const everyKind = kindNames().map(([apiVersion, kind]) => [kind, apiVersion, kind, {}] as const);
    for (const [name, apiVersion, kind, given] of [...everyKind, ...rows]) {
      const once = defaulted(apiVersion, kind, given);
      const twice = copyJson(once);
      applyDefaults(twice, apiVersion, kind);
      expect(twice, name).toEqual(once);
      expect(defaulted(apiVersion, kind, copyJson(once)), name).toEqual(once);
    }
  });
});
