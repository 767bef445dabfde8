import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, hoursAgo, metadata } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
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
];

describe('volume cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
