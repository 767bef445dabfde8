import { describe, expect, it } from 'vitest';
import { formatMicroTime, formatTime } from '../../api/meta/time.ts';
import { decideLease, type Lease } from './node-lease-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const lease = (over: { owned?: boolean; holder?: string; renewed?: number; duration?: number } = {}): Lease => ({
  metadata: {
    name: 'n',
    creationTimestamp: formatTime(START),
    ...(over.owned ? { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] } : {}),
  },
  spec: {
    holderIdentity: over.holder ?? 'n',
    leaseDurationSeconds: over.duration ?? 40,
    renewTime: formatMicroTime(START + (over.renewed ?? 0)),
  },
});

describe('LIFE-202 a lease that a node left behind', () => {
  it('goes an hour after its creation, when nobody renews it and its node is gone', () => {
    expect(decideLease(lease(), START, 'unknown')).toEqual({
      verdict: 'wait',
      reason: 'young',
      untilMs: START + HOUR + 1,
    });
    expect(decideLease(lease(), START + HOUR + 1, 'unknown').verdict).toBe('askNode');
    expect(decideLease(lease(), START + HOUR + 1, 'absent')).toEqual({ verdict: 'delete', reason: 'leaked' });
  });

  it('goes at another age when that is set', () => {
    const wait = { verdict: 'wait', reason: 'young', untilMs: START + 2 * HOUR + 1 };
    expect(decideLease(lease(), START, 'unknown', 2 * HOUR)).toEqual(wait);
    expect(decideLease(lease(), START + 2 * HOUR, 'absent', 2 * HOUR).verdict).toBe('wait');
    expect(decideLease(lease(), START + 2 * HOUR + 1, 'absent', 2 * HOUR).verdict).toBe('delete');
  });

  it('stays while it may still be renewed, or its node exists', () => {
    const renewed = lease({ renewed: HOUR });
    expect(decideLease(renewed, START + HOUR + 1, 'absent')).toMatchObject({
      verdict: 'wait',
      untilMs: START + HOUR + 400_001,
    });
    expect(decideLease(lease(), START + 2 * HOUR, 'exists')).toEqual({ verdict: 'nothing', reason: 'nodeExists' });
  });

  it('stays when it has an owner, or is held by somebody else', () => {
    expect(decideLease(lease({ owned: true }), START + 9 * HOUR, 'absent').verdict).toBe('nothing');
    expect(decideLease(lease({ holder: 'x' }), START + 9 * HOUR, 'absent').verdict).toBe('nothing');
  });
});
