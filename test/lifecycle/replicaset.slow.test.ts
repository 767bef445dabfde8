import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newForbidden } from '../../src/api/status-error.ts';
import { ReplicaSetController } from '../../src/lifecycle/replicaset/replicaset-controller.ts';
import { ReplicationControllerController } from '../../src/lifecycle/replicaset/replicationcontroller-controller.ts';
import { answer, EmbeddedCluster, pods } from './embedded-cluster.ts';
import { merge, NAMESPACE, replicaSets, replicationControllers, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared(
    (context) => new ReplicaSetController(context),
    (context) => new ReplicationControllerController(context),
  );
});
afterEach(() => cluster.stop());

interface Counted extends KubeObject {
  status: { replicas: number; readyReplicas?: number; availableReplicas?: number; observedGeneration: number };
}
const spec = (replicas: number, more: object = {}) => ({
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template({ app: 'web' }), ...more },
});
const replicaSet = (replicas: number, more: object = {}) => work.create(replicaSets, 'web', spec(replicas, more));
const statusOf = async () => (await work.get<Counted>(replicaSets, 'web'))!.status;
const hasReplicas = (count: number) => async () => (await statusOf()).replicas === count;
const controllerOf = (pod: KubeObject | undefined) =>
  pod?.metadata?.ownerReferences?.find(({ controller }) => controller);
const owners = async () => (await work.pods()).map((pod) => controllerOf(pod)?.name ?? 'nobody').toSorted();
const podBody = (labels: Record<string, string>) => ({ metadata: { labels }, spec: template({}).spec });

describe('a ReplicaSet', () => {
  it('LIFE-261 LIFE-264 LIFE-267 makes as many pods as asked for, owned by it alone, and counts them though nothing runs', async () => {
    const owner = await replicaSet(3);
    await work.until(hasReplicas(3));
    const made = await work.pods();
    expect(made).toHaveLength(3);
    for (const { metadata } of made) {
      expect(metadata).toMatchObject({ generateName: 'web-', labels: { app: 'web' } });
      expect(metadata?.finalizers).toBeUndefined();
      expect(metadata?.ownerReferences).toEqual([
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: owner.metadata?.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    expect(await statusOf()).toMatchObject({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 });
    expect((await work.eventsOf('web')).toSorted()).toEqual(
      made.map(({ metadata }) => `Normal SuccessfulCreate Created pod: ${metadata?.name}`).toSorted(),
    );
  });

  it('LIFE-263 LIFE-226 replaces a pod that fails or is deleted at once', async () => {
    await replicaSet(2);
    await work.until(hasReplicas(2));
    const [one, two] = await work.pods();
    await work.patch(pods, one!.metadata!.name!, { metadata: { finalizers: ['example.com/hold'] } });
    await work.delete(pods, one!.metadata!.name!);
    const failed = { gvr: pods, namespace: NAMESPACE, name: two!.metadata!.name!, subresource: 'status' };
    await cluster.wait(cluster.client.patch(failed, { type: merge, body: { status: { phase: 'Failed' } } }));
    await work.until(async () => (await work.pods()).length === 4);
    await work.until(hasReplicas(2));
    expect(await statusOf()).toMatchObject({ replicas: 2, terminatingReplicas: 1 });
  });

  it('LIFE-265 scales down, the pods first that are not ready, and says which', async () => {
    await replicaSet(2);
    await work.until(hasReplicas(2));
    await work.ready();
    await work.patch(replicaSets, 'web', { spec: { replicas: 4 } });
    await work.until(hasReplicas(4));
    const ready = (await work.pods()).filter((pod) => (pod['status'] as { phase: string }).phase === 'Running');
    await work.patch(replicaSets, 'web', { spec: { replicas: 2 } });
    await work.until(hasReplicas(2));
    expect((await work.pods()).map(({ metadata }) => metadata?.name)).toEqual(
      ready.map(({ metadata }) => metadata?.name),
    );
    expect(
      (await work.eventsOf('web')).filter((event) => event.includes('SuccessfulDelete Deleted pod: ')),
    ).toHaveLength(2);
  });

  it('LIFE-226 LIFE-225 releases a pod whose labels are taken away, and deletes a surplus one when they come back', async () => {
    await replicaSet(1);
    await work.until(hasReplicas(1));
    const name = (await work.pods())[0]!.metadata!.name!;
    await work.patch(pods, name, { metadata: { labels: { app: 'other' } } });
    await work.until(async () => (await work.pods()).length === 2);
    expect(controllerOf(await work.get(pods, name))).toBeUndefined();
    await cluster.clock.advanceAsync(5000);
    await work.patch(pods, name, { metadata: { labels: { app: 'web' } } });
    await work.until(async () => (await work.pods()).length === 1);
    expect(await owners()).toEqual(['web']);
  });

  it('LIFE-226 takes back a pod whose reference was removed by hand', async () => {
    await replicaSet(1);
    await work.until(hasReplicas(1));
    const name = (await work.pods())[0]!.metadata!.name!;
    await work.patch(pods, name, { metadata: { ownerReferences: null } }, merge);
    await work.until(async () => controllerOf(await work.get(pods, name)) !== undefined);
    expect(await work.pods()).toHaveLength(1);
  });

  it('LIFE-222 LIFE-223 LIFE-227 adopts what is active and matches, keeps its other references, and leaves finished pods alone', async () => {
    await work.create(pods, 'finished', podBody({ app: 'web' }));
    const finished = { gvr: pods, namespace: NAMESPACE, name: 'finished', subresource: 'status' };
    await cluster.wait(cluster.client.patch(finished, { type: merge, body: { status: { phase: 'Succeeded' } } }));
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
    await work.create(pods, 'active', {
      ...podBody({ app: 'web' }),
      metadata: { labels: { app: 'web' }, ownerReferences: [other] },
    });
    await replicaSet(1);
    await work.until(hasReplicas(1));
    expect(controllerOf(await work.get(pods, 'finished'))).toBeUndefined();
    const references = (await work.get(pods, 'active'))?.metadata?.ownerReferences ?? [];
    expect(references.map(({ name, controller = false }) => [name, controller])).toEqual([
      ['web', true],
      ['x', false],
    ]);
    const patch = cluster.requests.find((request) => request.startsWith('PATCH') && request.includes('/pods/active'));
    const read = cluster.requests.find((request) => request.startsWith('GET') && request.includes('/replicasets/web'));
    expect(cluster.requests.indexOf(read!)).toBeLessThan(cluster.requests.indexOf(patch!));
    expect(read).toBeDefined();
  });

  it('LIFE-224 leaves an orphan to the owner that was faster, and makes its own pod', async () => {
    await work.create(pods, 'orphan', podBody({ app: 'web' }));
    const faster = (name: string, uid: string) => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name,
      uid,
      controller: true,
    });
    const orphan = { gvr: pods, namespace: NAMESPACE, name: 'orphan' };
    const answers: number[] = [];
    cluster.fault = async (request, next) => {
      if (request.method !== 'PATCH' || !request.target.includes('/pods/orphan')) return next(request);
      if (answers.length === 0) {
        const body = { metadata: { ownerReferences: [faster('faster', 'f-1')] } };
        await cluster.client.patch(orphan, { type: merge, body });
      }
      const response = await next(request);
      answers.push(response.status);
      return response;
    };
    await replicaSet(1);
    await work.until(hasReplicas(1));
    expect(answers).toEqual([409]);
    expect(await owners()).toEqual(['faster', 'web']);
    // Without the version as a precondition, too, the server has no object with two controllers.
    const second = { metadata: { ownerReferences: [faster('second', 's-1')] } };
    await expect(work.patch(pods, 'orphan', second)).rejects.toMatchObject({ code: 422 });
  });

  it('LIFE-228 leaves a controller reference without blockOwnerDeletion as it is', async () => {
    await replicaSet(1);
    await work.until(hasReplicas(1));
    const [made] = await work.pods();
    const { blockOwnerDeletion: _, ...reference } = controllerOf(made)!;
    await work.patch(pods, made!.metadata!.name!, { metadata: { ownerReferences: [reference] } }, merge);
    await cluster.clock.advanceAsync(1000);
    await work.patch(replicaSets, 'web', { spec: { replicas: 2 } });
    await work.until(hasReplicas(2));
    expect((await work.get(pods, made!.metadata!.name!))?.metadata?.ownerReferences).toEqual([reference]);
    expect(cluster.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
  });

  it('LIFE-229 LIFE-564 reads the owner live again after twenty adoptions', async () => {
    for (let number = 0; number < 45; number++) await work.create(pods, `p${number}`, podBody({ app: 'web' }));
    await replicaSet(45);
    await work.until(hasReplicas(45));
    const reads = cluster.requests.filter(
      (request) => request.startsWith('GET') && request.includes('/replicasets/web'),
    );
    expect(reads.length).toBe(3);
    expect(await work.pods()).toHaveLength(45);
  });

  it('LIFE-221 adopts nothing when the live owner is terminating, though the cache does not know it yet', async () => {
    await work.create(pods, 'orphan', podBody({ app: 'web' }));
    cluster.fault = async (request, next) => {
      const response = await next(request);
      if (request.method !== 'GET' || !request.target.endsWith('/replicasets/web')) return response;
      const live = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as KubeObject;
      live.metadata!.deletionTimestamp = '2026-01-01T00:00:00Z';
      return answer(200, live);
    };
    await replicaSet(1);
    await cluster.clock.advanceAsync(2000);
    expect(controllerOf(await work.get(pods, 'orphan'))).toBeUndefined();
    expect(cluster.requests.some((request) => request.startsWith('PATCH'))).toBe(false);
    cluster.fault = (request, next) => next(request);
    await work.until(async () => controllerOf(await work.get(pods, 'orphan')) !== undefined, { withinMs: 600_000 });
  });

  it('LIFE-262 neither makes nor deletes pods while it is terminating', async () => {
    await replicaSet(1, {});
    await work.until(hasReplicas(1));
    await work.patch(replicaSets, 'web', { metadata: { finalizers: ['example.com/hold'] } });
    await work.delete(replicaSets, 'web');
    await work.delete(pods, (await work.pods())[0]!.metadata!.name!);
    await work.until(hasReplicas(0));
    expect(await work.pods()).toEqual([]);
    expect((await statusOf()).observedGeneration).toBe((await work.get(replicaSets, 'web'))!.metadata!.generation);
  });

  it('LIFE-266 a pod counts as available once it was ready for minReadySeconds, without a request in between', async () => {
    await replicaSet(1, { minReadySeconds: 30 });
    await work.until(hasReplicas(1));
    await work.ready();
    await work.until(async () => (await statusOf()).readyReplicas === 1);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(29_000);
    expect(cluster.requests).toEqual([]);
    expect(await work.until(async () => (await statusOf()).availableReplicas === 1)).toBeLessThan(2000);
  });

  it('LIFE-266 says why it cannot create pods, tries ever more seldom, and takes it back when it can', async () => {
    const refusal = newForbidden({ group: '', resource: 'pods' }, 'web-', 'exceeded quota');
    let calls = 0;
    cluster.fault = (request, next) => {
      if (request.method !== 'POST' || !request.target.includes('/pods')) return next(request);
      calls++;
      return Promise.resolve(answer(403, refusal.status));
    };
    await replicaSet(100);
    await cluster.clock.advanceAsync(600_000);
    expect(calls).toBeLessThan(25);
    expect((await work.get(replicaSets, 'web'))?.['status']).toMatchObject({
      conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: refusal.message }],
    });
    expect((await work.eventsOf('web'))[0]).toBe(`Warning FailedCreate Error creating: ${refusal.message}`);
    cluster.fault = (request, next) => next(request);
    await work.until(hasReplicas(100), { withinMs: 1_100_000 });
    expect((await work.get<KubeObject & { status: object }>(replicaSets, 'web'))!.status).not.toHaveProperty(
      'conditions',
    );
  });

  it('LIFE-014 makes its pods though no Event can be written', async () => {
    let refused = 0;
    cluster.fault = (request, next) => {
      if (request.method !== 'POST' || !request.target.includes('/events')) return next(request);
      refused++;
      return Promise.resolve(answer(500, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 }));
    };
    await replicaSet(3);
    await work.until(hasReplicas(3));
    await work.patch(replicaSets, 'web', { spec: { replicas: 1 } });
    await work.until(hasReplicas(1));
    await work.until(() => Promise.resolve(refused > 0));
    expect(cluster.logger.lines.filter(({ message }) => message === 'sync failed')).toEqual([]);
  });

  it('makes no request while all is as it should be', async () => {
    await replicaSet(2);
    await work.until(hasReplicas(2));
    await work.ready();
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });
});

describe('a ReplicationController', () => {
  it('LIFE-017 makes its pods while every pod of a ReplicaSet waits for an answer of the server', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    cluster.fault = async (request, next) => {
      const body = Buffer.from(request.body ?? []).toString();
      if (request.method === 'POST' && body.includes('"kind":"ReplicaSet"')) await held;
      return next(request);
    };
    await replicaSet(100);
    await cluster.clock.advanceAsync(1000);
    const body = { spec: { replicas: 2, selector: { app: 'rc' }, template: template({ app: 'rc' }) } };
    await work.create(replicationControllers, 'rc', body);
    await work.until(async () => (await owners()).length === 2);
    expect(await owners()).toEqual(['rc', 'rc']);
    release();
    await work.until(hasReplicas(100));
  });

  it('LIFE-260 keeps its number of pods in the same way', async () => {
    const body = { spec: { replicas: 2, selector: { app: 'rc' }, template: template({ app: 'rc' }) } };
    await work.create(replicationControllers, 'rc', body);
    await work.until(async () => (await work.get<Counted>(replicationControllers, 'rc'))!.status.replicas === 2);
    expect(await owners()).toEqual(['rc', 'rc']);
    const [event] = await work.list({ group: '', version: 'v1', resource: 'events' });
    expect(event).toMatchObject({ reason: 'SuccessfulCreate', source: { component: 'replication-controller' } });
    expect((await work.get<Counted>(replicationControllers, 'rc'))!.status).not.toHaveProperty('terminatingReplicas');
  });
});
