import { describe, expect, it } from 'vitest';
import { usesClaim } from './claim-users.ts';
import { CLAIM_FINALIZER, classUse, decideProtection, volumeUse } from './protection-reconcile.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';

describe('decideProtection', () => {
  const claim = (metadata: object) => ({ metadata: { name: 'c', resourceVersion: '7', ...metadata } });
  it.each([
    ['gone', undefined, 'unknown', { verdict: 'nothing', reason: 'gone' }],
    ['protected', claim({ finalizers: [CLAIM_FINALIZER] }), 'unknown', { verdict: 'nothing', reason: 'asItShouldBe' }],
    [
      'made before',
      claim({ finalizers: ['x'] }),
      'unknown',
      { verdict: 'update', reason: 'unprotected', object: claim({ finalizers: ['x', CLAIM_FINALIZER] }) },
    ],
    [
      'leaving unprotected',
      claim({ deletionTimestamp, finalizers: ['x'] }),
      'unknown',
      { verdict: 'nothing', reason: 'asItShouldBe' },
    ],
    [
      'leaving',
      claim({ deletionTimestamp, finalizers: [CLAIM_FINALIZER] }),
      'unknown',
      { verdict: 'look', reason: 'leaving' },
    ],
    [
      'leaving, used',
      claim({ deletionTimestamp, finalizers: [CLAIM_FINALIZER] }),
      'used',
      { verdict: 'wait', reason: 'used' },
    ],
    [
      'leaving, unused',
      claim({ deletionTimestamp, finalizers: ['x', CLAIM_FINALIZER] }),
      'unused',
      { verdict: 'update', reason: 'unused', object: claim({ deletionTimestamp, finalizers: ['x'] }) },
    ],
  ] as const)('LIFE-150 LIFE-151 %s', (_, object, use, expected) => {
    expect(decideProtection(object, CLAIM_FINALIZER, use)).toEqual(expected);
  });

  it('LIFE-150 a volume is used while it is bound', () => {
    expect([
      volumeUse({ status: { phase: 'Bound' } }),
      volumeUse({ status: { phase: 'Released' } }),
      volumeUse({}),
      volumeUse(undefined),
    ]).toEqual(['used', 'unused', 'unused', 'unused']);
  });
});

describe('usesClaim', () => {
  const claim = {
    metadata: {
      name: 'p-v',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', controller: true }],
    },
  };
  const pod = (volume: object, spec: object = {}, metadata: object = {}) => ({
    metadata: { name: 'p', uid: '1', ...metadata },
    spec: { nodeName: 'n', volumes: [{ name: 'v', ...volume }], ...spec },
  });
  const named = { persistentVolumeClaim: { claimName: 'p-v' } };
  const ephemeral = { ephemeral: {} };
  it.each([
    ['names it', pod(named), true],
    ['names another one', pod({ persistentVolumeClaim: { claimName: 'other' } }), false],
    ['has no node', pod(named, { nodeName: undefined }), false],
    ['has ended', { ...pod(named), status: { phase: 'Succeeded' } }, true],
    ['brings it along', pod(ephemeral), true],
    ['brings along one of another name', pod({ ...ephemeral, name: 'w' }), false],
    ['has the name of the one that brought it along', pod(ephemeral, {}, { uid: '2' }), false],
    [
      'brought it along, and is let go',
      pod(ephemeral, {}, { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
      false,
    ],
    ['names it, and is let go', pod(named, {}, { deletionTimestamp, deletionGracePeriodSeconds: 0 }), true],
    [
      'brought it along, and shuts down',
      pod(ephemeral, {}, { deletionTimestamp, deletionGracePeriodSeconds: 30 }),
      true,
    ],
    ['has other volumes', pod({ emptyDir: {} }), false],
    ['has none', { metadata: {}, spec: { nodeName: 'n' } }, false],
  ])('LIFE-152 a pod that %s', (_, user, expected) => {
    expect(usesClaim(user, claim)).toBe(expected);
  });
});

describe('LIFE-157 a VolumeAttributesClass', () => {
  const [claims, volumes] = [[], []];

  it.each([
    [{ spec: { volumeAttributesClassName: 'gold' } }],
    [{ status: { currentVolumeAttributesClassName: 'gold' } }],
    [{ status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } } }],
  ])('is used by the claim %j', (claim) => {
    expect(classUse('gold', { claims: [claim], volumes })).toBe('used');
    expect(classUse('silver', { claims: [claim], volumes })).toBe('unused');
  });

  it('is used by the volume that names it, and by nobody else', () => {
    const named = (volumeAttributesClassName: string) => ({ spec: { volumeAttributesClassName } });
    expect(classUse('gold', { claims, volumes: [named(''), named('gold')] })).toBe('used');
    expect(classUse('gold', { claims: [{}], volumes: [named(''), {}] })).toBe('unused');
  });
});
