import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUuid } from '../../base/uuid.ts';
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

  it('LIFE-561 is the same as a map in the order of its records, with uids of every form', () => {
    const uids = Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? `odd-${n}` : formatUuid(n, -n, n << 20, 7)));
    const capacity = 5;
    const lifetimeMs = 20;
    const step = fc.record({ uid: fc.nat(uids.length - 1), after: fc.nat(8), record: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const owners = new OrphanedOwners({ capacity, lifetimeMs });
        const model = new Map<string, number>();
        let now = 0;
        for (const { uid: index, after, record } of steps) {
          const uid = uids[index]!;
          now += after;
          if (record) {
            owners.record(uid, now);
            model.delete(uid);
            model.set(uid, now);
            for (const [oldest, at] of model) {
              if (model.size <= capacity && now - at <= lifetimeMs) break;
              model.delete(oldest);
            }
            expect(owners.size).toBe(model.size);
          }
          const known = uids.filter((each) => now - (model.get(each) ?? -Infinity) <= lifetimeMs);
          expect(uids.filter((each) => owners.has(each, now))).toEqual(known);
        }
      }),
    );
  });
});
