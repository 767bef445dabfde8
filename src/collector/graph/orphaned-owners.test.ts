import { describe, expect, it } from 'vitest';
import { OrphanedOwners } from './orphaned-owners.ts';

describe('OrphanedOwners', () => {
  it('LIFE-561 remembers an owner for an hour', () => {
    const owners = new OrphanedOwners();
    owners.record('a', 1000);
    expect([owners.has('a', 1000), owners.has('a', 3_601_000), owners.has('a', 3_601_001)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(owners.has('b', 1000)).toBe(false);
  });

  it('LIFE-561 a new record counts from then on', () => {
    const owners = new OrphanedOwners({ lifetimeMs: 10 });
    owners.record('a', 0);
    owners.record('a', 8);
    expect([owners.has('a', 18), owners.size]).toEqual([true, 1]);
  });

  it('LIFE-561 forgets the oldest first when there are too many, and what is too old', () => {
    const owners = new OrphanedOwners({ capacity: 2, lifetimeMs: 100 });
    for (const [uid, at] of [
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ] as const)
      owners.record(uid, at);
    expect(['a', 'b', 'c'].map((uid) => owners.has(uid, 2))).toEqual([false, true, true]);
    owners.record('d', 103);
    expect(owners.size).toBe(1);
  });

  it('LIFE-561 holds 100,000', () => {
    const owners = new OrphanedOwners();
    for (let index = 0; index < 100_001; index++) owners.record(String(index), 0);
    expect([owners.size, owners.has('0', 0), owners.has('1', 0)]).toEqual([100_000, false, true]);
  });
});
