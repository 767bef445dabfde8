import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { type InformerHandler, keyOf } from '../../client/reflector/informer.ts';
import type { SharedCache } from '../kit/shared-informers.ts';
import { Dependents } from './dependents.ts';
import { Expectations } from './expectations.ts';

const ownerKind = { apiVersion: 'apps/v1', kind: 'ReplicaSet' };
const owner = (name: string, uid: string): KubeObject => ({ metadata: { namespace: 'ns', name, uid } });
const pod = (metadata: object = {}): KubeObject => ({
  metadata: { namespace: 'ns', name: 'p', uid: 'p-1', ...metadata },
});
const ownedBy = (name: string, uid: string, kind = 'ReplicaSet') => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

function setUp(...owners: KubeObject[]) {
  let handler: InformerHandler<KubeObject> = {};
  const triggered: string[] = [];
  const ownerCache = {
    get: (key: string) => owners.find((each) => keyOf(each) === key),
    byIndex: () => owners,
  } as unknown as SharedCache;
  const dependentCache = {
    addHandler: (given: InformerHandler<KubeObject>) => {
      handler = given;
      return () => {};
    },
    byIndex: () => [],
  } as unknown as SharedCache;
  new Dependents({
    ownerKind,
    owners: ownerCache,
    dependents: dependentCache,
    selects: ({ metadata }, { metadata: { labels } = {} }) => labels?.['app'] === metadata?.name,
    expectations: new Expectations(new FakeClock()),
    trigger: (key) => triggered.push(key),
  }).watch();
  return { ...handler, triggered };
}

describe('an event of a dependent', () => {
  it('LIFE-005 is for the owner of this kind and name, if it has the uid of the reference', () => {
    const { added, updated, deleted, triggered } = setUp(owner('web', 'u-2'));
    for (const reference of [ownedBy('web', 'u-1'), ownedBy('web', 'u-2', 'Job'), ownedBy('other', 'u-2')]) {
      added?.(pod(reference));
      updated?.(pod(reference), pod({ ...reference, labels: { app: 'web' } }));
      deleted?.(pod(reference));
    }
    expect(triggered).toEqual([]);
    added?.(pod(ownedBy('web', 'u-2')));
    expect(triggered).toEqual(['ns/web']);
  });

  it('LIFE-005 that moves it to another owner is for both', () => {
    const { updated, triggered } = setUp(owner('old', 'u-1'), owner('new', 'u-2'));
    updated?.(pod(ownedBy('old', 'u-1')), pod(ownedBy('new', 'u-2')));
    expect(triggered).toEqual(['ns/old', 'ns/new']);
  });

  it('LIFE-006 that is a deletion needs no more of the last known object than its identity and its reference', () => {
    const { deleted, triggered } = setUp(owner('web', 'u-1'));
    deleted?.(pod(ownedBy('web', 'u-1')));
    expect(triggered).toEqual(['ns/web']);
  });

  it('LIFE-006 that is a deletion wakes no owner that only selects the last known labels', () => {
    const { added, deleted, triggered } = setUp(owner('web', 'u-1'));
    deleted?.(pod({ labels: { app: 'web' } }));
    expect(triggered).toEqual([]);
    added?.(pod({ labels: { app: 'web' } }));
    expect(triggered).toEqual(['ns/web']);
  });
});
