import { describe, expect, it } from 'vitest';
import { AbsentOwnerCache } from './absent-owner-cache.ts';
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

  it('COL-002 an absence counts as proven since the last loss of trust only if it was', () => {
    const cache = new AbsentOwnerCache();
    cache.note(identity());
    expect(cache.has(identity(), 'ns', 'sinceLastDoubt')).toBe(true);
    cache.doubt();
    expect([cache.has(identity(), 'ns', 'sinceLastDoubt'), cache.has(identity(), 'ns')]).toEqual([false, true]);
    cache.note(identity());
    expect(cache.has(identity(), 'ns', 'sinceLastDoubt')).toBe(true);
  });

  it('COL-002 a read that began before the last loss of trust proves nothing since', () => {
    const cache = new AbsentOwnerCache();
    const { doubts } = cache;
    cache.doubt();
    cache.note(identity(), doubts);
    expect([cache.has(identity(), 'ns', 'sinceLastDoubt'), cache.has(identity(), 'ns')]).toEqual([false, true]);
    cache.note(identity());
    // Another read that took longer takes nothing away of what is known better.
    cache.note(identity(), doubts);
    expect(cache.has(identity(), 'ns', 'sinceLastDoubt')).toBe(true);
  });

  it('COL-111 COL-002 distrust of the servers beside kube-apiserver leaves absences of that one, distrust of all does not', () => {
    const cache = new AbsentOwnerCache();
    const proven = () => [
      cache.has(identity(), 'ns', 'sinceLastDoubtOfAll'),
      cache.has(identity(), 'ns', 'sinceLastDoubt'),
    ];
    cache.note(identity());
    const before = cache.doubts;
    expect([cache.doubt('beside'), cache.doubt('beside')]).toEqual([before + 1, before + 2]);
    expect(proven()).toEqual([true, false]);
    cache.doubt('all');
    expect(proven()).toEqual([false, false]);
    // A read that began before it proves nothing, one that began after it does, whatever happened beside meanwhile.
    cache.note(identity(), before + 2);
    expect(proven()).toEqual([false, false]);
    const after = cache.doubts;
    cache.doubt('beside');
    cache.note(identity(), after);
    expect(proven()).toEqual([true, false]);
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
