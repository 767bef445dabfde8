import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { DaemonSetController } from '../../src/lifecycle/daemonset/daemonset-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import { controllerRevisions, daemonSets, merge, NAMESPACE, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;
const nodes = gvrOf('nodes');

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared((context) => new DaemonSetController(context));
});
afterEach(() => cluster.stop());

interface DaemonSet extends KubeObject {
  status: Record<string, number>;
}
const node = (name: string, more: { labels?: object; taints?: object[] } = {}) =>
  cluster.create(
    { gvr: nodes },
    {
      metadata: { name, ...(more.labels ? { labels: more.labels as Record<string, string> } : {}) },
      spec: more.taints ? { taints: more.taints } : {},
    },
  );
const create = (more: object = {}, podSpec: object = {}) =>
  work.create(daemonSets, 'agent', {
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: template({ app: 'agent' }, 'one', podSpec),
      ...more,
    },
  });
const statusOf = async () => (await work.get<DaemonSet>(daemonSets, 'agent'))!.status;
const desired = (count: number) => async () => {
  const status = await statusOf();
  return status['desiredNumberScheduled'] === count && status['currentNumberScheduled'] === count;
};
const available = (count: number) => async () => {
  const status = await statusOf();
  return status['numberAvailable'] === count && status['updatedNumberScheduled'] === count && (await desired(count)());
};
const targets = async () =>
  (await work.pods())
    .map((pod) => JSON.stringify((pod['spec'] as { affinity: object }).affinity).match(/"values":\["([^"]+)"\]/)?.[1])
    .toSorted();

describe('a DaemonSet', () => {
  it('LIFE-641 has one pod for every node that fits, tied to it, tolerating what daemons tolerate', async () => {
    await node('one', { labels: { disk: 'fast' } });
    await node('two');
    await node('three', { labels: { disk: 'fast' }, taints: [{ key: 'k', effect: 'NoSchedule' }] });
    await create({}, { nodeSelector: { disk: 'fast' } });
    await work.until(desired(1));
    expect(await targets()).toEqual(['one']);
    const [pod] = await work.pods();
    expect(pod!.metadata).toMatchObject({
      generateName: 'agent-',
      ownerReferences: [{ kind: 'DaemonSet', controller: true }],
    });
    const tolerations = (pod!['spec'] as { tolerations: { key: string; effect: string }[] }).tolerations;
    expect(tolerations.map(({ key, effect }) => `${key}:${effect}`)).toEqual(
      expect.arrayContaining([
        'node.kubernetes.io/not-ready:NoExecute',
        'node.kubernetes.io/unreachable:NoExecute',
        'node.kubernetes.io/disk-pressure:NoSchedule',
        'node.kubernetes.io/memory-pressure:NoSchedule',
        'node.kubernetes.io/pid-pressure:NoSchedule',
        'node.kubernetes.io/unschedulable:NoSchedule',
      ]),
    );
    await cluster.wait(
      cluster.client.patch(
        { gvr: nodes, name: 'two' },
        { type: merge, body: { metadata: { labels: { disk: 'fast' } } } },
      ),
    );
    await work.until(desired(2));
    expect(await targets()).toEqual(['one', 'two']);
    await cluster.wait(
      cluster.client.patch(
        { gvr: nodes, name: 'one' },
        { type: merge, body: { metadata: { labels: { disk: null } } } },
      ),
    );
    await work.until(desired(1));
    await work.until(async () => (await targets()).length === 1);
    expect(await targets()).toEqual(['two']);
  });

  it('LIFE-641 replaces a failed pod, at once and then ever later, and says so', async () => {
    await node('one');
    await create();
    await work.until(desired(1));
    for (let round = 0; round < 5; round++) {
      const [pod] = await work.pods();
      const name = pod!.metadata!.name!;
      const ref = { gvr: pods, namespace: NAMESPACE, name, subresource: 'status' };
      await cluster.wait(cluster.client.patch(ref, { type: merge, body: { status: { phase: 'Failed' } } }));
      const waited = await work.until(async () => (await work.get(pods, name)) === undefined);
      expect(waited).toBeLessThanOrEqual(round === 0 ? 50 : 2 ** round * 1000);
      await work.until(async () => (await work.pods()).length === 1);
    }
    const told = (await work.eventsOf('agent')).filter((event) => event.includes('FailedDaemonPod'));
    expect(told).toHaveLength(5);
    expect(told[0]).toMatch(
      /^Warning FailedDaemonPod Found failed daemon pod default\/agent-\w+ on node one, will try to kill it$/,
    );
  });

  it('LIFE-642 an unscheduled pod whose node is gone goes with the next sync', async () => {
    await node('one');
    await node('two');
    await create();
    await work.until(desired(2));
    await cluster.wait(cluster.client.delete({ gvr: nodes, name: 'two' }));
    await work.patch(daemonSets, 'agent', { metadata: { annotations: { look: 'now' } } });
    await work.until(desired(1));
    await work.until(async () => (await targets()).length === 1);
  });

  it('LIFE-600 LIFE-601 rolls one node after the other, and keeps the history it is asked for', async () => {
    for (const name of ['a', 'b', 'c']) await node(name);
    await create({ revisionHistoryLimit: 1 });
    await work.until(available(3), { ready: true });
    for (const image of ['two', 'three', 'four']) {
      let least = 3;
      await work.patch(daemonSets, 'agent', { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
      await work.until(
        async () => {
          const running = (await work.pods()).filter((pod) => (pod['status'] as { phase: string }).phase === 'Running');
          least = Math.min(least, running.length);
          return (
            (await available(3)()) &&
            (await statusOf())['observedGeneration'] === (await work.get(daemonSets, 'agent'))!.metadata!.generation
          );
        },
        { ready: true },
      );
      expect(least).toBeGreaterThanOrEqual(2);
    }
    await work.until(async () => (await work.list(controllerRevisions)).length === 2);
    expect((await work.list(controllerRevisions)).map((each) => each['revision']).toSorted()).toEqual([3, 4]);
  });

  it('LIFE-640 does nothing while it is terminating', async () => {
    await node('one');
    await create();
    await work.until(desired(1));
    await work.delete(daemonSets, 'agent', { propagationPolicy: 'Foreground' });
    await work.delete(pods, (await work.pods())[0]!.metadata!.name!);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(10_000);
    expect(cluster.requests).toEqual([]);
    expect(await work.pods()).toEqual([]);
  });
});
