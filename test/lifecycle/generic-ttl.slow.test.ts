import { afterEach, beforeEach, expect, it } from 'vitest';
import { GenericTtlController } from '../../src/lifecycle/generic-ttl/generic-ttl-controller.ts';
import { answer, configMaps, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';

const namespace = 'default';
const HOUR = 3_600_000;
const merge = 'application/merge-patch+json';
const ttl = (text: string) => ({ annotations: { 'kubegc.io/ttl': text } });
let cluster: EmbeddedCluster;
/** The bodies of DELETE requests. */
let deletions: Record<string, unknown>[];

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  deletions = [];
  cluster.fault = (request, next) => {
    if (request.method === 'DELETE') deletions.push(JSON.parse(Buffer.from(request.body ?? []).toString()) as never);
    return next(request);
  };
});
afterEach(() => cluster.stop());

const run = (...alsoKinds: string[]) =>
  cluster.run((environment) => new GenericTtlController({ ...environment, alsoKinds }));
const configMap = (name: string, metadata: object = {}) =>
  cluster.create({ gvr: configMaps, namespace }, { metadata: { name, ...metadata } });
const isLeaving = (ref: Parameters<EmbeddedCluster['get']>[0]) => async () => {
  const found = await cluster.get(ref);
  return found === undefined || found.metadata?.deletionTimestamp !== undefined;
};

it('LIFE-090 an object is deleted in the foreground at the end of its time, with uid and version as preconditions', async () => {
  await configMap('short', ttl('20m'));
  await configMap('long', ttl('99h'));
  await configMap('none');
  await configMap('unreadable', ttl('soon'));
  await run();
  const short = { gvr: configMaps, namespace, name: 'short' };
  const { uid, resourceVersion } = (await cluster.get(short))?.metadata ?? {};
  await cluster.clock.advanceAsync(HOUR / 3 - 60_000);
  expect(await isLeaving(short)()).toBe(false);
  await cluster.until(isLeaving(short), { withinMs: HOUR, stepMs: 10_000 });
  expect(deletions).toMatchObject([{ propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } }]);
  await cluster.clock.advanceAsync(HOUR / 4);
  for (const name of ['long', 'none', 'unreadable'])
    expect(await isLeaving({ gvr: configMaps, namespace, name })()).toBe(false);
  expect(cluster.logger.lines.filter(({ message }) => message.startsWith('a TTL is ignored'))).toHaveLength(1);
});

it('LIFE-090 the time after a condition runs from its last transition', async () => {
  const annotations = { 'kubegc.io/ttl-after-condition': 'Done=True,10m' };
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await cluster.create({ gvr: pods, namespace }, { metadata: { name: 'p', annotations }, spec });
  await run();
  await cluster.clock.advanceAsync(HOUR / 4);
  const ref = { gvr: pods, namespace, name: 'p' };
  expect(await isLeaving(ref)()).toBe(false);
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace(/\.\d+/, '');
  const body = { status: { conditions: [{ type: 'Done', status: 'True', lastTransitionTime }] } };
  await cluster.wait(cluster.client.patch({ ...ref, subresource: 'status' }, { type: merge, body }));
  const waited = await cluster.until(isLeaving(ref), { withinMs: HOUR, stepMs: 1000 });
  expect(waited).toBeGreaterThanOrEqual(598_000);
  expect(waited).toBeLessThanOrEqual(602_000);
});

it.each([[[]], [['namespaces']]])('LIFE-090 a namespace has a TTL only when its kind is listed: %j', async (listed) => {
  await cluster.create({ gvr: namespaces }, { metadata: { name: 'temporary', ...ttl('1m') } });
  await cluster.create(
    { gvr: gvrOf('persistentvolumeclaims'), namespace },
    {
      metadata: { name: 'c', ...ttl('1m') },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  );
  await run(...listed);
  await cluster.clock.advanceAsync(HOUR / 12);
  await cluster.clock.settle();
  expect(await isLeaving({ gvr: namespaces, name: 'temporary' })()).toBe(listed.length > 0);
  expect(await isLeaving({ gvr: gvrOf('persistentvolumeclaims'), namespace, name: 'c' })()).toBe(false);
});

/** Keys of the controller that wait for their time. */
const delayedKeys = () =>
  cluster.metrics.value('kubegc_lifecycle_delayed_keys', { name: 'generic_ttl', reason: 'later' });
/** Answers discovery of the core group with these versions. */
const discoverCore = (...items: readonly object[]) => {
  cluster.fault = (request, next) =>
    request.target === '/api'
      ? Promise.resolve({
          ...answer(200, { items }),
          headers: { 'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
        })
      : next(request);
};

it('LIFE-090 an object is read when its time is over, and not before', async () => {
  await configMap('short', ttl('20m'));
  await run();
  const reads = () =>
    cluster.requests.filter((request) => request === `GET /api/v1/namespaces/${namespace}/configmaps/short`);
  await cluster.clock.advanceAsync(HOUR / 4);
  expect(delayedKeys()).toBe(1);
  expect(reads()).toEqual([]);
  await cluster.until(isLeaving({ gvr: configMaps, namespace, name: 'short' }), { withinMs: HOUR, stepMs: 10_000 });
  expect(reads().length).toBeGreaterThan(0);
});

it('LIFE-090 nothing waits for the time of an object that is deleted before', async () => {
  await configMap('short', ttl('20m'));
  await run();
  await cluster.clock.advanceAsync(60_000);
  expect(delayedKeys()).toBe(1);
  await cluster.wait(cluster.client.delete({ gvr: configMaps, namespace, name: 'short' }));
  await cluster.clock.advanceAsync(60_000);
  expect(delayedKeys()).toBe(0);
});

it('LIFE-090 an object whose kind is no longer served is not requested', async () => {
  await configMap('short', ttl('20m'));
  await run();
  await cluster.clock.advanceAsync(60_000);
  discoverCore();
  await cluster.clock.advanceAsync(60_000);
  cluster.requests.length = 0;
  await cluster.clock.advanceAsync(HOUR);
  expect(cluster.requests.filter((request) => request.includes('configmaps'))).toEqual([]);
});

it('LIFE-090 the kinds of the core group are watched on while their discovery fails', async () => {
  await run();
  await cluster.clock.advanceAsync(60_000);
  discoverCore({ metadata: { name: '' }, versions: [{ version: 'v1', freshness: 'Stale', resources: [] }] });
  await cluster.clock.advanceAsync(60_000);
  await configMap('short', ttl('1m'));
  await cluster.until(isLeaving({ gvr: configMaps, namespace, name: 'short' }), { withinMs: HOUR, stepMs: 10_000 });
});
