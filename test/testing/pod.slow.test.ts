import { expect, it } from 'vitest';
import { assertCollected, assertNotCollected, type SeedObject, startCluster } from '../../src/testing/testing.ts';
import { owner, tree } from './tree.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: 'default' };
/** Without it the pod would be collected as one of a node that is gone (LIFE-058). */
const node: SeedObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
const podOf = (spec: object): SeedObject => ({
  apiVersion: pod.apiVersion,
  kind: pod.kind,
  metadata: { name: pod.name, ownerReferences: [{ ...owner, blockOwnerDeletion: true }] },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

it('a pod on a node that is deleted stays, and keeps its owner, until the test removes it in the place of a kubelet', async () => {
  await using cluster = await startCluster({ objects: [node, tree(), podOf({ nodeName: 'n' })] });
  await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
  expect(await cluster.settled({ advanceMs: 600_000 })).toEqual({ waiting: [] });
  await assertNotCollected(cluster, pod);
  expect((await cluster.client.get(pod)).metadata?.deletionGracePeriodSeconds).toBe(30);
  await assertNotCollected(cluster, owner);
  await cluster.client.delete(pod, { gracePeriodSeconds: 0 });
  await assertCollected(cluster, pod);
  await assertCollected(cluster, owner);
});

it.each([{}, { nodeName: 'n', terminationGracePeriodSeconds: 0 }])('a pod with %j goes at once', async (spec) => {
  await using cluster = await startCluster({ objects: [tree(), podOf(spec)] });
  await cluster.client.delete(owner);
  await assertCollected(cluster, pod);
});
