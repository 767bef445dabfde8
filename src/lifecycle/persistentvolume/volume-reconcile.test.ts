import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from './persistent-volume.ts';
import { type ClaimView, decideVolume, isStillReleased } from './volume-reconcile.ts';

const HOST = 'kubernetes.io/host-path';
const none = new Set<string>();
const volume = (over: {
  policy?: string;
  ref?: string | null;
  phase?: string;
  message?: string;
  annotations?: Record<string, string>;
  finalizers?: string[];
  source?: object;
}): PersistentVolume => ({
  metadata: { name: 'v', uid: 'v1', annotations: over.annotations ?? {}, finalizers: over.finalizers ?? [] },
  spec: {
    persistentVolumeReclaimPolicy: over.policy ?? 'Delete',
    ...(over.ref === undefined
      ? {}
      : { claimRef: { namespace: 'n', name: 'c', ...(over.ref ? { uid: over.ref } : {}) } }),
    ...(over.source ?? { hostPath: { path: '/tmp/x' } }),
  },
  status: { phase: over.phase ?? 'Pending', ...(over.message === undefined ? {} : { message: over.message }) },
});
const claim = (uid = 'c1', volumeName?: string): ClaimView => ({
  found: 'claim',
  claim: { metadata: { name: 'c', namespace: 'n', uid }, spec: volumeName === undefined ? {} : { volumeName } },
});
const missing: ClaimView = { found: 'missing' };
const released = (over: Parameters<typeof volume>[0] = {}) => volume({ ref: 'c1', phase: 'Released', ...over });

describe('a volume', () => {
  it('LIFE-130 is Available without a claim, and with one that has no uid yet', () => {
    expect(decideVolume(volume({}), { found: 'notAsked' }, none)).toMatchObject({ phase: 'Available' });
    expect(decideVolume(volume({ ref: null }), { found: 'notAsked' }, none)).toMatchObject({ phase: 'Available' });
    expect(decideVolume(volume({ phase: 'Available' }), { found: 'notAsked' }, none).verdict).toBe('nothing');
  });

  it('LIFE-131 is not released before a live read has shown that its claim is gone', () => {
    expect(decideVolume(volume({ ref: 'c1', phase: 'Bound' }), { found: 'unsure' }, none).verdict).toBe('readClaim');
    expect(decideVolume(released({ policy: 'Retain' }), { found: 'unsure' }, none).reason).toBe('retained');
  });

  it.each([missing, claim('another')])(
    'LIFE-131 LIFE-132 is Released when its claim is gone or another (%#)',
    (view) => {
      expect(decideVolume(volume({ ref: 'c1', phase: 'Bound' }), view, none)).toMatchObject({ phase: 'Released' });
    },
  );

  it('LIFE-132 stays Failed, so that a person sees it', () => {
    const failed = released({ phase: 'Failed', policy: 'Retain' });
    expect(decideVolume(failed, missing, none)).toEqual({ verdict: 'nothing', reason: 'retained' });
  });

  it('LIFE-134 is left to the provisioner outside', () => {
    const external = { verdict: 'nothing', reason: 'externalProvisioner' };
    const by = (name: string) => released({ annotations: { 'pv.kubernetes.io/provisioned-by': name } });
    expect(decideVolume(by('ebs.csi.aws.com'), missing, none)).toEqual(external);
    expect(decideVolume(released({ source: { csi: {} } }), missing, none)).toEqual(external);
    const migrated = released({ annotations: { 'pv.kubernetes.io/migrated-to': 'x' } });
    expect(decideVolume(migrated, missing, none)).toEqual(external);
  });

  it('LIFE-135 fails when no plug-in can delete its storage', () => {
    const message = 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched';
    expect(decideVolume(released(), missing, none)).toMatchObject({
      phase: 'Failed',
      message,
      event: { type: 'Warning', reason: 'VolumeFailedDelete', message },
    });
    expect(decideVolume(released({ phase: 'Failed', message }), missing, none).verdict).toBe('nothing');
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/unknown' };
    const unknown = released({ annotations, finalizers: ['kubernetes.io/pv-controller'] });
    expect(decideVolume(unknown, missing, none)).toMatchObject({
      message: 'no volume plugin matched name: kubernetes.io/unknown',
    });
  });

  it('LIFE-134 has its storage deleted by the plug-in for its source', () => {
    expect(decideVolume(released(), missing, new Set([HOST]))).toMatchObject({
      verdict: 'deleteStorage',
      plugin: { name: HOST },
    });
  });

  it('LIFE-141 fails for Recycle and for a policy that nobody knows', () => {
    expect(decideVolume(released({ policy: 'Recycle' }), missing, none)).toMatchObject({
      phase: 'Failed',
      event: { reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' },
    });
    expect(decideVolume(released({ policy: 'Odd' }), missing, none)).toMatchObject({
      event: { reason: 'VolumeUnknownReclaimPolicy' },
    });
  });

  it('LIFE-139 LIFE-140 whose claim has another volume is reclaimed if it was provisioned, else free again', () => {
    const elsewhere = claim('c1', 'w');
    const provisioned = volume({ ref: 'c1', phase: 'Bound', annotations: { 'pv.kubernetes.io/provisioned-by': 'x' } });
    expect(decideVolume(provisioned, elsewhere, none)).toMatchObject({ phase: 'Released' });
    const byHand = decideVolume(volume({ ref: 'c1', phase: 'Bound' }), elsewhere, none);
    expect(byHand).toMatchObject({ verdict: 'update', volume: { spec: { claimRef: { name: 'c' } } } });
    expect((byHand as { volume: PersistentVolume }).volume.spec?.claimRef).not.toHaveProperty('uid');
    const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
    const byController = decideVolume(volume({ ref: 'c1', phase: 'Bound', annotations }), elsewhere, none);
    expect((byController as { volume: PersistentVolume }).volume.spec).not.toHaveProperty('claimRef');
  });

  it('LIFE-142 carries the finalizer while an in-tree plug-in has to delete its storage', () => {
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' };
    expect(decideVolume(volume({ annotations }), { found: 'notAsked' }, none)).toMatchObject({
      volume: { metadata: { finalizers: ['kubernetes.io/pv-controller'] } },
    });
    const retained = volume({ annotations, policy: 'Retain', finalizers: ['kubernetes.io/pv-controller', 'x'] });
    expect(decideVolume(retained, { found: 'notAsked' }, none)).toMatchObject({
      volume: { metadata: { finalizers: ['x'] } },
    });
  });

  it('LIFE-136 LIFE-145 loses its storage only while it is still released', () => {
    const of = (uid: string, volumeName?: string): PersistentVolumeClaim => ({
      metadata: { uid },
      spec: volumeName === undefined ? {} : { volumeName },
    });
    expect(isStillReleased(released(), undefined)).toBe(true);
    expect(isStillReleased(released(), of('another'))).toBe(true);
    expect(isStillReleased(released(), of('c1', 'w'))).toBe(true);
    expect(isStillReleased(released(), of('c1', 'v'))).toBe(false);
    expect(isStillReleased(released(), of('c1'))).toBe(false);
    expect(isStillReleased(volume({ ref: null }), undefined)).toBe(false);
    expect(isStillReleased(volume({}), undefined)).toBe(false);
  });
});
