import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUuid } from '../../base/random/uuid.ts';
import { type OrphanedOwner, OrphanedOwners } from './orphaned-owners.ts';

const owner = (uid: string, more: Partial<OrphanedOwner> = {}): OrphanedOwner => ({
  kind: 'Widget',
  namespace: 'ns',
  name: 'a',
  uid,
  ...more,
});

describe('OrphanedOwners', () => {
  it('LIFE-560 COL-241 knows an owner by all of its coordinates but the version', () => {
    const owners = new OrphanedOwners();
    owners.record(owner('a'), 0);
    const others: Partial<OrphanedOwner>[] = [{ kind: 'Gadget' }, { namespace: '' }, { namespace: 'x' }, { name: 'b' }];
    expect(owners.has(owner('a'), 0)).toBe(true);
    expect(others.map((other) => owners.has(owner('a', other), 0))).toEqual([false, false, false, false]);
    expect(owners.has(owner('a', { name: 'aa', namespace: 'n' }), 0)).toBe(false);
  });

  it('LIFE-561 a record of another owner with the same uid does not take the place of the first', () => {
    const owners = new OrphanedOwners();
    owners.record(owner('a'), 0);
    owners.record(owner('a', { namespace: 'x' }), 0);
    expect(owners.has(owner('a'), 0)).toBe(true);
  });

  it('LIFE-561 takes a time to come for now, and the age of the others from the clock', () => {
    const owners = new OrphanedOwners({ lifetimeMs: 10 });
    owners.record(owner('a'), 0);
    owners.record(owner('b'), 1, 1_000_000);
    expect([owners.has(owner('a'), 1), owners.has(owner('b'), 11), owners.has(owner('b'), 12)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('LIFE-561 does not take up what is too old', () => {
    const owners = new OrphanedOwners({ lifetimeMs: 10 });
    owners.record(owner('a'), 20, 10);
    owners.record(owner('b'), 20, 9);
    expect([owners.has(owner('a'), 20), owners.size]).toEqual([true, 1]);
  });

  it('LIFE-561 remembers an owner for an hour', () => {
    const owners = new OrphanedOwners();
    owners.record(owner('a'), 1000);
    expect([
      owners.has(owner('a'), 1000),
      owners.has(owner('a'), 3_601_000),
      owners.has(owner('a'), 3_601_001),
    ]).toEqual([true, true, false]);
    expect(owners.has(owner('b'), 1000)).toBe(false);
  });

  it('LIFE-561 a new record counts from then on', () => {
    const owners = new OrphanedOwners({ lifetimeMs: 10 });
    owners.record(owner('a'), 0);
    owners.record(owner('a'), 8);
    expect([owners.has(owner('a'), 18), owners.size]).toEqual([true, 1]);
  });

  it('LIFE-561 the later of two times of one owner counts, whichever comes first', () => {
    const owners = new OrphanedOwners({ capacity: 2, lifetimeMs: 10 });
    owners.record(owner('a'), 8);
    owners.record(owner('b'), 9);
    owners.record(owner('a'), 9, 2);
    expect([owners.has(owner('a'), 18), owners.has(owner('a'), 19), owners.size]).toEqual([true, false, 2]);
    // The record keeps its place too: the first record is forgotten first.
    owners.record(owner('c'), 9);
    expect(['a', 'b', 'c'].map((uid) => owners.has(owner(uid), 9))).toEqual([false, true, true]);
    owners.record(owner('b'), 15, 12);
    expect([owners.has(owner('b'), 22), owners.has(owner('b'), 23)]).toEqual([true, false]);
  });

  it('LIFE-561 counts from now when the clock was set back', () => {
    const owners = new OrphanedOwners({ lifetimeMs: 10 });
    owners.record(owner('a'), 100);
    owners.record(owner('a'), 50);
    expect([owners.has(owner('a'), 60), owners.has(owner('a'), 61)]).toEqual([true, false]);
  });

  it('LIFE-561 forgets what had an Event and has none any more, and only when all Events were read', () => {
    const owners = new OrphanedOwners();
    const known = () => ['a', 'b', 'c', 'd'].filter((uid) => owners.has(owner(uid), 0));
    for (const uid of ['a', 'b', 'c']) owners.record(owner(uid), 0);
    owners.confirm(owner('a'));
    owners.confirm(owner('b'));
    owners.confirm(owner('x'));
    owners.forgetQuestioned();
    expect(known()).toEqual(['a', 'b', 'c']);
    owners.question();
    owners.record(owner('d'), 0);
    owners.confirm(owner('d'));
    owners.confirm(owner('b'));
    expect(known()).toEqual(['a', 'b', 'c', 'd']);
    owners.forgetQuestioned();
    expect([known(), owners.size]).toEqual([['b', 'c', 'd'], 3]);
  });

  it('LIFE-561 a record that is made anew is not in question', () => {
    const owners = new OrphanedOwners();
    owners.record(owner('a'), 0);
    owners.confirm(owner('a'));
    owners.question();
    owners.record(owner('a'), 1);
    owners.forgetQuestioned();
    expect(owners.size).toBe(1);
  });

  it('LIFE-561 keeps what it knows of the Events, however many there are', () => {
    const owners = new OrphanedOwners();
    for (let index = 0; index < 1000; index++) {
      owners.record(owner(String(index)), 0);
      if (index % 2 === 0) owners.confirm(owner(String(index)));
    }
    owners.question();
    owners.forgetQuestioned();
    expect([owners.size, owners.has(owner('998'), 0), owners.has(owner('999'), 0)]).toEqual([500, false, true]);
    owners.record(owner('again'), 1);
    expect(owners.size).toBe(501);
  });

  it('LIFE-561 forgets the oldest first when there are too many, and what is too old', () => {
    const owners = new OrphanedOwners({ capacity: 2, lifetimeMs: 100 });
    for (const [uid, at] of [
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ] as const)
      owners.record(owner(uid), at);
    expect(['a', 'b', 'c'].map((uid) => owners.has(owner(uid), 2))).toEqual([false, true, true]);
    owners.record(owner('d'), 103);
    expect(owners.size).toBe(1);
  });

  it('LIFE-561 holds 100,000', () => {
    const owners = new OrphanedOwners();
    for (let index = 0; index < 100_001; index++) owners.record(owner(String(index)), 0);
    expect([owners.size, owners.has(owner('0'), 0), owners.has(owner('1'), 0)]).toEqual([100_000, false, true]);
  });

  it('LIFE-561 is the same as a map in the order of its records, with uids of every form', () => {
    const uids = Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? `odd-${n}` : formatUuid(n, -n, n << 20, 7)));
    const capacity = 5;
    const lifetimeMs = 20;
    const ago = fc.oneof(fc.constant(0), fc.nat(25));
    const step = fc.record({ uid: fc.nat(uids.length - 1), after: fc.nat(8), record: fc.boolean(), ago });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const owners = new OrphanedOwners({ capacity, lifetimeMs });
        const model = new Map<string, number>();
        let now = 0;
        for (const { uid: index, after, record, ago: since } of steps) {
          const uid = uids[index]!;
          now += after;
          if (record) {
            owners.record(owner(uid), now, now - since);
            if (since <= lifetimeMs && now - since >= (model.get(uid) ?? -Infinity)) {
              model.delete(uid);
              model.set(uid, now - since);
              for (const [oldest, at] of model) {
                if (model.size <= capacity && now - at <= lifetimeMs) break;
                model.delete(oldest);
              }
            }
            expect(owners.size).toBe(model.size);
          }
          const known = uids.filter((each) => now - (model.get(each) ?? -Infinity) <= lifetimeMs);
          expect(uids.filter((each) => owners.has(owner(each), now))).toEqual(known);
        }
      }),
    );
  });
});
