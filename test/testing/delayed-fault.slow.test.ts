import { describe, expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';
import { owner, tree } from './tree.ts';

describe('a request that a fault rule delays', () => {
  it('says after a second of real time that it waits for the fake clock', async () => {
    await using cluster = await startCluster({ objects: tree(), controllers: [] });
    cluster.faults.add({ match: { verb: 'get' }, times: 1, delay: 500 });
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve);
    });
    const asked = cluster.client.get(owner);
    expect((await warned).message).toMatch(
      /^GET \/api\/v1\/\S+ of test has waited for a second: .*cluster\.clock\.advance\(500\) lets it go on$/,
    );
    expect(String(cluster.trace().about(owner))).toContain('and the fake clock stands');
    await cluster.clock.advance(500);
    await asked;
  });
});
