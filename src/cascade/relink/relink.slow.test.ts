import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { systemClock } from '../../base/time/clock.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { startCluster, type TestCluster } from '../../testing/testing.ts';
import type { RelinkPlan } from '../documents/relink-plan.ts';
import { readObservation } from '../observed/read-observation.ts';
import { planRelink } from './plan-relink.ts';
import { runRelink } from './run-relink.ts';

const configMap = (name: string, owners: [name: string, uid: string][] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'default',
    ownerReferences: owners.map(([owner, uid]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid,
      controller: true,
    })),
  },
});

async function planOf({ client }: TestCluster, wanted?: readonly KubeObject[]): Promise<RelinkPlan> {
  const discovery = await discover(client.rest);
  const observation = await readObservation({
    client: client.rest,
    clock: systemClock,
    discovery,
    namespace: 'default',
  });
  return planRelink(observation, wanted);
}

describe('relink', () => {
  it('CAS-067 repairs references whose uid is stale and whose name resolves, and only those', async () => {
    // Starts no collector: it would delete the objects that a backup tool restored with stale owners.
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    const parent = await client.create(configMap('parent'));
    const { uid } = parent.metadata!;
    const child = await client.create(configMap('child', [['parent', 'uid-before-the-backup']]));
    await client.create(configMap('fine', [['parent', uid!]]));
    await client.create(configMap('lost', [['nobody', 'uid-of-nobody']]));
    const plan = await planOf(cluster);
    expect(plan.objects.map(({ ref, changes }) => [ref.name, changes])).toEqual([
      ['child', [`owner configmap/parent: uid uid-before-the-backup becomes ${uid}`]],
    ]);
    expect(plan.unresolved.map(({ ref, message }) => [ref.name, message])).toEqual([
      ['lost', 'configmap/nobody does not exist'],
    ]);
    expect(plan.valid).toBe(1);
    expect(await runRelink(client.rest, plan)).toEqual([{ ref: plan.objects[0]!.ref }]);
    const repaired = await client.get(child);
    expect(repaired.metadata!.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid, controller: true },
    ]);
    expect((await planOf(cluster)).objects).toEqual([]);
  });

  it('CAS-067 does not touch an object that changed since the plan', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    await client.create(configMap('parent'));
    const child = await client.create(configMap('child', [['parent', 'stale']]));
    const plan = await planOf(cluster);
    await client.patch(child, { data: { changed: 'yes' } });
    const [outcome] = await runRelink(client.rest, plan);
    expect(outcome!.error).toContain('the object has been modified');
    expect((await client.get(child)).metadata!.ownerReferences![0]!.uid).toBe('stale');
  });

  it('CAS-067 puts back references that a backup tool dropped, from the files of the backup', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    const parent = await client.create(configMap('parent'));
    const child = await client.create(configMap('child'));
    const plan = await planOf(cluster, [configMap('parent'), configMap('child', [['parent', 'uid-of-then']])]);
    await runRelink(client.rest, plan);
    expect((await client.get(child)).metadata!.ownerReferences![0]!.uid).toBe(parent.metadata!.uid);
    const again = await planOf(cluster, [configMap('child', [['parent', 'uid-of-then']])]);
    expect(again).toMatchObject({ objects: [], unresolved: [], valid: 1 });
  });
});
