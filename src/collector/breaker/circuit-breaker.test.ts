import { beforeEach, describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { CircuitBreaker, type DeletionLimits, type Trip } from './circuit-breaker.ts';

const owner = (uid: string): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `n-${uid}`, uid });

let breaker: CircuitBreaker<string>;
let now: number;
let ids: number;

function begin(limits: DeletionLimits): void {
  now = 0;
  ids = 0;
  breaker = new CircuitBreaker(limits, () => `t${++ids}`);
}

/** The key is the uid. */
function admit(uid: string, owners: readonly string[]): 'go' | 'held' | Trip {
  const admission = breaker.admit(uid, { uid, owners: owners.map(owner) }, now);
  return admission.admission === 'held' ? (admission.tripped ?? 'held') : 'go';
}
function causeOf(uid: string, owners: readonly string[]): string | undefined {
  const admission = breaker.admit(uid, { uid, owners: owners.map(owner) }, now);
  return admission.admission === 'go' ? admission.cause?.uid : undefined;
}
const several = (count: number, of: string): unknown[] =>
  Array.from({ length: count }, (_, i) => admit(`${of}-${i}`, [of]));

describe('the limit of a cause', () => {
  beforeEach(() => begin({ perCause: 3 }));

  it('CAS-074 lets so many go within a minute, trips with the next, and holds what follows', () => {
    expect(several(3, 'a')).toEqual(['go', 'go', 'go']);
    const trip = { id: 't1', cause: { uid: 'a', kind: 'ConfigMap', name: 'n-a' }, deleted: 3 };
    expect([admit('x', ['a']), admit('y', ['a']), breaker.held]).toEqual([trip, 'held', 2]);
    expect(breaker.trips).toEqual([trip]);
  });

  it('CAS-074 counts each cause for itself', () => {
    expect(several(4, 'a').at(-1)).toMatchObject({ id: 't1' });
    expect(several(4, 'b').at(-1)).toMatchObject({ id: 't2' });
    expect(admit('z', ['c'])).toBe('go');
  });

  it('CAS-074 takes the owner at the top for the cause, however long the chain is', () => {
    admit('b', ['a']);
    admit('c', ['b']);
    admit('d', ['c']);
    expect(admit('e', ['d'])).toMatchObject({ cause: { uid: 'a', name: 'n-a' } });
  });

  it('CAS-074 counts nothing that is more than a minute ago', () => {
    several(3, 'a');
    now = 61_000;
    expect(several(3, 'a')).toEqual(['go', 'go', 'go']);
    expect(admit('x', ['a'])).toMatchObject({ id: 't1' });
  });

  it('CAS-074 stays tripped however much time passes', () => {
    several(4, 'a');
    now = 3_600_000;
    expect(admit('x', ['a'])).toBe('held');
  });

  it('CAS-074 does not count what was not deleted in the end', () => {
    const admission = breaker.admit('x', { uid: 'x', owners: [owner('a')] }, now);
    if (admission.admission !== 'go') throw new Error('held');
    breaker.takeBack(admission, now, 'stays');
    expect(several(3, 'a')).toEqual(['go', 'go', 'go']);
  });

  it('CAS-074 takes an object that it did not delete for the cause itself, when somebody else deletes the object later', () => {
    const refused = breaker.admit('x', { uid: 'x', owners: [owner('a')] }, now);
    if (refused.admission !== 'go') throw new Error('held');
    breaker.takeBack(refused, now, 'stays');
    expect(causeOf('y', ['x'])).toBe('x');
    const unknown = breaker.admit('z', { uid: 'z', owners: [owner('a')] }, now);
    if (unknown.admission !== 'go') throw new Error('held');
    // The DELETE may have been carried out, although its answer never came.
    breaker.takeBack(unknown, now, 'may be gone');
    expect(causeOf('w', ['z'])).toBe('a');
  });

  it('CAS-074 hands out what was held when somebody agrees to this trip, and to no other one', () => {
    several(5, 'a');
    several(4, 'b');
    expect(breaker.agree(['t3', ''], now)).toEqual({ trips: [], keys: [] });
    expect(breaker.agree(['t1'], now)).toMatchObject({ trips: [{ id: 't1' }], keys: ['a-3', 'a-4'] });
    expect(admit('b-4', ['b'])).toBe('held');
    expect(breaker.trips).toMatchObject([{ id: 't2' }]);
  });

  it('CAS-074 is lifted then until nothing was deleted for a minute, and a new trip has a new id', () => {
    several(4, 'a');
    breaker.agree(['t1'], now);
    for (let i = 0; i < 100; i++) {
      now += 50_000;
      expect(admit(`x-${i}`, ['a'])).toBe('go');
    }
    now += 60_000;
    expect(several(3, 'a')).toEqual(['go', 'go', 'go']);
    expect(admit('x', ['a'])).toMatchObject({ id: 't2' });
    expect(breaker.agree(['t1'], now).keys).toEqual([]);
  });

  it('CAS-074 hands out everything when it begins anew, and counts from zero', () => {
    several(5, 'a');
    expect(breaker.reset()).toEqual(['a-3', 'a-4']);
    expect([breaker.held, breaker.trips, several(3, 'a')]).toEqual([0, [], ['go', 'go', 'go']]);
  });

  it('CAS-074 does not remember why objects were deleted when it begins anew', () => {
    admit('b', ['a']);
    breaker.reset();
    expect(several(4, 'b').at(-1)).toMatchObject({ cause: { uid: 'b' } });
  });

  it('CAS-074 holds a key once, and one that comes again goes to its place', () => {
    several(4, 'a');
    admit('x', ['a']);
    admit('x', ['a']);
    expect(breaker.agree(['t1'], now).keys).toEqual(['a-3', 'x']);
  });

  it('CAS-074 forgets causes beyond ten thousand, and none that is tripped', () => {
    several(4, 'a');
    for (let i = 0; i < 10_100; i++) admit(`d-${i}`, [`c-${i}`]);
    expect(admit('x', ['a'])).toBe('held');
    expect(several(3, 'c-0')).toEqual(['go', 'go', 'go']);
  });

  it('CAS-074 holds everything when a thousand causes are tripped', () => {
    begin({ perCause: 1 });
    for (let i = 0; i < 1000; i++) several(2, `c-${i}`);
    expect(admit('x', ['fresh'])).toMatchObject({ id: 't1001', cause: undefined });
    breaker.agree(['t1001'], now);
    expect(admit('x', ['fresh'])).toBe('go');
  });
});

describe('the limit over all', () => {
  beforeEach(() => begin({ overall: 3 }));

  it('CAS-074 trips whatever the causes, holds all of them, and goes on when somebody agrees', () => {
    for (const uid of ['a', 'b', 'c']) expect(admit(`of-${uid}`, [uid])).toBe('go');
    expect(admit('x', ['d'])).toEqual({ id: 't1', cause: undefined, deleted: 3 });
    expect(admit('y', ['e'])).toBe('held');
    expect(breaker.agree(['t1'], now).keys).toEqual(['x', 'y']);
    expect([admit('x', ['d']), admit('y', ['e'])]).toEqual(['go', 'go']);
  });

  it('CAS-074 does not count what the limit of its cause holds', () => {
    begin({ perCause: 1, overall: 2 });
    several(10, 'a');
    expect(admit('x', ['b'])).toBe('go');
    expect(admit('y', ['c'])).toMatchObject({ cause: undefined, deleted: 2 });
  });

  it('CAS-074 counts nothing of a cause for what it holds', () => {
    begin({ perCause: 2, overall: 1 });
    admit('w', ['a']);
    several(5, 'b');
    breaker.agree(['t1'], now);
    expect(several(2, 'b')).toEqual(['go', 'go']);
  });
});
