import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, hoursAgo } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
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

describe('server cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
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
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
