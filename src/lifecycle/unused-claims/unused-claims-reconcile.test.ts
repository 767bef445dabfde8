import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import { type Claim, decideUnused, decideUnusedDeletion, isClaimUsed } from './unused-claims-reconcile.ts';

const NOW = Date.UTC(2026, 0, 10);
const HOUR = 3_600_000;
const unused = (sinceMs: number) => ({
  type: 'Unused',
  status: 'True' as const,
  lastTransitionTime: formatTime(sinceMs),
});
const claim = (metadata: object = {}, conditions: readonly object[] = []): Claim =>
  ({ metadata: { name: 'c', ...metadata }, status: { phase: 'Bound', conditions } }) as Claim;

describe('LIFE-156 the condition Unused', () => {
  it.each([
    [false, 'True', 'NoPodsUsingPVC', 'No pods are currently referencing this PVC'],
    [true, 'False', 'PodUsingPVC', 'A pod is currently referencing this PVC'],
  ] as const)('is written beside the other conditions; used: %s', (isUsed, status, reason, message) => {
    const resizing = { type: 'Resizing', status: 'True' };
    const before = { type: 'Unused', status: isUsed ? 'True' : 'False', lastTransitionTime: formatTime(0) };
    const after = { type: 'Unused', status, lastTransitionTime: formatTime(NOW), reason, message };
    expect(decideUnused(claim({}, [resizing, before]), isUsed, NOW)).toEqual({
      verdict: 'update',
      reason: isUsed ? 'used' : 'unused',
      status: { phase: 'Bound', conditions: [resizing, after] },
    });
    expect(decideUnused(claim({}, [after]), isUsed, NOW + HOUR)).toEqual({
      verdict: 'nothing',
      reason: 'asItShouldBe',
    });
  });

  it('is not written on a claim that is being deleted', () => {
    const leaving = claim({ deletionTimestamp: formatTime(NOW) });
    expect(decideUnused(leaving, false, NOW)).toEqual({ verdict: 'nothing', reason: 'terminating' });
    expect(decideUnused(undefined, false, NOW)).toEqual({ verdict: 'nothing', reason: 'gone' });
  });

  it.each([
    ['that waits for a node', { status: { phase: 'Pending' } }, true],
    ['that runs', { status: { phase: 'Running' } }, true],
    ['that succeeded', { status: { phase: 'Succeeded' } }, false],
    ['that failed', { status: { phase: 'Failed' } }, false],
    ['of another claim', { spec: { volumes: [{ persistentVolumeClaim: { claimName: 'd' } }] } }, false],
  ])('depends on a pod %s', (_, pod, expected) => {
    const spec = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] };
    expect(isClaimUsed(claim(), [{ metadata: { name: 'p' }, spec, ...pod }])).toBe(expected);
  });

  it('depends on the pod whose ephemeral volume the claim is, and not on its namesake', () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', controller: true };
    const made = claim({ name: 'p-v', ownerReferences: [owner] });
    const pod = (uid: string) => ({ metadata: { name: 'p', uid }, spec: { volumes: [{ name: 'v', ephemeral: {} }] } });
    expect([isClaimUsed(made, [pod('1')]), isClaimUsed(made, [pod('2')])]).toEqual([true, false]);
  });
});

describe('LIFE-823 an unused claim', () => {
  const after = (time: string) => ({ annotations: { 'kubegc.io/delete-unused-after': time } });
  const day = { metadata: { name: 'class', ...after('24h') } };
  const facts = { storageClass: undefined, isUsed: false, now: NOW };
  const long = [unused(NOW - 2 * HOUR)];

  it.each([
    ['is deleted when its time is over', claim(after('2h'), long), { verdict: 'delete', reason: 'unused' }],
    [
      'waits for the rest of its time',
      claim(after('3h'), long),
      { verdict: 'wait', reason: 'notExpired', untilMs: NOW + HOUR },
    ],
    ['stays without a time', claim({}, long), { verdict: 'nothing', reason: 'noTime' }],
    ['stays with an unreadable time', claim(after('soon'), long), { verdict: 'nothing', reason: 'noTime' }],
    ['stays with a negative time', claim(after('-1h'), long), { verdict: 'nothing', reason: 'noTime' }],
    ['stays without the condition', claim(after('0'), []), { verdict: 'nothing', reason: 'used' }],
    [
      'stays when it is protected, whatever the reason',
      claim({ annotations: { ...after('0').annotations, 'kubegc.io/protect': '' } }, long),
      { verdict: 'nothing', reason: 'protected' },
    ],
    [
      'stays when it is being deleted',
      claim({ ...after('0'), deletionTimestamp: formatTime(NOW) }, long),
      { verdict: 'nothing', reason: 'terminating' },
    ],
  ])('%s', (_, object, expected) => {
    expect(decideUnusedDeletion(object, facts)).toEqual(expected);
  });

  it('follows its class, unless it states a time itself', () => {
    const withClass = { ...facts, storageClass: day };
    expect(decideUnusedDeletion(claim({}, long), withClass)).toMatchObject({
      verdict: 'wait',
      untilMs: NOW + 22 * HOUR,
    });
    expect(decideUnusedDeletion(claim(after('1h'), long), withClass).verdict).toBe('delete');
    expect(decideUnusedDeletion(claim(after('never'), long), { ...withClass, now: NOW + 99 * HOUR }).verdict).toBe(
      'nothing',
    );
  });

  it('stays when a pod names it after all', () => {
    expect(decideUnusedDeletion(claim(after('0'), long), { ...facts, isUsed: true })).toEqual({
      verdict: 'nothing',
      reason: 'used',
    });
  });
});
