import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Cell, PrinterColumn } from './printer-column.ts';
import { printerColumnsFor } from './printer-columns.ts';

/**
 * The table of 28.1 for what is served by default, `(w)` = priority 1, type after the name where it is not string.
 */
const TABLE: Readonly<Record<string, string>> = {
  ComponentStatus: 'Name, Status, Message, Error',
  ConfigMap: 'Name, Data, Age',
  Endpoints: 'Name, Endpoints, Age',
  Event: 'Last Seen, Type, Reason, Object, Subobject (w), Source (w), Message, First Seen (w), Count (w), Name (w)',
  Namespace: 'Name, Status, Age',
  Node: 'Name, Status, Roles, Age, Version, Internal-IP (w), External-IP (w), OS-Image (w), Kernel-Version (w), Container-Runtime (w)',
  PersistentVolumeClaim:
    'Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, VolumeMode (w)',
  PersistentVolume:
    'Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age, VolumeMode (w)',
  Pod: 'Name, Ready, Status, Restarts, Age, IP (w), Node (w), Nominated Node (w), Readiness Gates (w)',
  PodTemplate: 'Name, Containers, Images, Pod Labels',
  ReplicationController: 'Name, Desired int, Current int, Ready int, Age, Containers (w), Images (w), Selector (w)',
  ResourceQuota: 'Name, Request, Limit, Age',
  Secret: 'Name, Type, Data, Age',
  ServiceAccount: 'Name, Age',
  Service: 'Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector (w)',
  ControllerRevision: 'Name, Controller, Revision, Age',
  DaemonSet:
    'Name, Desired int, Current int, Ready int, Up-to-date int, Available int, Node Selector, Age, Containers (w), Images (w), Selector (w)',
  Deployment: 'Name, Ready, Up-to-date, Available, Age, Containers (w), Images (w), Selector (w)',
  ReplicaSet: 'Name, Desired int, Current int, Ready int, Age, Containers (w), Images (w), Selector (w)',
  StatefulSet: 'Name, Ready, Age, Containers (w), Images (w)',
  CronJob:
    'Name, Schedule, Timezone, Suspend bool, Active int, Last Schedule, Age, Containers (w), Images (w), Selector (w)',
  Job: 'Name, Status, Completions, Duration, Age, Containers (w), Images (w), Selector (w)',
  HorizontalPodAutoscaler: 'Name, Reference, Targets, MinPods, MaxPods, Replicas, Age',
  PodDisruptionBudget: 'Name, Min Available, Max Unavailable, Allowed Disruptions int, Age',
  ClusterRoleBinding: 'Name, Role, Age, Users (w), Groups (w), ServiceAccounts (w)',
  RoleBinding: 'Name, Role, Age, Users (w), Groups (w), ServiceAccounts (w)',
  Lease: 'Name, Holder, Age',
  CertificateSigningRequest: 'Name, Age, SignerName, Requestor, RequestedDuration, Condition',
  CSIDriver:
    'Name, AttachRequired bool, PodInfoOnMount bool, StorageCapacity bool, TokenRequests, RequiresRepublish bool, Modes, Age',
  CSINode: 'Name, Drivers int, Age',
  CSIStorageCapacity: 'Name, StorageClassName, Capacity',
  StorageClass: 'Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age',
  VolumeAttachment: 'Name, Attacher, PV, Node, Attached bool, Age',
  VolumeAttributesClass: 'Name, DriverName, Age',
  EndpointSlice: 'Name, AddressType, Ports, Endpoints, Age',
  IngressClass: 'Name, Controller, Parameters, Age',
  Ingress: 'Name, Class, Hosts, Address, Ports, Age',
  IPAddress: 'Name, ParentRef',
  NetworkPolicy: 'Name, Pod-Selector, Age',
  ServiceCIDR: 'Name, CIDRs, Age',
  RuntimeClass: 'Name, Handler, Age',
  PriorityClass: 'Name, Value int, Global-Default bool, Age, PreemptionPolicy',
  MutatingAdmissionPolicy: 'Name, Mutations int, ParamKind, Age',
  MutatingAdmissionPolicyBinding: 'Name, PolicyName, ParamRef, Age',
  MutatingWebhookConfiguration: 'Name, Webhooks int, Age',
  ValidatingAdmissionPolicy: 'Name, Validations int, ParamKind, Age',
  ValidatingAdmissionPolicyBinding: 'Name, PolicyName, ParamRef, Age',
  ValidatingWebhookConfiguration: 'Name, Webhooks int, Age',
  APIService: 'Name, Service, Available, Age',
  FlowSchema: 'Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL',
  PriorityLevelConfiguration: 'Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age',
  DeviceClass: 'Name, Age',
  ResourceClaim: 'Name, State, Age',
  ResourceClaimTemplate: 'Name, Age',
  ResourceSlice: 'Name, Node, Driver, Pool, Age',
};

/** Served by no default installation, or no resource at all. */
const FURTHER: readonly [string, string, string, string][] = [
  ['autoscaling', 'v1', 'Scale', 'Name, Desired int, Available int, Age'],
  ['', 'v1', 'Status', 'Status, Reason, Message'],
  ['coordination.k8s.io', 'v1beta1', 'LeaseCandidate', 'Name, LeaseName, BinaryVersion, EmulationVersion, Age'],
  ['certificates.k8s.io', 'v1beta1', 'ClusterTrustBundle', 'Name, SignerName'],
  [
    'certificates.k8s.io',
    'v1beta1',
    'PodCertificateRequest',
    'Name, PodName, ServiceAccountName, NodeName, SignerName, State, UnverifiedUserAnnotations',
  ],
  ['scheduling.k8s.io', 'v1alpha2', 'PodGroup', 'Name, Policy, Workload, Status, Age'],
  ['scheduling.k8s.io', 'v1alpha2', 'Workload', 'Name, Age'],
  ['resource.k8s.io', 'v1beta2', 'DeviceTaintRule', 'Name, Key, Value, Effect, TimeAdded, Age'],
  [
    'resource.k8s.io',
    'v1alpha3',
    'ResourcePoolStatusRequest',
    'Name, Driver, Total, Available, Allocated, Unavailable, Errors, Pools int, Status, Completed',
  ],
  ['internal.apiserver.k8s.io', 'v1alpha1', 'StorageVersion', 'Name, CommonEncodingVersion, StorageVersions, Age'],
  ['storagemigration.k8s.io', 'v1beta1', 'StorageVersionMigration', 'Name, Resource, Status'],
];

const OWN_COLUMNS_ABSENT = new Set(['LimitRange', 'ClusterRole', 'Role', 'CustomResourceDefinition']);

function printed(columns: readonly PrinterColumn[]): string {
  const types: Readonly<Record<string, string>> = { integer: ' int', boolean: ' bool', string: '' };
  return columns
    .map(({ name, type, priority }) => `${name}${types[type] ?? ` ${type}`}${priority === 1 ? ' (w)' : ''}`)
    .join(', ');
}

const listed = builtinResources().filter(({ verbs }) => verbs.includes('list'));

describe('columns', () => {
  it.each(listed.map((info) => [info.group, info.version, info.kind] as const))(
    'API-431 %s/%s %s has the columns of 28.1',
    (group, version, kind) => {
      const columns = printed(printerColumnsFor({ group, version, kind }));
      if (OWN_COLUMNS_ABSENT.has(kind)) expect(columns).toBe('Name, Created At date');
      else expect(columns).toBe(TABLE[kind]);
    },
  );

  it.each(FURTHER)('API-431 %s/%s %s has the columns of 28.1', (group, version, kind, columns) => {
    expect(printed(printerColumnsFor({ group, version, kind }))).toBe(columns);
  });

  it('API-433 a kind without columns of its own shows when it was created', () => {
    const columns = printerColumnsFor({ group: '', version: 'v1', kind: 'LimitRange' });
    expect(columns.map(({ name, type, format }) => [name, type, format])).toEqual([
      ['Name', 'string', 'name'],
      ['Created At', 'date', ''],
    ]);
    const metadata = { name: 'a', creationTimestamp: '2026-01-02T03:04:05Z' };
    expect(columns.map(({ cell }) => cell({ metadata }, 0))).toEqual(['a', '2026-01-02T03:04:05Z']);
  });

  it('API-430 every column has a description of its own, and the name is marked', () => {
    for (const info of listed) {
      const columns = printerColumnsFor(info);
      expect(
        columns.find(({ format }) => format === 'name'),
        info.kind,
      ).toBeDefined();
      for (const { name, description } of columns) expect(description, `${info.kind} ${name}`).toMatch(/^[A-Z].+\.$/);
    }
  });

  it('API-438 an object with nothing but a name has a row of every kind', () => {
    for (const info of listed) {
      const cells = printerColumnsFor(info).map(({ cell }) => cell({ metadata: { name: 'x' } }, 0));
      for (const cell of cells)
        expect(cell === null || ['string', 'number', 'boolean'].includes(typeof cell)).toBe(true);
      expect(cells).toContain('x');
    }
  });
});

const NOW = Date.UTC(2026, 0, 1, 12);
const hoursAgo = (hours: number): string => `${new Date(NOW - hours * 3_600_000).toISOString().slice(0, 19)}Z`;

/** Cells by column name, those that are not asked for left out. */
function cells(group: string, kind: string, object: KubeObject, version = 'v1'): Record<string, Cell> {
  return Object.fromEntries(
    printerColumnsFor({ group, version, kind }).map(({ name, cell }) => [name, cell(object, NOW)]),
  );
}

const template = {
  metadata: { labels: { b: '2', a: '1' } },
  spec: {
    containers: [
      { name: 'web', image: 'nginx:1' },
      { name: 'log', image: 'fluentd' },
    ],
    nodeSelector: { disk: 'ssd' },
  },
};
const wide = { Containers: 'web,log', Images: 'nginx:1,fluentd' };

describe('cells', () => {
  const metadata = { name: 'x', creationTimestamp: hoursAgo(10) };

  const rows: readonly [string, string, KubeObject, Record<string, Cell>][] = [
    ['', 'ConfigMap', { data: { a: '', b: '' }, binaryData: { c: '' } }, { Name: 'x', Data: 3, Age: '10h' }],
    ['', 'Secret', { type: 'Opaque', data: { a: '' } }, { Type: 'Opaque', Data: 1 }],
    ['', 'Namespace', { status: { phase: 'Terminating' } }, { Status: 'Terminating' }],
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
    [
      'apps',
      'StatefulSet',
      { spec: { replicas: 2, template }, status: { readyReplicas: 1 } },
      { Ready: '1/2', ...wide },
    ],
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
    [
      '',
      'Service',
      {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.96.0.1', 'fd00::1'],
          ports: [
            { port: 80, nodePort: 30000, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
          selector: { app: 'a' },
        },
      },
      {
        Type: 'NodePort',
        'Cluster-IP': '10.96.0.1',
        'External-IP': '<none>',
        'Port(s)': '80:30000/TCP,53/UDP',
        Selector: 'app=a',
      },
    ],
    [
      '',
      'Service',
      { spec: { type: 'LoadBalancer' } },
      { 'Cluster-IP': '<none>', 'External-IP': '<pending>', 'Port(s)': '<none>', Selector: '<none>' },
    ],
    [
      '',
      'Service',
      {
        spec: { type: 'LoadBalancer', externalIPs: ['1.1.1.1'] },
        status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }, { ip: '2.2.2.2' }, { ip: '2.2.2.2' }] } },
      },
      { 'External-IP': '2.2.2.2,lb.example,1.1.1.1' },
    ],
    [
      '',
      'Service',
      { spec: { type: 'ClusterIP', externalIPs: ['1.1.1.1', '1.1.1.2'] } },
      { 'External-IP': '1.1.1.1,1.1.1.2' },
    ],
    ['', 'Service', { spec: { type: 'ExternalName', externalName: 'db.example' } }, { 'External-IP': 'db.example' }],
    [
      '',
      'Endpoints',
      {
        subsets: [
          { addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 443 }] },
          { addresses: [{ ip: '10.0.0.3' }] },
        ],
      },
      { Endpoints: '10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 2 more...' },
    ],
    ['', 'Endpoints', {}, { Endpoints: '<none>' }],
    [
      'discovery.k8s.io',
      'EndpointSlice',
      {
        addressType: 'IPv4',
        ports: [{ port: 80 }, { name: 'x' }, {}, { port: 1 }],
        endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3'] }],
      },
      { AddressType: 'IPv4', Ports: '80,x,* + 1 more...', Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3' },
    ],
    ['discovery.k8s.io', 'EndpointSlice', { addressType: 'FQDN' }, { Ports: '<unset>', Endpoints: '<unset>' }],
    [
      '',
      'PersistentVolume',
      {
        spec: {
          capacity: { storage: '10Gi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'ns', name: 'c' },
          storageClassName: 'fast',
          volumeMode: 'Filesystem',
        },
        status: { phase: 'Bound', reason: 'r' },
      },
      {
        Capacity: '10Gi',
        'Access Modes': 'RWO,RWX',
        'Reclaim Policy': 'Retain',
        Status: 'Bound',
        Claim: 'ns/c',
        StorageClass: 'fast',
        VolumeAttributesClass: '<unset>',
        Reason: 'r',
        VolumeMode: 'Filesystem',
      },
    ],
    [
      '',
      'PersistentVolume',
      { metadata: { ...metadata, deletionTimestamp: hoursAgo(1) }, status: { phase: 'Bound' } },
      { Status: 'Terminating', Capacity: '0', Claim: '', VolumeMode: '<unset>' },
    ],
    [
      '',
      'PersistentVolumeClaim',
      {
        metadata: { ...metadata, annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
        spec: {
          volumeName: 'pv',
          storageClassName: 'new',
          volumeAttributesClassName: 'gold',
          accessModes: ['ReadOnlyMany'],
        },
        status: { phase: 'Bound', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOncePod'] },
      },
      {
        Status: 'Bound',
        Volume: 'pv',
        Capacity: '5Gi',
        'Access Modes': 'RWOP',
        StorageClass: 'old',
        VolumeAttributesClass: 'gold',
      },
    ],
    [
      '',
      'PersistentVolumeClaim',
      {
        spec: { resources: { requests: { storage: '1Gi' } } },
        status: { phase: 'Pending', capacity: { storage: '9Gi' } },
      },
      { Status: 'Pending', Volume: '', Capacity: '', 'Access Modes': '', StorageClass: '' },
    ],
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
    [
      'storage.k8s.io',
      'StorageClass',
      {
        metadata: { ...metadata, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p',
      },
      {
        Name: 'x (default)',
        Provisioner: 'p',
        ReclaimPolicy: 'Delete',
        VolumeBindingMode: 'Immediate',
        AllowVolumeExpansion: false,
      },
    ],
    [
      'storage.k8s.io',
      'CSIDriver',
      {
        spec: {
          tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
          volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        },
      },
      {
        AttachRequired: true,
        PodInfoOnMount: false,
        StorageCapacity: false,
        TokenRequests: 'a,b',
        RequiresRepublish: false,
        Modes: 'Persistent,Ephemeral',
      },
    ],
    [
      'storage.k8s.io',
      'CSIDriver',
      { spec: { attachRequired: false } },
      { AttachRequired: false, TokenRequests: '<unset>', Modes: '<none>' },
    ],
    ['storage.k8s.io', 'CSINode', { spec: { drivers: [{}, {}] } }, { Drivers: 2 }],
    ['storage.k8s.io', 'CSIStorageCapacity', { storageClassName: 's' }, { StorageClassName: 's', Capacity: '<unset>' }],
    [
      'storage.k8s.io',
      'VolumeAttachment',
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'pv' } }, status: { attached: true } },
      { Attacher: 'a', PV: 'pv', Node: 'n', Attached: true },
    ],
    [
      'networking.k8s.io',
      'Ingress',
      {
        spec: {
          ingressClassName: 'nginx',
          rules: [{ host: 'a' }, { host: 'b' }, {}, { host: 'c' }, { host: 'd' }],
          tls: [{}],
        },
        status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
      },
      { Class: 'nginx', Hosts: 'a,b,c + 2 more...', Address: '1.2.3.4', Ports: '80, 443' },
    ],
    [
      'networking.k8s.io',
      'Ingress',
      { spec: { rules: [{}] } },
      { Class: '<none>', Hosts: '*', Address: '', Ports: '80' },
    ],
    [
      'networking.k8s.io',
      'IngressClass',
      {
        metadata: { ...metadata, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
        spec: { controller: 'c', parameters: { apiGroup: 'g', kind: 'K', name: 'n' } },
      },
      { Name: 'x (default)', Controller: 'c', Parameters: 'K.g/n' },
    ],
    ['networking.k8s.io', 'IngressClass', { spec: { parameters: { kind: 'K', name: 'n' } } }, { Parameters: 'K/n' }],
    ['networking.k8s.io', 'IngressClass', {}, { Parameters: '<none>' }],
    ['networking.k8s.io', 'NetworkPolicy', { spec: { podSelector: {} } }, { 'Pod-Selector': '<none>' }],
    [
      'networking.k8s.io',
      'NetworkPolicy',
      { spec: { podSelector: { matchLabels: { a: 'b' } } } },
      { 'Pod-Selector': 'a=b' },
    ],
    [
      'networking.k8s.io',
      'IPAddress',
      { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } } },
      { ParentRef: 'services/default/kubernetes' },
    ],
    ['networking.k8s.io', 'IPAddress', {}, { ParentRef: '<none>' }],
    [
      'networking.k8s.io',
      'ServiceCIDR',
      { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } },
      { CIDRs: '10.0.0.0/24,fd00::/64' },
    ],
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
    [
      'rbac.authorization.k8s.io',
      'RoleBinding',
      {
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [
          { kind: 'User', name: 'ann' },
          { kind: 'User', name: 'bob' },
          { kind: 'Group', name: 'dev' },
          { kind: 'ServiceAccount', namespace: 'ns', name: 'sa' },
        ],
      },
      { Role: 'ClusterRole/view', Users: 'ann, bob', Groups: 'dev', ServiceAccounts: 'ns/sa' },
    ],
    [
      'certificates.k8s.io',
      'CertificateSigningRequest',
      {
        spec: { signerName: 's', username: 'u', expirationSeconds: 3600 },
        status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'YQ==' },
      },
      { SignerName: 's', Requestor: 'u', RequestedDuration: '60m', Condition: 'Approved,Failed,Issued' },
    ],
    [
      'certificates.k8s.io',
      'CertificateSigningRequest',
      { spec: {}, status: { conditions: [{ type: 'Approved' }, { type: 'Denied' }] } },
      { SignerName: '<none>', RequestedDuration: '<none>', Condition: 'Denied' },
    ],
    ['certificates.k8s.io', 'CertificateSigningRequest', {}, { Condition: 'Pending' }],
    ['coordination.k8s.io', 'Lease', { spec: { holderIdentity: 'me' } }, { Holder: 'me', Age: '10h' }],
    [
      'scheduling.k8s.io',
      'PriorityClass',
      { value: -5, globalDefault: true },
      { Value: -5, 'Global-Default': true, PreemptionPolicy: '' },
    ],
    ['node.k8s.io', 'RuntimeClass', { handler: 'runc' }, { Handler: 'runc' }],
    [
      'admissionregistration.k8s.io',
      'ValidatingAdmissionPolicy',
      { spec: { validations: [{}, {}], paramKind: { apiVersion: 'g/v1', kind: 'K' } } },
      { Validations: 2, ParamKind: 'g/v1/K' },
    ],
    [
      'admissionregistration.k8s.io',
      'MutatingAdmissionPolicy',
      { spec: { mutations: [{}] } },
      { Mutations: 1, ParamKind: '<unset>' },
    ],
    [
      'admissionregistration.k8s.io',
      'ValidatingAdmissionPolicyBinding',
      { spec: { policyName: 'p', paramRef: { name: 'n' } } },
      { PolicyName: 'p', ParamRef: '*/n' },
    ],
    [
      'admissionregistration.k8s.io',
      'MutatingAdmissionPolicyBinding',
      { spec: { paramRef: { name: 'n', namespace: 'ns' } } },
      { ParamRef: 'ns/n' },
    ],
    [
      'admissionregistration.k8s.io',
      'MutatingAdmissionPolicyBinding',
      { spec: { policyName: 'p' } },
      { ParamRef: '<unset>' },
    ],
    ['admissionregistration.k8s.io', 'MutatingWebhookConfiguration', { webhooks: [{}] }, { Webhooks: 1 }],
    [
      'apiregistration.k8s.io',
      'APIService',
      {
        spec: { service: { namespace: 'ns', name: 'svc' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] },
      },
      { Service: 'ns/svc', Available: 'False (Gone)' },
    ],
    [
      'apiregistration.k8s.io',
      'APIService',
      { spec: {}, status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] } },
      { Service: 'Local', Available: 'True' },
    ],
    ['apiregistration.k8s.io', 'APIService', {}, { Available: 'Unknown' }],
    [
      'flowcontrol.apiserver.k8s.io',
      'FlowSchema',
      {
        spec: {
          priorityLevelConfiguration: { name: 'pl' },
          matchingPrecedence: 100,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      },
      { PriorityLevel: 'pl', MatchingPrecedence: 100, DistinguisherMethod: 'ByUser', MissingPL: 'False' },
    ],
    ['flowcontrol.apiserver.k8s.io', 'FlowSchema', {}, { DistinguisherMethod: '<none>', MissingPL: '?' }],
    [
      'flowcontrol.apiserver.k8s.io',
      'PriorityLevelConfiguration',
      {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: 30,
            limitResponse: { queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
          },
        },
      },
      { Type: 'Limited', NominalConcurrencyShares: 30, Queues: 64, HandSize: 6, QueueLengthLimit: 50 },
    ],
    [
      'flowcontrol.apiserver.k8s.io',
      'PriorityLevelConfiguration',
      { spec: { type: 'Exempt' } },
      { NominalConcurrencyShares: '<none>', Queues: '<none>' },
    ],
    ['resource.k8s.io', 'ResourceClaim', {}, { State: 'pending' }],
    [
      'resource.k8s.io',
      'ResourceClaim',
      { status: { allocation: {}, reservedFor: [{}] } },
      { State: 'allocated,reserved' },
    ],
    [
      'resource.k8s.io',
      'ResourceSlice',
      { spec: { nodeName: 'n', driver: 'd', pool: { name: 'p' } } },
      { Node: 'n', Driver: 'd', Pool: 'p' },
    ],
  ];

  it.each(rows.map(([group, kind, object, want], i) => [`${group}/${kind} #${i}`, group, kind, object, want] as const))(
    'API-438 %s',
    (_, group, kind, object, want) => {
      expect(cells(group, kind, { metadata, ...object })).toMatchObject(want);
    },
  );

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

  it.each([
    [
      'LeaseCandidate',
      'coordination.k8s.io',
      { spec: { leaseName: 'l', binaryVersion: '1', emulationVersion: '2' } },
      { LeaseName: 'l', BinaryVersion: '1', EmulationVersion: '2' },
    ],
    [
      'PodCertificateRequest',
      'certificates.k8s.io',
      { spec: { podName: 'p' }, status: { conditions: [{ type: 'Issued' }] } },
      { PodName: 'p', State: 'Issued', UnverifiedUserAnnotations: '<none>' },
    ],
    [
      'PodGroup',
      'scheduling.k8s.io',
      {
        spec: { schedulingPolicy: { gang: {} } },
        status: { conditions: [{ type: 'PodGroupScheduled', status: 'True' }] },
      },
      { Policy: 'Gang', Workload: '<none>', Status: 'Scheduled' },
    ],
    [
      'DeviceTaintRule',
      'resource.k8s.io',
      { spec: { taint: { key: 'k', effect: 'NoExecute', timeAdded: hoursAgo(3) } } },
      { Key: 'k', Value: '', Effect: 'NoExecute', TimeAdded: '3h' },
    ],
    [
      'ResourcePoolStatusRequest',
      'resource.k8s.io',
      {
        spec: { driver: 'd' },
        status: {
          poolCount: 3,
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: hoursAgo(1) }],
          pools: [
            { totalDevices: 4, allocatedDevices: 1 },
            { totalDevices: 2, validationError: 'e' },
          ],
        },
      },
      {
        Total: '6',
        Allocated: '1',
        Available: '0',
        Errors: '1',
        Pools: 3,
        Status: 'Complete (2/3 pools)',
        Completed: '60m',
      },
    ],
    [
      'ResourcePoolStatusRequest',
      'resource.k8s.io',
      {},
      { Total: '-', Errors: '-', Pools: 0, Status: 'Pending', Completed: '<none>' },
    ],
    [
      'StorageVersion',
      'internal.apiserver.k8s.io',
      { status: { storageVersions: [{ apiServerID: 'a', encodingVersion: 'v1' }] } },
      { CommonEncodingVersion: '<unset>', StorageVersions: 'a=v1' },
    ],
    [
      'StorageVersionMigration',
      'storagemigration.k8s.io',
      {
        spec: { resource: { group: 'apps', resource: 'deployments' } },
        status: { conditions: [{ type: 'Running', status: 'True' }] },
      },
      { Resource: 'deployments.apps', Status: 'Running' },
    ],
  ])('API-438 %s (not on by default)', (kind, group, object, want) => {
    expect(cells(group, kind, { metadata, ...object })).toMatchObject(want);
  });
});
