import { test } from 'node:test';
import {
  assertCollected,
  assertHasFinalizer,
  assertNotCollected,
  assertNotOwnedBy,
  startCluster,
} from 'kubegc/testing';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', namespace: 'default' };
const pod = { apiVersion: 'v1', kind: 'Pod', name: 'web-1', namespace: 'default' };
const objects = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: { name: web, namespace: default }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: default
  labels: { app: web }
  finalizers: [example.com/drain]
  ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true }]
spec: { containers: [{ name: web, image: nginx }] }
`;

test('a pod waits for its finalizer, then it is collected', async (t) => {
  const cluster = await startCluster({ objects });
  t.after(() => cluster.stop());
  await cluster.client.delete(owner);
  await assertCollected(cluster, owner);
  await assertHasFinalizer(cluster, pod, 'example.com/drain');
  await cluster.client.removeFinalizer(pod, 'example.com/drain');
  await assertCollected(cluster, pod);
});

test('a pod that is orphaned stays, without an owner', async (t) => {
  const cluster = await startCluster({ objects });
  t.after(() => cluster.stop());
  await cluster.client.delete(owner, { propagationPolicy: 'Orphan' });
  await assertCollected(cluster, owner);
  await assertNotCollected(cluster, pod);
  await assertNotOwnedBy(cluster, pod, owner);
});

test('a lost answer changes nothing', async (t) => {
  const cluster = await startCluster({ seed: 42, objects });
  t.after(() => cluster.stop());
  cluster.faults.add({ match: { who: 'garbage-collector-controller', verb: 'delete' }, times: 1, drop: 'response' });
  await cluster.client.removeFinalizer(pod, 'example.com/drain');
  await cluster.client.delete(owner);
  await cluster.settled({ advanceMs: 60_000 });
  t.diagnostic(`\n${cluster.trace()}`);
  await assertCollected(cluster, owner);
});
