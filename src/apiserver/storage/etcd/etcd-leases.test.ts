import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { EtcdLeases } from './etcd-leases.ts';

const HOUR_MS = 3_600_000;

function setUp() {
  const clock = new FakeClock();
  const granted: number[] = [];
  const state = { broken: false };
  const client = {
    grantLease: async (ttlSeconds: number): Promise<bigint> => {
      if (state.broken) throw new Error('etcd is broken');
      return BigInt(granted.push(ttlSeconds));
    },
  };
  return { clock, granted, state, leases: new EtcdLeases({ client, clock }) };
}

describe('leases', () => {
  it('API-564 serve for a minute, and last that much longer than was asked for', async () => {
    const { clock, granted, leases } = setUp();
    expect(await leases.lease(HOUR_MS)).toBe(1n);
    clock.advance(59_999);
    expect(await leases.lease(HOUR_MS)).toBe(1n);
    clock.advance(1);
    expect(await leases.lease(HOUR_MS)).toBe(2n);
    expect(granted).toEqual([3_660, 3_660]);
  });

  it('serve for a small part of a short time', async () => {
    const { clock, granted, leases } = setUp();
    await leases.lease(2_000);
    clock.advance(99);
    expect(await leases.lease(2_000)).toBe(1n);
    clock.advance(1);
    expect(await leases.lease(2_000)).toBe(2n);
    // A write with another time gets another lease.
    expect(await leases.lease(4_000)).toBe(3n);
    expect(granted).toEqual([3, 3, 5]);
  });

  it('have a thousand keys at most', async () => {
    const { leases } = setUp();
    const ids = await Promise.all(Array.from({ length: 2_001 }, () => leases.lease(HOUR_MS)));
    expect([1n, 2n, 3n].map((id) => ids.filter((each) => each === id).length)).toEqual([1_000, 1_000, 1]);
  });

  it('that could not be had, or are gone, are asked for again', async () => {
    const { leases, state } = setUp();
    state.broken = true;
    await expect(leases.lease(HOUR_MS)).rejects.toThrow('etcd is broken');
    state.broken = false;
    expect(await leases.lease(HOUR_MS)).toBe(1n);
    leases.forget(HOUR_MS);
    expect(await leases.lease(HOUR_MS)).toBe(2n);
  });
});
