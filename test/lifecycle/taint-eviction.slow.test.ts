import { afterEach, describe, expect, it } from 'vitest';
import { type KubeObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster;
afterEach(() => cluster.stop());

const pod = (name: string, tolerations: object[] = []) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }], tolerations, terminationGracePeriodSeconds: 0 },
});
const node = { apiVersion: 'v1', kind: 'Node', name: 'kubegc-0' };
const names = async () =>
  (await cluster.client.list({ apiVersion: 'v1', kind: 'Pod' })).map(({ metadata }) => metadata?.name);
const events = async () =>
  (await cluster.client.list<KubeObject & { message: string; reason: string }>({ apiVersion: 'v1', kind: 'Event' }))
    .filter(({ reason }) => reason === 'TaintManagerEviction')
    .map(({ message }) => message);

describe('taint-eviction-controller', () => {
  it('LIFE-182 evicts what does not tolerate a taint, at once or when its time is over', async () => {
    const tolerations = (tolerationSeconds?: number) => [
      {
        key: 'k',
        operator: 'Exists',
        effect: 'NoExecute',
        ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
      },
    ];
    cluster = await startCluster({
      simulate: { pods: 'run' },
      objects: [pod('none'), pod('while', tolerations(60)), pod('ever', tolerations())],
    });
    await cluster.client.patch(node, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
    await cluster.settled();
    expect(await names()).toEqual(['ever', 'while']);
    await cluster.clock.advance(59_000);
    expect(await names()).toEqual(['ever', 'while']);
    await cluster.clock.advance(2000);
    expect(await names()).toEqual(['ever']);
    expect(await events()).toEqual(['Marking for deletion Pod default/none', 'Marking for deletion Pod default/while']);
  });

  it('LIFE-182 cancels an eviction when the taint goes', async () => {
    cluster = await startCluster({
      simulate: { pods: 'run' },
      objects: [pod('p', [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }])],
    });
    await cluster.client.patch(node, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
    await cluster.clock.advance(30_000);
    await cluster.client.patch(node, { spec: { taints: null } });
    await cluster.clock.advance(120_000);
    expect(await names()).toEqual(['p']);
    expect(await events()).toEqual(['Cancelling deletion of Pod default/p']);
  });
});
