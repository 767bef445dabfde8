import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { PrinterColumn } from './cells/printer-column.ts';
import { printerColumnsFor } from './printer-columns.ts';

/** The columns of the default resources: `(w)` = priority 1, with the type after the name unless it is string. */
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

/** Kinds that no default installation serves, or that are no resources. */
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
      for (const { name, description } of columns)
        expect(description, `${info.kind} ${name}`).toMatch(/^[A-Z].+\.(?: More info: https:\S+)?$/);
    }
  });

  it("API-430 the name is described in Kubernetes' words, which conformance tests compare", () => {
    const name = printerColumnsFor({ group: '', version: 'v1', kind: 'Pod' }).find(({ format }) => format === 'name');
    expect(name?.description).toBe(
      'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
    );
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
