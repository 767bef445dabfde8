import { describe, expect, it } from 'vitest';
import {
  decideLease,
  defaultLeaseTimes,
  invalidLeaseTimes,
  type Lease,
  type LeaseSpec,
  observeLease,
  releasedLease,
} from './leader-election.ts';

const wall = Date.UTC(2026, 0, 1, 12, 0, 0, 123);
const now = { wall, monotonic: 100_000 };
const time = '2026-01-01T12:00:00.123000Z';
const me = { identity: 'host_1', leaseDurationSeconds: 15 };
const earlier = '2025-12-31T23:00:00.000000Z';
const lease = (spec: LeaseSpec): Lease => ({ metadata: { name: 'l', resourceVersion: '7', labels: { a: 'b' } }, spec });
const other: LeaseSpec = {
  holderIdentity: 'host_2',
  leaseDurationSeconds: 15,
  acquireTime: earlier,
  renewTime: earlier,
  leaseTransitions: 3,
};

describe('decideLease', () => {
  it.each([
    {
      what: 'no lease',
      observed: undefined,
      expected: { decision: 'create', reason: 'absent', acquireTime: time, leaseTransitions: 0 },
    },
    {
      what: 'our own: renewed, since when and how often it changed hands stays',
      observed: { lease: lease({ ...other, holderIdentity: 'host_1' }), observedAt: 0 },
      expected: { decision: 'update', reason: 'held', acquireTime: earlier, leaseTransitions: 3 },
    },
    {
      what: 'released',
      observed: { lease: lease({ ...other, holderIdentity: '' }), observedAt: 99_999 },
      expected: { decision: 'update', reason: 'released', acquireTime: time, leaseTransitions: 4 },
    },
    {
      what: 'without a spec at all',
      observed: { lease: { metadata: { name: 'l' } }, observedAt: 99_999 },
      expected: { decision: 'update', reason: 'released', acquireTime: time, leaseTransitions: 1 },
    },
    {
      what: 'not seen to change for exactly its duration',
      observed: { lease: lease(other), observedAt: 85_000 },
      expected: { decision: 'update', reason: 'expired', acquireTime: time, leaseTransitions: 4 },
    },
    {
      what: 'its own duration counts, not ours',
      observed: { lease: lease({ ...other, leaseDurationSeconds: 5 }), observedAt: 95_000 },
      expected: { decision: 'update', reason: 'expired', acquireTime: time, leaseTransitions: 4 },
    },
  ])('COL-214 takes it: $what', ({ observed, expected: { decision, reason, acquireTime, leaseTransitions } }) => {
    expect(decideLease(observed, me, now)).toEqual({
      decision,
      reason,
      spec: { holderIdentity: 'host_1', leaseDurationSeconds: 15, renewTime: time, acquireTime, leaseTransitions },
    });
  });

  it('COL-214 waits as long as the lease was seen to change within its duration', () => {
    expect(decideLease({ lease: lease(other), observedAt: 85_001 }, me, now)).toEqual({
      decision: 'wait',
      reason: 'heldByAnother',
      holder: 'host_2',
      expiresInMs: 1,
    });
  });

  it.each([earlier, '2036-01-01T00:00:00.000000Z', 'nonsense'])(
    'never reads the times of others: their clocks may be anywhere (%s)',
    (renewTime) => {
      const spec = { ...other, renewTime, acquireTime: renewTime };
      expect(decideLease({ lease: lease(spec), observedAt: 85_001 }, me, now).decision).toBe('wait');
      expect(decideLease({ lease: lease(spec), observedAt: 85_000 }, me, now).decision).toBe('update');
    },
  );

  it('keeps fields of the spec that it does not know', () => {
    const spec = { ...other, strategy: 'OldestEmulationVersion' };
    expect(decideLease({ lease: lease(spec), observedAt: 0 }, me, now)).toMatchObject({
      spec: { strategy: 'OldestEmulationVersion' },
    });
  });
});

describe('observeLease', () => {
  it('ages a lease from when it was first seen as it is', () => {
    const first = observeLease(undefined, lease(other), 10);
    expect(first?.observedAt).toBe(10);
    expect(observeLease(first, lease({ ...other }), 20)?.observedAt).toBe(10);
    expect(observeLease(first, lease({ ...other, renewTime: time }), 20)?.observedAt).toBe(20);
    expect(observeLease(first, undefined, 20)).toBeUndefined();
  });

  it('takes no change of anything but the spec for a renewal, and remembers the newest version all the same', () => {
    const first = observeLease(undefined, lease(other), 10);
    const relabelled = { ...lease(other), metadata: { name: 'l', resourceVersion: '8', labels: {} } };
    expect(observeLease(first, relabelled, 20)).toEqual({ lease: relabelled, observedAt: 10 });
  });
});

it('a released lease is held by nobody, for a second', () => {
  expect(releasedLease({ ...other, holderIdentity: 'host_1' }, now)).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 3,
  });
});

it.each([
  [{}, undefined],
  [{ leaseDurationMs: 0 }, 'leaseDuration must be greater than zero'],
  [{ leaseDurationMs: 15_500 }, 'leaseDuration must be whole seconds'],
  [{ retryPeriodMs: 0 }, 'retryPeriod must be greater than zero'],
  [{ leaseDurationMs: 10_000 }, 'leaseDuration must be greater than renewDeadline'],
  [{ renewDeadlineMs: 2400 }, 'renewDeadline must be greater than retryPeriod*JitterFactor'],
  [{ renewDeadlineMs: 2401 }, undefined],
])('COL-200 checks its times: %o', (times, problem) => {
  expect(invalidLeaseTimes({ ...defaultLeaseTimes, ...times })).toBe(problem);
});
