import { describe, expect, it } from 'vitest';
import { AbsentOwnerCache } from './absent-owner-cache.ts';
import { FIRST_EPOCH, nextEpoch } from '../types/epoch.ts';
import type { Identity } from '../types/identity.ts';

function identity(change: Partial<Identity> = {}): Identity {
  return { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'o', uid: 'o', ...change };
}

describe('AbsentOwnerCache', () => {
  it.each<[string, Partial<Identity>]>([
    ['apiVersion', { apiVersion: 'v2' }],
    ['kind', { kind: 'Secret' }],
    ['name', { name: 'x' }],
    ['uid', { uid: 'x' }],
  ])('COL-130, COL-134 an identity with another %s is another', (_, change) => {
    const cache = new AbsentOwnerCache();
    cache.note(identity());
    expect(cache.has(identity(), 'ns')).toBe(true);
    expect(cache.has(identity(change), 'ns')).toBe(false);
  });

  it('COL-130 controller and blockOwnerDeletion do not matter', () => {
    const cache = new AbsentOwnerCache();
    cache.note(identity());
    const reference = { ...identity(), controller: true, blockOwnerDeletion: true };
    expect(cache.has(reference, 'ns')).toBe(true);
  });

  it('COL-111, COL-131, COL-134 a namespaced absence holds in its namespace, one without namespace everywhere', () => {
    const cache = new AbsentOwnerCache();
    cache.note(identity());
    expect(cache.has(identity(), 'ns2')).toBe(false);
    expect(cache.has(identity(), '')).toBe(false);
    cache.note(identity({ namespace: '', uid: 'c' }));
    expect(cache.has(identity({ uid: 'c' }), 'ns2')).toBe(true);
    expect(cache.has(identity({ uid: 'c' }), '')).toBe(true);
  });

  it('COL-132 the least recently used goes; a hit is a use', () => {
    const cache = new AbsentOwnerCache({ capacity: 2 });
    for (const uid of ['a', 'b']) cache.note(identity({ uid }));
    expect(cache.has(identity({ uid: 'a' }), 'ns')).toBe(true);
    cache.note(identity({ uid: 'c' }));
    expect(cache.has(identity({ uid: 'b' }), 'ns')).toBe(false);
    expect(cache.has(identity({ uid: 'a' }), 'ns')).toBe(true);
    expect(cache.size).toBe(2);
  });

  it('COL-132, COL-201 holds 500 by default', () => {
    const cache = new AbsentOwnerCache();
    for (let i = 0; i < 501; i++) cache.note(identity({ uid: `u${i}` }));
    expect(cache.size).toBe(500);
    expect(cache.has(identity({ uid: 'u0' }), 'ns')).toBe(false);
  });

  it('BETTER-14 a uid that lives loses every absence of its', () => {
    const cache = new AbsentOwnerCache();
    cache.note(identity());
    cache.note(identity({ name: 'x' }));
    cache.note(identity({ uid: 'other' }));
    cache.drop('o');
    expect(cache.has(identity(), 'ns')).toBe(false);
    expect(cache.has(identity({ name: 'x' }), 'ns')).toBe(false);
    expect(cache.has(identity({ uid: 'other' }), 'ns')).toBe(true);
    cache.drop('unknown');
    cache.clear();
    expect(cache.size).toBe(0);
  });

  it('COL-002 COL-111 an absence counts as proven since an epoch only if its read began in it, or later', () => {
    const cache = new AbsentOwnerCache();
    const second = nextEpoch(FIRST_EPOCH);
    cache.note(identity());
    expect([cache.has(identity(), 'ns', second), cache.has(identity(), 'ns')]).toEqual([false, true]);
    cache.note(identity(), second);
    expect([cache.has(identity(), 'ns', second), cache.has(identity(), 'ns', nextEpoch(second))]).toEqual([
      true,
      false,
    ]);
  });

  it('COL-002 COL-130 a read that took longer takes nothing away from a later proof', () => {
    const cache = new AbsentOwnerCache();
    const second = nextEpoch(FIRST_EPOCH);
    cache.note(identity(), second);
    cache.note(identity(), FIRST_EPOCH);
    expect(cache.has(identity(), 'ns', second)).toBe(true);
  });

  it('BETTER-14 an evicted absence leaves nothing to drop', () => {
    const cache = new AbsentOwnerCache({ capacity: 1 });
    cache.note(identity());
    cache.note(identity({ name: 'x' }));
    cache.drop('o');
    expect(cache.size).toBe(0);
    cache.note(identity());
    expect(cache.has(identity(), 'ns')).toBe(true);
  });
});
