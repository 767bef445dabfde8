import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PodGcController } from '../../src/lifecycle/podgc/podgc-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const nodes = gvrOf('nodes');
const namespace = 'default';
const merge = 'application/merge-patch+json';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const run = (terminatedPodThreshold = 12_500) =>
  cluster.runShared((context) => new PodGcController({ ...context, terminatedPodThreshold }));
const pod = (name: string, nodeName: string) => ({
  metadata: { name },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
});
const fail = { type: merge, body: { status: { phase: 'Failed' } } } as const;
const makePod = async (name: string, nodeName: string) => {
  const { metadata } = await cluster.create({ gvr: pods, namespace }, pod(name, nodeName));
  await cluster.wait(cluster.client.patch({ gvr: pods, namespace, name, subresource: 'status' }, fail));
  return metadata?.uid;
};
/** Something happens after the controller has decided to delete a pod, and before its request arrives. */
const beforeDelete = (what: (name: string) => Promise<unknown>) => {
  const done = new Set<string>();
  cluster.fault = async (request, next) => {
    const name = /^DELETE .*\/pods\/([^?]+)/.exec(`${request.method} ${request.target}`)?.[1];
    if (name !== undefined && !done.has(name)) {
      done.add(name);
      await what(name);
    }
    return next(request);
  };
  return done;
};
const replace = async (name: string) => {
  await cluster.client.delete({ gvr: pods, namespace, name }, { gracePeriodSeconds: 0 });
  await cluster.client.create({ gvr: pods, namespace }, pod(name, 'here'));
};

describe('the deletion of a terminated pod', () => {
  it.each([
    ['of a node that is gone', 'gone', 12_500],
    ['beyond the threshold', 'here', 1],
  ])('LIFE-064 spares a pod that was made anew under its name meanwhile: one %s', async (_, nodeName, threshold) => {
    await cluster.create({ gvr: nodes }, { metadata: { name: 'here' } });
    const uid = await makePod('p', nodeName);
    const replaced = beforeDelete(replace);
    if (threshold === 1) await makePod('q', 'here');
    await run(threshold);
    await cluster.until(() => Promise.resolve(replaced.has('p')), { withinMs: 120_000, stepMs: 1000 });
    await cluster.clock.advanceAsync(120_000);
    const now = await cluster.get({ gvr: pods, namespace, name: 'p' });
    expect(now?.metadata?.uid).toBeDefined();
    expect(now?.metadata?.uid).not.toBe(uid);
    expect(now?.metadata?.deletionTimestamp).toBeUndefined();
  });

  it('LIFE-012 is done when somebody else was faster, and is no failure', async () => {
    await makePod('p', 'gone');
    const deleted = beforeDelete((name) =>
      cluster.client.delete({ gvr: pods, namespace, name }, { gracePeriodSeconds: 0 }),
    );
    await run();
    await cluster.until(() => Promise.resolve(deleted.has('p')), { withinMs: 120_000, stepMs: 1000 });
    await cluster.clock.advanceAsync(60_000);
    expect(cluster.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
    const labels = { controller: 'pod-garbage-collector-controller', resource: 'pods', reason: 'orphaned' };
    expect(cluster.metrics.value('kubegc_lifecycle_deletions_total', { ...labels, result: 'gone' })).toBe(1);
    expect(cluster.metrics.labels('kubegc_lifecycle_deletions_total')).toHaveLength(1);
  });
});
