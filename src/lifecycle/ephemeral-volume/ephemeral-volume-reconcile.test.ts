import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Pod } from '../pods/pod-object.ts';
import { decideEphemeralVolumes } from './ephemeral-volume-reconcile.ts';

const template = { metadata: { labels: { a: 'b' } }, spec: { accessModes: ['ReadWriteOnce'] } };
const pod = (over: object = {}, phase = 'Pending'): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...over },
  spec: {
    volumes: [
      { name: 'v', ephemeral: { volumeClaimTemplate: template } },
      { name: 'w', emptyDir: {} },
    ],
  },
  status: { phase },
});
const owned = (uid: string): KubeObject => ({
  metadata: { name: 'p-v', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true }] },
});

describe('the generic ephemeral volumes of a pod', () => {
  it('LIFE-700 each get a claim that the pod owns', () => {
    expect(decideEphemeralVolumes(pod(), () => undefined)).toEqual([
      {
        verdict: 'create',
        claim: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: {
            name: 'p-v',
            namespace: 'n',
            labels: { a: 'b' },
            ownerReferences: [
              { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true, blockOwnerDeletion: true },
            ],
          },
          spec: template.spec,
        },
      },
    ]);
  });

  it('LIFE-700 are left alone once they are there, and reported when the claim is of another', () => {
    expect(decideEphemeralVolumes(pod(), () => owned('u'))).toEqual([]);
    expect(decideEphemeralVolumes(pod(), () => owned('earlier'))).toMatchObject([{ verdict: 'conflict' }]);
  });

  it('LIFE-700 are not made for a pod that is gone, terminates or has ended', () => {
    expect(decideEphemeralVolumes(undefined, () => undefined)).toEqual([]);
    expect(decideEphemeralVolumes(pod({ deletionTimestamp: '2026-01-01T00:00:00Z' }), () => undefined)).toEqual([]);
    expect(decideEphemeralVolumes(pod({}, 'Succeeded'), () => undefined)).toEqual([]);
  });
});
