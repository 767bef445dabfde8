import { describe, expect, it } from 'vitest';
import { alternativeIdentity, type ReferringDependent } from './alternative-identity.ts';
import type { Identity } from '../types/identity.ts';

function owner(change: Partial<Identity> = {}): Identity {
  return { apiVersion: 'v1', kind: 'Parent', namespace: 'ns1', name: 'parent', uid: 'p', ...change };
}

/** A dependent in a namespace (empty: cluster-scoped) that refers to these. */
function dependent(namespace: string, ...owners: readonly Identity[]): ReferringDependent {
  return {
    namespace,
    ownerReferences: owners.map(({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid })),
  };
}

const clusterOwner = owner({ kind: 'ClusterParent', namespace: '' });
const versions = (namespace: string) =>
  ['v1', 'v2', 'v3', 'v4', 'v5'].map((apiVersion) => owner({ apiVersion, namespace }));

describe('COL-076 the identity tried next, after one was proven absent', () => {
  it.each<[string, readonly ReferringDependent[], Identity, Identity | undefined]>([
    [
      'another version of a namespaced owner',
      [dependent('ns1', owner()), dependent('ns1', owner({ apiVersion: 'xx' }))],
      owner(),
      owner({ apiVersion: 'xx' }),
    ],
    [
      'another kind of a namespaced owner',
      [dependent('ns1', owner()), dependent('ns1', owner({ kind: 'xxxx' }))],
      owner(),
      owner({ kind: 'xxxx' }),
    ],
    ['another namespace', [dependent('ns1', owner()), dependent('ns2', owner())], owner(), owner({ namespace: 'ns2' })],
    [
      'another name of a namespaced owner',
      [dependent('ns1', owner()), dependent('ns1', owner({ name: 'xxxx' }))],
      owner(),
      owner({ name: 'xxxx' }),
    ],
    [
      'another version of a cluster-scoped owner: its scope is not known, so the dependent’s namespace is taken',
      [dependent('ns1', clusterOwner), dependent('ns1', { ...clusterOwner, apiVersion: 'xx' })],
      clusterOwner,
      { ...clusterOwner, apiVersion: 'xx', namespace: 'ns1' },
    ],
    [
      'another kind of a cluster-scoped owner: likewise',
      [dependent('ns1', clusterOwner), dependent('ns1', { ...clusterOwner, kind: 'xxxx' })],
      clusterOwner,
      { ...clusterOwner, kind: 'xxxx', namespace: 'ns1' },
    ],
    [
      'another namespace of a dependent of a cluster-scoped owner is no other identity',
      [dependent('ns1', clusterOwner), dependent('ns2', clusterOwner)],
      clusterOwner,
      undefined,
    ],
    [
      'another name of a cluster-scoped owner: its scope is known',
      [dependent('ns1', clusterOwner), dependent('ns1', { ...clusterOwner, name: 'xxxx' })],
      clusterOwner,
      { ...clusterOwner, name: 'xxxx' },
    ],
    [
      'namespaced: the first again after the last',
      [dependent('ns1', ...versions('ns1'))],
      versions('ns1')[4]!,
      versions('ns1')[0],
    ],
    ['namespaced: the next in order', [dependent('ns1', ...versions('ns1'))], versions('ns1')[3]!, versions('ns1')[4]],
    [
      'cluster-scoped: the first again after the last',
      [dependent('', ...versions(''))],
      versions('')[4]!,
      versions('')[0],
    ],
    ['cluster-scoped: the next in order', [dependent('', ...versions(''))], versions('')[3]!, versions('')[4]],
    ['other uids do not matter', [dependent('ns1', clusterOwner, owner({ uid: 'another' }))], clusterOwner, undefined],
    ['what is absent is not tried again', [dependent('ns1', clusterOwner, clusterOwner)], clusterOwner, undefined],
    [
      'one identity named twice is one',
      [dependent('', clusterOwner, { ...clusterOwner, kind: 'xxxx' }, { ...clusterOwner, kind: 'xxxx' })],
      clusterOwner,
      { ...clusterOwner, kind: 'xxxx' },
    ],
  ])('%s', (_, dependents, absent, expected) => {
    expect(alternativeIdentity(dependents, absent)).toEqual(expected);
  });

  it('kind comes before apiVersion, that before namespace, and name is last', () => {
    const inOrder = [
      owner({ kind: 'A', apiVersion: 'v9' }),
      owner({ kind: 'B', apiVersion: 'v1', namespace: 'ns2' }),
      owner({ kind: 'B', apiVersion: 'v2', namespace: 'ns1', name: 'z' }),
      owner({ kind: 'B', apiVersion: 'v2', namespace: 'ns2', name: 'a' }),
      owner({ kind: 'B', apiVersion: 'v2', namespace: 'ns2', name: 'b' }),
    ];
    const dependents = inOrder.map((identity) => dependent(identity.namespace, identity)).toReversed();
    const absent = owner({ kind: '0' });
    const tried = [alternativeIdentity(dependents, absent)];
    for (let i = 1; i < inOrder.length; i++) tried.push(alternativeIdentity(dependents, tried.at(-1)!));
    expect(tried).toEqual(inOrder);
  });

  it('goes through all of them, one after the other, and round again', () => {
    const dependents = [dependent('ns1', ...versions('ns1').toReversed())];
    const tried: string[] = [];
    let absent = versions('ns1')[2]!;
    for (let i = 0; i < 5; i++) {
      absent = alternativeIdentity(dependents, absent)!;
      tried.push(absent.apiVersion);
    }
    expect(tried).toEqual(['v4', 'v5', 'v1', 'v2', 'v3']);
  });
});
