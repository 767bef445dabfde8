import { describe, expect, it } from 'vitest';
import { decideClaim } from './claim-reconcile.ts';
import { findVolume } from './match-volume.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from './persistent-volume.ts';

const claim = (spec: PersistentVolumeClaim['spec'] = {}, annotations: Record<string, string> = {}, phase = 'Pending') =>
  ({
    metadata: { name: 'c', namespace: 'n', uid: 'c1', resourceVersion: '7', annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
    status: { phase },
  }) as PersistentVolumeClaim;
const volume = (name: string, size: string, over: PersistentVolume['spec'] = {}, phase = 'Available') =>
  ({
    metadata: { name, uid: name, labels: { name } },
    spec: { capacity: { storage: size }, accessModes: ['ReadWriteOnce'], ...over },
    status: { phase },
  }) as PersistentVolume;
const sc = (name: string, provisioner: string, over: object = {}): StorageClass => ({
  metadata: { name },
  provisioner,
  ...over,
});
const DONE = { 'pv.kubernetes.io/bind-completed': 'yes' };
const find = (volumes: PersistentVolume[], spec: PersistentVolumeClaim['spec'] = { storageClassName: '' }) =>
  findVolume(claim(spec), volumes, { waitsForNode: false })?.metadata?.name;

describe('the volume of a claim', () => {
  it('LIFE-158 is the smallest that fits', () => {
    expect(find([volume('big', '9Gi'), volume('fits', '3Gi'), volume('small', '1Gi')])).toBe('fits');
  });

  it.each([
    ['with another class', volume('v', '3Gi', { storageClassName: 'x' })],
    ['with another mode', volume('v', '3Gi', { volumeMode: 'Block' })],
    ['without the access mode', volume('v', '3Gi', { accessModes: ['ReadOnlyMany'] })],
    ['that is not Available', volume('v', '3Gi', {}, 'Released')],
    ['that is reserved for another', volume('v', '3Gi', { claimRef: { namespace: 'n', name: 'd' } })],
    ['for another of its name', volume('v', '3Gi', { claimRef: { namespace: 'n', name: 'c', uid: 'old' } })],
  ])('LIFE-158 is none %s', (_, candidate) => {
    expect(find([candidate])).toBeUndefined();
  });

  it('LIFE-158 is the one reserved for it, and one that its selector matches', () => {
    const reserved = volume('r', '9Gi', { claimRef: { namespace: 'n', name: 'c' } });
    expect(find([volume('fits', '3Gi'), reserved])).toBe('r');
    const selector = { matchLabels: { name: 'b' } };
    expect(find([volume('a', '3Gi'), volume('b', '9Gi')], { storageClassName: '', selector })).toBe('b');
  });
});

describe('a claim', () => {
  it('LIFE-158 is bound in four writes: reference, phase, claim, status', () => {
    let current = claim({ storageClassName: '' });
    let bound = volume('v', '3Gi');
    const verdicts: string[] = [];
    for (let step = 0; step < 9; step++) {
      const decision = decideClaim(current, { volumes: [bound], classes: [] });
      verdicts.push(decision.verdict);
      if (decision.verdict === 'updateVolume') bound = decision.volume;
      else if (decision.verdict === 'setVolumeBound') bound = { ...decision.volume, status: { phase: 'Bound' } };
      else if (decision.verdict === 'updateClaim') current = decision.claim;
      else if (decision.verdict === 'setClaimStatus') current = { ...current, status: decision.status };
      else break;
    }
    expect(verdicts).toEqual(['updateVolume', 'setVolumeBound', 'updateClaim', 'setClaimStatus', 'nothing']);
    expect(current).toMatchObject({
      spec: { volumeName: 'v' },
      status: { phase: 'Bound', capacity: { storage: '3Gi' } },
    });
    expect(bound.spec?.claimRef).toMatchObject({ kind: 'PersistentVolumeClaim', name: 'c', uid: 'c1' });
  });

  it('LIFE-143 is Lost when its volume is gone', () => {
    const lost = decideClaim(claim({ volumeName: 'v' }, DONE, 'Bound'), { volumes: [], classes: [] });
    expect(lost).toMatchObject({ status: { phase: 'Lost' }, event: { type: 'Warning', reason: 'ClaimLost' } });
    const stolen = volume('v', '3Gi', { claimRef: { namespace: 'n', name: 'c', uid: 'other' } });
    const misbound = decideClaim(claim({ volumeName: 'v' }, DONE, 'Bound'), { volumes: [stolen], classes: [] });
    expect(misbound).toMatchObject({ event: { reason: 'ClaimMisbound' } });
  });

  it('LIFE-158 asks the provisioner outside by annotation, then waits', () => {
    const classes = [sc('fast', 'csi.example.com')];
    const asked = decideClaim(claim({ storageClassName: 'fast' }), { volumes: [], classes });
    expect(asked).toMatchObject({
      verdict: 'updateClaim',
      claim: { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'csi.example.com' } } },
    });
    const again = decideClaim((asked as { claim: PersistentVolumeClaim }).claim, { volumes: [], classes });
    expect(again).toMatchObject({ verdict: 'nothing', event: { reason: 'ExternalProvisioning' } });
  });

  it('LIFE-158 waits for the node of its first pod where its class says so', () => {
    const classes = [sc('late', 'csi.example.com', { volumeBindingMode: 'WaitForFirstConsumer' })];
    const volumes = [volume('v', '3Gi', { storageClassName: 'late' })];
    const waiting = decideClaim(claim({ storageClassName: 'late' }), { volumes, classes });
    expect(waiting).toMatchObject({ verdict: 'nothing', event: { reason: 'WaitForFirstConsumer' } });
    const chosen = claim({ storageClassName: 'late' }, { 'volume.kubernetes.io/selected-node': 'node' });
    expect(decideClaim(chosen, { volumes, classes }).verdict).toBe('updateVolume');
  });

  it('LIFE-158 says why it stays Pending', () => {
    const reasonOf = (
      spec: PersistentVolumeClaim['spec'],
      classes: StorageClass[] = [],
      volumes: PersistentVolume[] = [],
    ) => (decideClaim(claim(spec), { volumes, classes }) as { event?: { reason: string; message: string } }).event;
    expect(reasonOf({ storageClassName: '' })?.reason).toBe('FailedBinding');
    expect(reasonOf({ storageClassName: 'x' })?.message).toBe('storageclass.storage.k8s.io "x" not found');
    expect(reasonOf({ storageClassName: 'x' }, [sc('x', 'kubernetes.io/aws-ebs')])?.reason).toBe('ProvisioningFailed');
    expect(reasonOf({ volumeName: 'v', storageClassName: '' }, [], [volume('v', '1Gi')])?.reason).toBe(
      'VolumeMismatch',
    );
  });

  it('LIFE-158 gets the newest default class when it names none', () => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const made = (name: string, creationTimestamp: string): StorageClass => ({
      metadata: { name, annotations, creationTimestamp },
      provisioner: 'p',
    });
    const classes = [made('old', '2026-01-01T00:00:00Z'), made('new', '2026-02-01T00:00:00Z')];
    expect(decideClaim(claim(), { volumes: [], classes })).toMatchObject({
      claim: { spec: { storageClassName: 'new' } },
    });
  });
});
