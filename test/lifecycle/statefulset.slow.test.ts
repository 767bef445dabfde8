import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { StatefulSetController } from '../../src/lifecycle/statefulset/statefulset-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import { controllerRevisions, merge, NAMESPACE, statefulSets, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;
const claims = gvrOf('persistentvolumeclaims');

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared((context) => new StatefulSetController(context));
});
afterEach(() => cluster.stop());

interface StatefulSet extends KubeObject {
  status: {
    replicas: number;
    readyReplicas?: number;
    currentRevision: string;
    updateRevision: string;
    observedGeneration: number;
  };
}
const create = (replicas: number, more: object = {}) =>
  work.create(statefulSets, 'db', {
    spec: {
      replicas,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template({ app: 'db' }),
      ...more,
    },
  });
const withClaims = (policy: object = {}) => ({
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ],
  persistentVolumeClaimRetentionPolicy: policy,
});
const get = async () => (await work.get<StatefulSet>(statefulSets, 'db'))!;
const names = async () => (await work.pods()).map(({ metadata }) => metadata!.name!).toSorted();
const readyReplicas = (count: number) => async () =>
  ((await get()).status.readyReplicas ?? 0) === count && (await get()).status.replicas === count;
const setImage = (image: string) =>
  work.patch(statefulSets, 'db', { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
const imagesOf = async () =>
  Object.fromEntries(
    (await work.pods()).map((pod) => [
      pod.metadata!.name!,
      (pod['spec'] as { containers: { image: string }[] }).containers[0]!.image,
    ]),
  );
const ownersOfClaim = async (name: string) =>
  (await work.get(claims, name))?.metadata?.ownerReferences?.map(({ kind, name: owner }) => `${kind} ${owner}`) ?? [];

describe('a StatefulSet', () => {
  it('LIFE-610 LIFE-615 makes its pods one after the other, each known by name, host and labels', async () => {
    await create(3);
    await work.until(async () => (await names()).length === 1);
    await cluster.clock.advanceAsync(30_000);
    expect(await names()).toEqual(['db-0']);
    await work.until(readyReplicas(3), { ready: true });
    const [pod] = await work.pods();
    const { updateRevision, currentRevision } = (await get()).status;
    expect(currentRevision).toBe(updateRevision);
    expect(pod).toMatchObject({
      metadata: {
        name: 'db-0',
        labels: {
          app: 'db',
          'statefulset.kubernetes.io/pod-name': 'db-0',
          'apps.kubernetes.io/pod-index': '0',
          'controller-revision-hash': updateRevision,
        },
        ownerReferences: [{ kind: 'StatefulSet', name: 'db', controller: true, blockOwnerDeletion: true }],
      },
      spec: { hostname: 'db-0', subdomain: 'db' },
    });
    expect(await work.eventsOf('db')).toEqual(
      [0, 1, 2].map((ordinal) => `Normal SuccessfulCreate create Pod db-${ordinal} in StatefulSet db successful`),
    );
  });

  it('LIFE-615 scales down from the highest, one at a time, and makes a failed pod again', async () => {
    await create(3);
    await work.until(readyReplicas(3), { ready: true });
    await work.patch(statefulSets, 'db', { spec: { replicas: 1 } });
    await work.until(readyReplicas(1), { ready: true });
    expect((await work.eventsOf('db')).slice(3)).toEqual([
      'Normal SuccessfulDelete delete Pod db-2 in StatefulSet db successful',
      'Normal SuccessfulDelete delete Pod db-1 in StatefulSet db successful',
    ]);
    const { uid } = (await work.get(pods, 'db-0'))!.metadata!;
    const failed = { gvr: pods, namespace: NAMESPACE, name: 'db-0', subresource: 'status' };
    await cluster.wait(cluster.client.patch(failed, { type: merge, body: { status: { phase: 'Failed' } } }));
    await work.until(readyReplicas(1), { ready: true });
    expect((await work.get(pods, 'db-0'))!.metadata!.uid).not.toBe(uid);
    expect((await work.eventsOf('db')).filter((event) => event.startsWith('Warning'))).toEqual([
      'Warning RecreatingFailedPod StatefulSet default/db is recreating failed Pod db-0',
    ]);
  });

  it('with policy Parallel makes all pods at once', async () => {
    await create(3, { podManagementPolicy: 'Parallel', ordinals: { start: 5 } });
    await work.until(async () => (await names()).length === 3);
    expect(await names()).toEqual(['db-5', 'db-6', 'db-7']);
  });

  it('LIFE-600 LIFE-601 rolls from the highest ordinal, down to the partition, and keeps the history it is asked for', async () => {
    await create(2, { revisionHistoryLimit: 1, updateStrategy: { rollingUpdate: { partition: 1 } } });
    await work.until(readyReplicas(2), { ready: true });
    await setImage('two');
    await work.until(async () => (await imagesOf())['db-1'] === 'two' && (await readyReplicas(2)()), { ready: true });
    expect(await imagesOf()).toEqual({ 'db-0': 'one', 'db-1': 'two' });
    await work.patch(statefulSets, 'db', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    await work.until(async () => (await imagesOf())['db-0'] === 'two' && (await readyReplicas(2)()), { ready: true });
    for (const image of ['three', 'four']) {
      await setImage(image);
      await work.until(
        async () => Object.values(await imagesOf()).every((each) => each === image) && (await readyReplicas(2)()),
        { ready: true },
      );
    }
    await work.until(async () => (await work.list(controllerRevisions)).length === 2);
    const revisions = await work.list(controllerRevisions);
    expect(revisions.map((each) => each['revision']).toSorted()).toEqual([3, 4]);
    await setImage('three');
    await work.until(async () => (await imagesOf())['db-0'] === 'three', { ready: true });
    const raised = await work.list(controllerRevisions);
    expect(raised.map((each) => each['revision']).toSorted()).toEqual([4, 5]);
  });

  it('LIFE-602 deletes a revision only in the state that was decided about', async () => {
    const deletions: { name: string; body: unknown }[] = [];
    cluster.fault = async (request, next) => {
      if (request.method !== 'DELETE' || !request.target.includes('/controllerrevisions/')) return next(request);
      const name = request.target.split('/').at(-1)!;
      deletions.push({ name, body: JSON.parse(Buffer.from(request.body!).toString()) });
      // Another client changes the revision just before its first deletion.
      if (deletions.length === 1) {
        const ref = { gvr: controllerRevisions, namespace: NAMESPACE, name };
        await cluster.client.patch(ref, { type: merge, body: { metadata: { annotations: { changed: 'yes' } } } });
      }
      const response = await next(request);
      if (deletions.length === 1) expect(response.status).toBe(409);
      return response;
    };
    await create(1, { revisionHistoryLimit: 0 });
    await work.until(readyReplicas(1), { ready: true });
    const [first] = await work.list(controllerRevisions);
    const { name, uid, resourceVersion } = first!.metadata!;
    await setImage('two');
    await work.until(async () => (await imagesOf())['db-0'] === 'two' && (await readyReplicas(1)()), { ready: true });
    await work.until(async () => (await work.list(controllerRevisions)).length === 1);
    expect(deletions[0]).toMatchObject({ name, body: { preconditions: { uid, resourceVersion } } });
    expect(deletions).toHaveLength(2);
  });

  it('LIFE-612 makes claims and gives them the references that its retention policy asks for', async () => {
    await create(2, withClaims({ whenDeleted: 'Delete', whenScaled: 'Delete' }));
    await work.until(readyReplicas(2), { ready: true });
    expect(await ownersOfClaim('data-db-1')).toEqual(['StatefulSet db']);
    expect((await work.get(pods, 'db-1'))!['spec']).toMatchObject({
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } }],
    });
    await work.patch(pods, 'db-1', { metadata: { finalizers: ['example.com/hold'] } });
    await work.patch(statefulSets, 'db', { spec: { replicas: 1 } });
    await work.until(async () => (await ownersOfClaim('data-db-1'))[0] === 'Pod db-1');
    expect(await ownersOfClaim('data-db-0')).toEqual(['StatefulSet db']);
  });

  it('LIFE-614 makes a pod only once the claim of an earlier pod of its name is gone', async () => {
    await create(2, withClaims({ whenScaled: 'Delete' }));
    await work.until(readyReplicas(2), { ready: true });
    await work.patch(statefulSets, 'db', { spec: { replicas: 1 } });
    await work.until(readyReplicas(1), { ready: true });
    await work.patch(statefulSets, 'db', { spec: { replicas: 2 } });
    await cluster.clock.advanceAsync(30_000);
    expect(await names()).toEqual(['db-0']);
    await work.delete(claims, 'data-db-1');
    await work.patch(claims, 'data-db-1', { metadata: { finalizers: null } }, merge);
    await work.until(readyReplicas(2), { ready: true });
    expect(await ownersOfClaim('data-db-1')).toEqual([]);
  });

  it('LIFE-613 leaves a claim alone that somebody else controls, and says so', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
    await work.create(claims, 'data-db-0', {
      metadata: { ownerReferences: [other], labels: { app: 'db' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await create(1, withClaims({ whenDeleted: 'Delete' }));
    await work.until(readyReplicas(1), { ready: true });
    expect(await ownersOfClaim('data-db-0')).toEqual(['ConfigMap x']);
    expect((await work.eventsOf('db')).some((event) => event.includes('ConflictingController'))).toBe(true);
  });

  it('LIFE-611 a terminating set makes no revision and no pod, and says which generation it has seen', async () => {
    await create(1);
    await work.until(readyReplicas(1), { ready: true });
    await work.delete(statefulSets, 'db', { propagationPolicy: 'Foreground' });
    for (const { metadata } of await work.list(controllerRevisions))
      await work.delete(controllerRevisions, metadata!.name!);
    await work.delete(pods, 'db-0');
    await cluster.clock.advanceAsync(10_000);
    expect(await work.list(controllerRevisions)).toEqual([]);
    expect(await names()).toEqual([]);
  });

  it('makes no request while all is as it should be', async () => {
    await create(2, withClaims());
    await work.until(readyReplicas(2), { ready: true });
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });
});
