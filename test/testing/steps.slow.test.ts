import { expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';
import { dependent, owner, tree } from './tree.ts';

it('COL-102 COL-101 a paused cluster goes one write at a time, each state in between can be read, and settled() runs on', async () => {
  await using cluster = await startCluster({ objects: tree() });
  cluster.pause();
  await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
  expect(String(await cluster.step())).toContain('Secret default/dependent removed');
  expect(await cluster.client.find(dependent)).toBeUndefined();
  expect((await cluster.client.get(owner)).metadata?.finalizers).toEqual(['foregroundDeletion']);
  const [last] = (await cluster.step()).entries;
  expect(last).toMatchObject({ who: 'garbage-collector-controller', what: expect.stringMatching(/^removed/) });
  expect((await cluster.step()).entries).toEqual([]);
  expect(cluster.paused).toBe(true);

  await cluster.load(tree());
  await cluster.client.delete(owner);
  await cluster.step();
  await cluster.settled();
  expect(cluster.paused).toBe(false);
  expect(await cluster.client.find(dependent)).toBeUndefined();
});

it('a paused cluster can be stopped', async () => {
  const cluster = await startCluster({ objects: tree() });
  cluster.pause();
  await cluster.client.delete(owner);
  await expect(cluster.stop()).resolves.toBeUndefined();
});
