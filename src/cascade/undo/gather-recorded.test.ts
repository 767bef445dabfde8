import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';
import { gatherRecorded } from './gather-recorded.ts';

const object = (kind: string, name: string, { owner = '', deleted = '', namespace = 'shop' } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    uid: `uid-${name}`,
    ...(kind === 'Namespace' ? {} : { namespace }),
    ...(deleted === '' ? {} : { deletionTimestamp: `2026-11-28T02:${deleted}:00Z` }),
    ...(owner === '' ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: owner, uid: `uid-${owner}` }] }),
  },
});

interface Kept {
  readonly minute: string;
  readonly clusterUid?: string;
  readonly bodies: readonly KubeObject[];
}

/** A store with these records, the oldest first, and a function that gathers from it what has a name. */
function storeOf(kept: readonly Kept[]) {
  const records = kept.map(({ minute, clusterUid = 'here' }): CascadeRecord => ({
    apiVersion: 'kubegc.io/v1alpha1',
    kind: 'CascadeRecord',
    id: minute,
    time: `2026-11-28T02:${minute}:00Z`,
    requester: '(not known)',
    context: { name: 'c', server: 's', clusterUid },
    roots: [],
    policy: '(not known)',
    outcome: 'recorded',
    objects: 0,
    secrets: 'none',
  }));
  const store = {
    list: () => Promise.resolve({ records: records.toReversed(), unreadable: [] }),
    objects: (id: string) =>
      Promise.resolve(kept.find(({ minute }) => minute === id)!.bodies.map((body) => ({ body }))),
  };
  return async (name: string): Promise<{ id: string; names: (string | undefined)[] } | undefined> => {
    const found = await gatherRecorded(store, ({ metadata }) => metadata?.name === name);
    return found && { id: found.record.id, names: found.objects.map(({ body }) => body.metadata?.name) };
  };
}

describe('the objects of one deletion in several records', () => {
  it('CAS-066 finds the dependents that the collector deleted later, at any depth', async () => {
    const gather = storeOf([
      { minute: '10', bodies: [object('ConfigMap', 'root'), object('ConfigMap', 'other')] },
      { minute: '11', bodies: [object('ConfigMap', 'child', { owner: 'root' }), object('ConfigMap', 'stranger')] },
      { minute: '12', bodies: [object('ConfigMap', 'grandchild', { owner: 'child' })] },
    ]);
    expect(await gather('root')).toEqual({ id: '10', names: ['root', 'child', 'grandchild'] });
    expect(await gather('nobody')).toBeUndefined();
  });

  it('CAS-066 finds what went before its owner in the foreground, and not what somebody deleted before that', async () => {
    const gather = storeOf([
      { minute: '10', bodies: [object('ConfigMap', 'long-ago', { owner: 'root' })] },
      { minute: '20', bodies: [object('ConfigMap', 'child', { owner: 'root' })] },
      { minute: '21', bodies: [object('ConfigMap', 'root', { deleted: '19' })] },
    ]);
    expect(await gather('root')).toEqual({ id: '21', names: ['root', 'child'] });
  });

  it('CAS-066 finds the content of a namespace in earlier records, and not that of a later namespace of its name', async () => {
    const gather = storeOf([
      { minute: '10', bodies: [object('ConfigMap', 'yesterday')] },
      { minute: '20', bodies: [object('ConfigMap', 'content'), object('ConfigMap', 'x', { namespace: 'elsewhere' })] },
      { minute: '21', bodies: [object('Namespace', 'shop', { deleted: '19' })] },
      { minute: '22', bodies: [object('ConfigMap', 'anew')] },
    ]);
    expect(await gather('shop')).toEqual({ id: '21', names: ['shop', 'content'] });
  });

  it('CAS-066 takes an object once that two records have, and nothing from another cluster', async () => {
    const child = object('ConfigMap', 'child', { owner: 'root' });
    const gather = storeOf([
      { minute: '10', bodies: [object('ConfigMap', 'root'), child] },
      { minute: '11', bodies: [child] },
      { minute: '12', clusterUid: 'there', bodies: [object('ConfigMap', 'foreign', { owner: 'root' })] },
    ]);
    expect(await gather('root')).toEqual({ id: '10', names: ['root', 'child'] });
  });
});
