import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { isOwnerOrderRace } from './owner-order-race.ts';

const held = (owners: readonly string[], change: object = {}): KubeObject => ({
  metadata: {
    deletionTimestamp: '2026-11-26T00:00:00Z',
    finalizers: ['example.com/hold'],
    ownerReferences: owners.map((uid) => ({ apiVersion: 'v1', kind: 'Pod', name: uid, uid })),
    ...change,
  },
});

describe('CAS-018 what the comparison takes for the race of two owners', () => {
  const went = { removed: new Set(['first', 'second']), removals: ['first', 'second'], waited: new Set<string>() };

  it('takes a reference that the collector had no time to remove, in either direction', () => {
    expect(isOwnerOrderRace(held(['first', 'second']), held(['second']), went)).toBe(true);
    expect(isOwnerOrderRace(held(['second']), held(['first', 'second']), went)).toBe(true);
    expect(isOwnerOrderRace(held(['first', 'second', 'stays']), held(['second', 'stays']), went)).toBe(true);
  });

  it('does not take the reference to the owner that went last', () => {
    expect(isOwnerOrderRace(held(['first', 'second']), held(['first']), went)).toBe(false);
    expect(isOwnerOrderRace(held(['first', 'second']), held([]), went)).toBe(false);
  });

  it('takes the reference to the owner that went last when that owner waited for its dependents', () => {
    const waited = { ...went, waited: new Set(['second']) };
    expect(isOwnerOrderRace(held(['first', 'second']), held(['first']), waited)).toBe(true);
    expect(isOwnerOrderRace(held(['first', 'second']), held([]), waited)).toBe(false);
    const waits = { removed: new Set(['first']), removals: ['first'], waited: new Set(['waits']) };
    expect(isOwnerOrderRace(held(['waits', 'first']), held(['waits']), waits)).toBe(true);
    expect(
      isOwnerOrderRace(held(['waits', 'first']), held(['first']), { ...waits, removed: new Set(), removals: [] }),
    ).toBe(false);
  });

  it('does not take a reference to an owner that stays, another finalizer, or an object that is not held', () => {
    expect(isOwnerOrderRace(held(['second', 'stays']), held(['second']), went)).toBe(false);
    const one = held(['second']);
    expect(isOwnerOrderRace(held(['first', 'second']), held(['second'], { finalizers: ['other.io/f'] }), went)).toBe(
      false,
    );
    expect(
      isOwnerOrderRace(held(['first', 'second'], { finalizers: [] }), held(['second'], { finalizers: [] }), went),
    ).toBe(false);
    expect(isOwnerOrderRace(held(['first', 'second'], { deletionTimestamp: undefined }), one, went)).toBe(false);
    expect(isOwnerOrderRace(undefined, one, went)).toBe(false);
    expect(isOwnerOrderRace(one, undefined, went)).toBe(false);
  });
});
