import { afterEach, describe, expect, it } from 'vitest';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster | undefined;
afterEach(() => cluster?.stop());

const pod = (name: string, over: { annotations?: Record<string, string>; spec?: object } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...(over.annotations ? { annotations: over.annotations } : {}) },
  spec: { containers: [{ name: 'c', image: 'nginx' }], ...over.spec },
});
const ref = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name });

describe('simulators', () => {
  it('LIFE-530 LIFE-483 LIFE-200 registers a node that is ready and has room for pods, and its lease', async () => {
    cluster = await startCluster({ simulate: { nodes: 2 } });
    const nodes = await cluster.client.list({ apiVersion: 'v1', kind: 'Node' });
    expect(nodes.map(({ metadata }) => metadata?.name)).toEqual(['kubegc-0', 'kubegc-1']);
    expect(nodes[0]).toMatchObject({ status: { allocatable: { pods: '110k' } } });
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      namespace: 'kube-node-lease',
      name: 'kubegc-0',
    };
    expect(await cluster.client.get(lease)).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'kubegc-0', uid: nodes[0]?.metadata?.uid }] },
    });
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Node', name: 'kubegc-0' });
    await cluster.settled();
    expect((await cluster.client.list({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })).length).toBe(1);
  });

  it('LIFE-530 writes nothing while nothing changes', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [pod('p')] });
    const before = cluster.trace().entries.length;
    await cluster.clock.advance(3_600_000);
    expect(cluster.trace().entries.length).toBe(before);
  });

  it('LIFE-531 runs a pod at once, and lets a deleted one go at once', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [pod('p')] });
    expect(await cluster.client.get(ref('p'))).toMatchObject({
      spec: { nodeName: 'kubegc-0' },
      status: { phase: 'Running', hostIP: '192.0.2.1' },
    });
    await cluster.client.delete(ref('p'));
    await cluster.settled();
    expect(await cluster.client.list({ apiVersion: 'v1', kind: 'Pod' })).toEqual([]);
  });

  it('LIFE-531 gives a pod a node and no more in the mode schedule', async () => {
    cluster = await startCluster({ simulate: { pods: 'schedule' }, objects: [pod('p')] });
    expect(await cluster.client.get(ref('p'))).toMatchObject({
      spec: { nodeName: 'kubegc-0' },
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
  });

  it('LIFE-531 spreads pods over the nodes they fit on', async () => {
    const pinned = pod('pinned', { spec: { nodeSelector: { 'kubernetes.io/hostname': 'kubegc-1' } } });
    const nowhere = pod('nowhere', { spec: { nodeSelector: { disk: 'ssd' } } });
    cluster = await startCluster({ simulate: { pods: 'run', nodes: 2 }, objects: [pinned, nowhere] });
    expect(await cluster.client.get(ref('pinned'))).toMatchObject({ spec: { nodeName: 'kubegc-1' } });
    expect(await cluster.client.get(ref('nowhere'))).toMatchObject({
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    });
  });

  it('LIFE-531 ends a pod by its annotation, when its time has come', async () => {
    const once = pod('once', {
      annotations: { 'kubegc.io/sim-succeed-after': '10s' },
      spec: { restartPolicy: 'Never' },
    });
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [once] });
    expect(await cluster.client.get(ref('once'))).toMatchObject({ status: { phase: 'Running' } });
    await cluster.clock.advance(10_000);
    expect(await cluster.client.get(ref('once'))).toMatchObject({ status: { phase: 'Succeeded' } });
  });

  it('LIFE-532 does nothing to pods unless it is asked to', async () => {
    cluster = await startCluster({ objects: [pod('p')] });
    expect(await cluster.client.get(ref('p'))).toMatchObject({ status: { phase: 'Pending' } });
    expect(await cluster.client.list({ apiVersion: 'v1', kind: 'Node' })).toEqual([]);
  });

  it.each([
    [{ pods: 'on' }, "simulate.pods is 'schedule' or 'run', not 'on'"],
    [{ nodes: -1 }, 'simulate.nodes is a whole number from 0, not -1'],
  ])('refuses %j', async (simulate, message) => {
    await expect(startCluster({ simulate: simulate as never })).rejects.toThrow(message);
  });
});
