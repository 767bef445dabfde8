import { afterEach, beforeEach, expect, it } from 'vitest';
import { TtlController } from '../../src/lifecycle/ttl-after-finished/ttl-controller.ts';
import { EmbeddedCluster, pods } from './embedded-cluster.ts';

const namespace = 'default';
const annotations = { 'pod.kubegc.io/ttl-after-finished': '60' };
const merge = 'application/merge-patch+json';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.runShared((context) => new TtlController({ ...context, of: 'pods' }));
});
afterEach(() => cluster.stop());

const pod = (name: string, metadata: object = {}) =>
  cluster.create(
    { gvr: pods, namespace },
    { metadata: { name, annotations, ...metadata }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  );
const finish = (name: string) =>
  cluster.wait(
    cluster.client.patch(
      { gvr: pods, namespace, name, subresource: 'status' },
      { type: merge, body: { status: { phase: 'Succeeded' } } },
    ),
  );
const isGone = (name: string) => async () => (await cluster.get({ gvr: pods, namespace, name })) === undefined;

it('LIFE-067 a bare pod goes when it is finished for its time; others stay', async () => {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true };
  await pod('bare');
  await pod('of-a-job', { ownerReferences: [owner] });
  await pod('running');
  for (const name of ['bare', 'of-a-job']) await finish(name);
  await cluster.until(isGone('bare'), { withinMs: 120_000 });
  await cluster.clock.advanceAsync(600_000);
  expect(await cluster.names({ gvr: pods, namespace })).toEqual(['of-a-job', 'running']);
});

it('LIFE-067 a pod whose annotation was taken away meanwhile stays, although the cache still has it', async () => {
  await pod('bare');
  let raced = false;
  cluster.fault = async (request, next) => {
    if (request.method === 'DELETE' && !raced) {
      raced = true;
      const body = { metadata: { annotations: null } };
      await cluster.client.patch({ gvr: pods, namespace, name: 'bare' }, { type: merge, body });
    }
    return next(request);
  };
  await finish('bare');
  await cluster.clock.advanceAsync(600_000);
  expect(raced).toBe(true);
  expect(await cluster.names({ gvr: pods, namespace })).toEqual(['bare']);
});
