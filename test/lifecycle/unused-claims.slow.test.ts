import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Condition } from '../../src/api/meta/conditions.ts';
import { UnusedClaimsController } from '../../src/lifecycle/unused-claims/unused-claims-controller.ts';
import { answer, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const claims = gvrOf('persistentvolumeclaims');
const classes = gvrOf('storageclasses', 'storage.k8s.io');
const namespace = 'default';
const HOUR = 3_600_000;
const after = (time: string) => ({ annotations: { 'kubegc.io/delete-unused-after': time } });
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const run = (mode: 'report' | 'delete') =>
  cluster.runShared((context) => new UnusedClaimsController({ ...context, mode }));
const claim = (name: string, metadata: object = {}, storageClassName = '') => {
  const spec = { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return cluster.create({ gvr: claims, namespace }, { metadata: { name, ...metadata }, spec });
};
const pod = (name: string, claimName: string) => {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName } }];
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes };
  return cluster.create({ gvr: pods, namespace }, { metadata: { name }, spec });
};
const get = (name: string) => cluster.get({ gvr: claims, namespace, name });
const conditionOf = async (name: string) =>
  ((await get(name))?.['status'] as { conditions?: Condition[] } | undefined)?.conditions?.find(
    ({ type }) => type === 'Unused',
  );
const isUnused = (name: string, status: string) => async () => (await conditionOf(name))?.status === status;
/** Its finalizer may keep it, because nobody serves the protection here. */
const isDeleted = (name: string) => async () => {
  const found = await get(name);
  return found === undefined || found.metadata?.deletionTimestamp !== undefined;
};
const phase = (name: string, to: string) =>
  cluster.wait(
    cluster.client.patch(
      { gvr: pods, namespace, name, subresource: 'status' },
      { type: 'application/merge-patch+json', body: { status: { phase: to } } },
    ),
  );

it('LIFE-156 the condition Unused follows the pods that name a claim, on a node or not, until they finish', async () => {
  await claim('c', after('0s'));
  await run('report');
  await cluster.until(isUnused('c', 'True'));
  await pod('one', 'c');
  await pod('two', 'c');
  await cluster.until(isUnused('c', 'False'));
  expect(await conditionOf('c')).toMatchObject({
    reason: 'PodUsingPVC',
    message: 'A pod is currently referencing this PVC',
  });
  await phase('one', 'Succeeded');
  await cluster.clock.advanceAsync(10_000);
  expect((await conditionOf('c'))?.status).toBe('False');
  await cluster.wait(cluster.client.delete({ gvr: pods, namespace, name: 'two' }));
  await cluster.until(isUnused('c', 'True'));
  cluster.requests.length = 0;
  await cluster.clock.advanceAsync(HOUR);
  expect(cluster.requests).toEqual([]);
});

it('LIFE-823 an unused claim is deleted after the time of its class or its own; a protected or used one stays', async () => {
  await cluster.create({ gvr: classes }, { metadata: { name: 'short', ...after('2h') }, provisioner: 'example.com/p' });
  await claim('by-class', {}, 'short');
  await claim('own', after('1h'), 'short');
  await claim('kept', after('never'), 'short');
  await claim('protected', { annotations: { ...after('1h').annotations, 'kubegc.io/protect': 'holds orders' } });
  await claim('used', after('1h'));
  await pod('p', 'used');
  await run('delete');
  await cluster.until(isUnused('by-class', 'True'));
  await cluster.clock.advanceAsync(HOUR - 60_000);
  expect(await isDeleted('own')()).toBe(false);
  await cluster.until(isDeleted('own'), { withinMs: 2 * HOUR, stepMs: 60_000 });
  expect(await isDeleted('by-class')()).toBe(false);
  await cluster.until(isDeleted('by-class'), { withinMs: 2 * HOUR, stepMs: 60_000 });
  await cluster.clock.advanceAsync(24 * HOUR);
  for (const name of ['kept', 'protected', 'used']) expect(await isDeleted(name)()).toBe(false);
});

it('LIFE-823 a claim stays when a pod that the cache lacks names it', async () => {
  await claim('c', after('1h'));
  let lists = 0;
  cluster.fault = async (request, next) => {
    const live = request.target === `/api/v1/namespaces/${namespace}/pods`;
    if (live && lists++ === 0) {
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
      const spec = { containers: [{ name: 'c', image: 'i' }], volumes };
      await cluster.client.create({ gvr: pods, namespace }, { metadata: { name: 'late' }, spec });
    }
    return next(request);
  };
  await run('delete');
  await cluster.until(() => Promise.resolve(lists > 0), { withinMs: 2 * HOUR, stepMs: 60_000 });
  await cluster.clock.advanceAsync(2 * HOUR);
  expect(await isDeleted('c')()).toBe(false);
  expect((await conditionOf('c'))?.status).toBe('False');
});

it('LIFE-823 a claim stays when its class no longer states a time, and the cache does not know it yet', async () => {
  await cluster.create({ gvr: classes }, { metadata: { name: 'short', ...after('1h') }, provisioner: 'example.com/p' });
  await claim('c', {}, 'short');
  let reads = 0;
  cluster.fault = async (request, next) => {
    const live = request.target === `/api/v1/namespaces/${namespace}/persistentvolumeclaims/c`;
    if (live && request.method === 'GET' && reads++ === 0) {
      const body = { metadata: { annotations: { 'kubegc.io/delete-unused-after': null } } };
      await cluster.client.patch({ gvr: classes, name: 'short' }, { type: 'application/merge-patch+json', body });
    }
    return next(request);
  };
  await run('delete');
  await cluster.until(() => Promise.resolve(reads > 0), { withinMs: 2 * HOUR, stepMs: 60_000 });
  await cluster.clock.advanceAsync(2 * HOUR);
  expect(await isDeleted('c')()).toBe(false);
});

it('LIFE-823 a claim stays when its class is deleted, and the cache does not know it yet', async () => {
  await cluster.create({ gvr: classes }, { metadata: { name: 'short', ...after('1h') }, provisioner: 'example.com/p' });
  await claim('c', {}, 'short');
  let reads = 0;
  cluster.fault = async (request, next) => {
    const live = request.target === `/api/v1/namespaces/${namespace}/persistentvolumeclaims/c`;
    if (live && request.method === 'GET' && reads++ === 0) await cluster.client.delete({ gvr: classes, name: 'short' });
    return next(request);
  };
  await run('delete');
  await cluster.until(() => Promise.resolve(reads > 0), { withinMs: 2 * HOUR, stepMs: 60_000 });
  await cluster.clock.advanceAsync(2 * HOUR);
  expect(await isDeleted('c')()).toBe(false);
});

it('LIFE-823 a claim is deleted although only a live read showed its last pod, whose events a relist swallowed', async () => {
  let shown = 0;
  cluster.fault = (request, next) => {
    if (request.target !== '/api/v1/namespaces/default/pods' || shown++ > 0) return next(request);
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const items = [{ metadata: { name: 'brief', namespace }, spec: { containers: [], volumes }, status: {} }];
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
    return Promise.resolve(answer(200, list));
  };
  await claim('c', after('1h'));
  await run('delete');
  await cluster.until(isDeleted('c'), { withinMs: 2 * HOUR, stepMs: 1000 });
  expect(shown).toBe(2);
});
