import { expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';

const ROUNDS = 40;
const set = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    serviceName: 'db',
    replicas: 3,
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'one' }] },
    },
  },
};

it('LIFE-616 a StatefulSet that is orphaned and made again keeps its pods, however soon', async () => {
  await using cluster = await startCluster({ simulate: { pods: 'run' } });
  const uids = async () =>
    (await cluster.client.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'default' }))
      .map(({ metadata }) => metadata?.uid)
      .toSorted();
  await cluster.client.create(set);
  await cluster.settled({ advanceMs: 10_000 });
  const before = await uids();
  expect(before).toHaveLength(3);
  for (let round = 0; round < ROUNDS; round++) {
    await cluster.client.delete(set, { propagationPolicy: 'Orphan' });
    await cluster.clock.advance(round % 101);
    while ((await cluster.client.find(set)) !== undefined) await cluster.clock.advance(1);
    await cluster.client.create(set);
    await cluster.clock.advance(round % 7);
  }
  await cluster.settled({ advanceMs: 10_000 });
  expect(await uids()).toEqual(before);
}, 60_000);
