import { describe, expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';

/** A story with chance in it: a fan of dependents, faults that strike by chance, retries. */
async function story(seed: number): Promise<string> {
  const names = Array.from({ length: 12 }, (_, index) => `d${index}`);
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', namespace: 'default' };
  await using cluster = await startCluster({
    seed,
    objects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'default' } },
      ...names.map((name) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'default', ownerReferences: [{ ...owner, uid: '' }] },
      })),
    ],
  });
  cluster.faults.add({ match: { verb: 'delete', resource: 'secrets' }, probability: 0.4, answer: { status: 500 } });
  await cluster.client.delete(owner);
  await cluster.settled({ advanceMs: 120_000 });
  const { entries } = cluster.trace();
  return JSON.stringify(entries);
}

describe('a seed', () => {
  it('gives the same history every time: the same uids, faults, retries, moments and order', async () => {
    const first = await story(7);
    expect(JSON.parse(first)).toContainEqual(expect.objectContaining({ kind: 'fault' }));
    expect(JSON.parse(first)).toContainEqual(expect.objectContaining({ kind: 'write', what: 'removed' }));
    expect(await story(7)).toBe(first);
    expect(await Promise.all([story(7), story(7)])).toEqual([first, first]);
  });

  it('gives another history than another seed', async () => {
    expect(await story(8)).not.toBe(await story(7));
  });
});
