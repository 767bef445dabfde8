import { describe, expect, it } from 'vitest';
import { liveObjectOf } from './live-object.ts';
import { ownerAnswer, ownerKey, ownerLookup } from './owner-lookup.ts';
import type { KindMapping } from './target.ts';

const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' };
const configMaps: KindMapping = { apiVersion: 'v1', resource: 'configmaps', namespaced: true };
const roles: KindMapping = { apiVersion: 'v1', resource: 'roles', namespaced: false };

describe('ownerAnswer', () => {
  const found = (uid: string, more: object = {}) => liveObjectOf({ name: 'o', uid, ...more });
  const deletionTimestamp = '2026-01-01T00:00:00Z';

  it.each([
    ['COL-114 the owner', found('o'), 'solid'],
    ['COL-114 another object of its name', found('p'), 'absent'],
    ['COL-114 another one that waits', found('p', { deletionTimestamp, finalizers: ['foregroundDeletion'] }), 'absent'],
    ['COL-106 the owner, terminating', found('o', { deletionTimestamp, finalizers: ['x/y'] }), 'solid'],
    ['COL-106 the owner with the finalizer, alive', found('o', { finalizers: ['foregroundDeletion'] }), 'solid'],
    ['COL-106 the owner, waiting', found('o', { deletionTimestamp, finalizers: ['foregroundDeletion'] }), 'waiting'],
    ['COL-116 a proof of absence', 'absent', 'absent'],
    ['COL-156 a failure', 'error', 'error'],
  ] as const)('%s', (_, read, expected) => {
    expect(ownerAnswer({ reference }, read)).toBe(expected);
  });

  it.each([
    ['none of its name', 'absent', 'error'],
    ['another object of its name', found('p'), 'error'],
    ['the owner', found('o'), 'solid'],
  ] as const)('COL-116 one of the resources that the owner may be in has %s', (_, read, expected) => {
    expect(ownerAnswer({ reference, alsoElsewhere: true }, read)).toBe(expected);
  });
});

describe('ownerLookup', () => {
  it('COL-111 COL-172 an answer holds for the place it was asked at: the namespace counts where the kind has one', () => {
    const keyIn = (mapping: KindMapping, namespace: string) => ownerLookup(reference, mapping, namespace).key;
    expect(keyIn(configMaps, 'a')).not.toBe(keyIn(configMaps, 'b'));
    expect(keyIn(roles, 'a')).toBe(keyIn(roles, 'b'));
    expect(ownerLookup(reference, roles, 'a').target.namespace).toBe('');
  });

  it('COL-116 says of a kind that is in another resource too that absence will prove nothing', () => {
    expect(ownerLookup(reference, configMaps, 'a')).not.toHaveProperty('alsoElsewhere');
    expect(ownerLookup(reference, { ...configMaps, alsoElsewhere: true }, 'a')).toMatchObject({ alsoElsewhere: true });
  });

  it.each(['apiVersion', 'kind', 'name', 'uid'] as const)('COL-117 COL-241 another %s is another question', (field) => {
    const { key, target } = ownerLookup(reference, configMaps, 'a');
    expect(ownerKey(reference, target)).toBe(key);
    expect(ownerLookup({ ...reference, [field]: 'x' }, configMaps, 'a').key).not.toBe(key);
  });
});
