import { describe, expect, it } from 'vitest';
import { type ClusterSnapshot, type KubeObject, startCluster } from '../../src/testing/testing.ts';
import { assertCollected, assertNotCollected, assertNotOwnedBy, assertOwnedBy } from '../../src/testing/testing.ts';
import { dependent, owner, tree } from './tree.ts';

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec:
  group: example.com
  names: { kind: Shop, plural: shops }
  scope: Namespaced
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`;
const shop = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'corner', namespace: 'default' } };
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

async function taken(): Promise<ClusterSnapshot> {
  await using cluster = await startCluster({ crds: definition, objects: [tree(), shop].flat() as KubeObject[] });
  await cluster.clock.advance(5000);
  return cluster.snapshot();
}

describe('a cluster that starts from a snapshot', () => {
  it('has the same objects, down to uid and resourceVersion, and collects them', async () => {
    await using first = await startCluster({ objects: tree() });
    const before = await first.client.get(dependent);
    const snapshot = await first.snapshot();
    expect(snapshot.size).toBeGreaterThan(2);
    await using second = await startCluster({ from: snapshot });
    expect(await second.client.get(dependent)).toEqual(before);
    await assertOwnedBy(second, dependent, owner);
    await assertNotCollected(second, dependent);
    await second.client.delete(owner);
    await assertCollected(second, dependent);
    await assertNotCollected(first, dependent);
  });

  it('is apart from all others: each goes its own way from the same beginning', async () => {
    const snapshot = await taken();
    await using left = await startCluster({ from: snapshot });
    await using right = await startCluster({ from: snapshot });
    await left.client.delete(owner);
    await right.client.patch(owner, { data: { level: 'debug' } });
    await assertCollected(left, dependent);
    await assertNotCollected(right, dependent);
    expect(await right.client.get(owner)).toMatchObject({ data: { level: 'debug' } });
  });

  it('serves what was defined, with its objects, at the time of the snapshot', async () => {
    const snapshot = await taken();
    await using cluster = await startCluster({ from: snapshot, objects: configMap('more') });
    expect(await cluster.client.get(shop)).toMatchObject(shop);
    const { metadata } = await cluster.client.get(configMap('more'));
    expect(metadata?.creationTimestamp).toBe('2026-01-01T00:00:05Z');
  });

  it('gives new objects uids that nobody has, whatever the seed, generation after generation', async () => {
    const uids: (string | undefined)[] = [];
    let from: ClusterSnapshot | undefined;
    for (const name of ['a', 'b', 'c', 'd']) {
      await using cluster = await startCluster({ from, controllers: [] });
      uids.push((await cluster.client.create(configMap(name))).metadata.uid);
      from = await cluster.snapshot();
      const all = await cluster.client.list({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect(all.map(({ metadata }) => metadata?.uid)).toEqual(uids);
    }
    expect(new Set(uids).size).toBe(4);
  });

  it('gives the same history for the same seed', async () => {
    const snapshot = await taken();
    const stories: string[] = [];
    for (let round = 0; round < 2; round++) {
      await using cluster = await startCluster({ from: snapshot, seed: 7 });
      await cluster.client.create(configMap('more'));
      await cluster.client.delete(owner);
      await cluster.settled();
      stories.push(`${cluster.trace()} ${(await cluster.client.get(configMap('more'))).metadata?.uid}`);
    }
    expect(stories[0]).toContain('None of its owners exists.');
    expect(stories[1]).toBe(stories[0]);
  });

  it('distinguishes a wrong name from an owner that came with the snapshot', async () => {
    await using cluster = await startCluster({ from: await taken() });
    await assertNotOwnedBy(cluster, owner, configMap('owner'));
    await expect(assertNotOwnedBy(cluster, owner, configMap('ownr'))).rejects.toThrow('was ever there');
  });

  it('lets controllers do what was left to do, one write at a time when it is paused at once', async () => {
    await using idle = await startCluster({ objects: tree(), controllers: [] });
    await idle.client.delete(owner);
    const from = await idle.snapshot();
    await using cluster = await startCluster({ from, controllers: ['garbage-collector-controller'] });
    cluster.pause();
    await assertNotCollected(cluster, dependent);
    expect(String(await cluster.step())).toContain('Secret default/dependent removed');
    await assertCollected(cluster, dependent);
    await using running = await startCluster({ from });
    expect(await running.client.find(dependent)).toBeDefined();
    await assertCollected(running, dependent);
  });

  it('is refused what is no snapshot', async () => {
    await expect(startCluster({ from: {} as ClusterSnapshot })).rejects.toThrow(
      'from is what cluster.snapshot() resolved with, not {}',
    );
  });
});
