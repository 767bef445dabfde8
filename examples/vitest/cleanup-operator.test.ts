import { expect, test } from 'vitest';
import { startCluster } from 'kubegc/testing';
// Registers toBeCollected, toBeOwnedBy and toHaveFinalizer, and their types.
import 'kubegc/testing/vitest';
import { FINALIZER, startOperator } from './cleanup-operator.ts';

const objects = `
apiVersion: v1
kind: ConfigMap
metadata: { name: team, namespace: default }
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: photos
  namespace: default
  labels: { bucket: photos }
  ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: team, blockOwnerDeletion: true }]
`;
const team = { apiVersion: 'v1', kind: 'ConfigMap', name: 'team', namespace: 'default' };
const photos = { ...team, name: 'photos' };

test('the bucket is released before its owner goes', async () => {
  await using cluster = await startCluster({ objects });
  const released: string[] = [];
  await startOperator(cluster, async (bucket) => void released.push(bucket));
  await cluster.settled();

  const [owner, child] = await Promise.all([cluster.client.get(team), cluster.client.get(photos)]);
  await expect(child).toBeOwnedBy(owner);
  await expect(child).toHaveFinalizer(FINALIZER);

  await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
  await expect(child).toBeCollected();
  await expect(owner).toBeCollected();
  expect(released).toEqual(['photos']);
});

test('nothing goes while the bucket cannot be released', async () => {
  await using cluster = await startCluster({ objects });
  await startOperator(cluster, () => new Promise(() => undefined));
  await cluster.settled();

  await cluster.client.delete(team, { propagationPolicy: 'Foreground' });
  await expect(photos).toHaveFinalizer(FINALIZER, cluster);
  await expect(team).not.toBeCollected(cluster);
});
