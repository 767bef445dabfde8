import { describe, expect, it } from 'vitest';
import { assertCollected, type KubeObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

const finalizer = 'example.com/cleanup';
const team = { apiVersion: 'v1', kind: 'Namespace', name: 'team' };
const inside = { apiVersion: 'v1', kind: 'ConfigMap', name: 'inside', namespace: 'team' };
const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'few', namespace: 'default' },
  spec: { hard: { configmaps: '9' } },
};
const look = /^queue namespace: 1 delayed, next look in \d+ ms$/;

function content(finalizers: readonly string[] = []): KubeObject[] {
  const { apiVersion, kind, name, namespace } = inside;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
    { apiVersion, kind, metadata: { name, namespace, finalizers: [...finalizers] } },
  ];
}

/** A namespace that is being deleted, and waits for a finalizer in it. */
async function withBlockedNamespace(clock: 'fake' | 'real'): Promise<TestCluster> {
  const cluster = await startCluster({ clock, objects: content([finalizer]) });
  await cluster.client.delete(team);
  return cluster;
}

describe('an object that a controller processes again later', () => {
  it.each(['fake', 'real'] as const)(
    'LIFE-444 is in the answer, and settled() lets time pass for it (%s clock)',
    async (clock) => {
      await using cluster = await withBlockedNamespace(clock);
      expect(await cluster.settled()).toEqual({ waiting: [expect.stringMatching(look)] });
      await cluster.client.removeFinalizer(inside, finalizer);
      expect(await cluster.settled({ advanceMs: 60_000, timeoutMs: 30_000 })).toEqual({ waiting: [] });
      expect(await cluster.client.find(team)).toBeUndefined();
    },
  );

  it('LIFE-444 takes no time by itself, and no more than it is given, however often it is processed', async () => {
    await using cluster = await withBlockedNamespace('fake');
    const before = cluster.clock.now();
    expect(await cluster.settled()).toEqual({ waiting: ['queue namespace: 1 delayed, next look in 250 ms'] });
    expect(await cluster.settled({ advanceMs: 249 })).toMatchObject({ waiting: [expect.stringMatching(look)] });
    expect(cluster.clock.now()).toBeLessThan(before + 250);
    expect(await cluster.settled({ advanceMs: 60_000 })).toEqual({ waiting: [expect.stringMatching(look)] });
    expect(cluster.clock.now()).toBeLessThanOrEqual(before + 60_249);
    expect(cluster.clock.now()).toBeGreaterThan(before + 50_000);
    expect(await cluster.client.find(team)).toBeDefined();
  });

  it('ends at the time-out with the fake clock, with an error, while more time is left than can pass until then', async () => {
    await using cluster = await withBlockedNamespace('fake');
    const error: unknown = await cluster
      .settled({ advanceMs: 1e12, timeoutMs: 200 })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'NotSettledError',
      pending: expect.arrayContaining([expect.stringContaining('queue namespace')]),
    });
  });

  it('ends at the time-out with the real clock, not with an error, when nobody finishes it', async () => {
    await using cluster = await withBlockedNamespace('real');
    expect(await cluster.settled({ advanceMs: 60_000, timeoutMs: 2000 })).toEqual({
      waiting: [expect.stringMatching(look)],
    });
  });

  it.each([
    { clock: 'fake', hint: /next look in 250 ms \(the next timer is due in \d+ ms: cluster\.clock\.advance\)/ },
    { clock: 'real', hint: /next look in \d+ ms \(cluster\.settled\(\{ advanceMs \}\) waits for it\)/ },
  ] as const)('stands in the message of a matcher ($clock clock)', async ({ clock, hint }) => {
    await using cluster = await withBlockedNamespace(clock);
    await expect(assertCollected(cluster, team)).rejects.toThrow(hint);
  });

  it('API-361 is a quota too, which is counted again after it was charged', async () => {
    await using cluster = await startCluster({ objects: [quota] });
    await cluster.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'charged' } });
    expect(await cluster.settled()).toEqual({ waiting: ['queue resourcequota: 1 delayed, next look in 2000 ms'] });
    expect(await cluster.settled({ advanceMs: 60_000 })).toEqual({ waiting: [] });
  });
});

it.each([
  [{ advanceMs: Number.NaN }, 'advanceMs is a finite number from 0, not NaN'],
  [{ advanceMs: Number.POSITIVE_INFINITY }, 'advanceMs is a finite number from 0, not Infinity'],
  [{ advanceMs: -1 }, 'advanceMs is a finite number from 0, not -1'],
  [{ advanceMs: '60' }, 'advanceMs is a finite number from 0, not 60'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs is a number from 0, not NaN'],
  [{ timeoutMs: null }, 'timeoutMs is a number from 0, not null'],
  [60_000, 'settled takes an object, not 60000'],
  [{ idle: true }, 'idle is a function that answers true or false, not true'],
  [{ idle: async () => false }, 'idle answers true or false, not a Promise: it is asked again until it says true'],
  [{ idle: () => undefined }, 'idle answers true or false, not undefined: it is asked again until it says true'],
  [{ advance: 60 }, 'settled has no "advance"; there are: timeoutMs, idle, advanceMs'],
])('settled(%o) is refused', async (options, message) => {
  await using cluster = await startCluster({ controllers: [] });
  await expect(cluster.settled(options as { advanceMs: number })).rejects.toThrow(
    expect.objectContaining({ name: 'TypeError', message }),
  );
});

it('a repeated action without end, such as a resync, is not waited for', async () => {
  await using cluster = await startCluster({ objects: [quota, ...content()] });
  await cluster.clock.advance(20 * 60_000);
  const before = cluster.clock.now();
  expect(await cluster.settled({ advanceMs: 60_000 })).toEqual({ waiting: [] });
  expect(cluster.clock.now()).toBe(before);
});

describe('what a controller failed to do', () => {
  it('LIFE-003 is in the answer after a fault rule struck, and is tried again when time passes', async () => {
    await using cluster = await startCluster({ objects: content() });
    cluster.faults.add({ match: { who: 'namespace-controller', method: 'DELETE' }, times: 3, answer: { status: 503 } });
    const before = cluster.clock.now();
    await cluster.client.delete(team);
    expect(await cluster.settled()).toEqual({ waiting: ['queue namespace: 1 failed, next try in 5 ms'] });
    expect(cluster.clock.now()).toBe(before);
    expect(await cluster.settled({ advanceMs: 60_000 })).toEqual({ waiting: [] });
    expect(await cluster.client.find(team)).toBeUndefined();
  });

  it('LIFE-003 is waited for with the real clock', async () => {
    await using cluster = await startCluster({ clock: 'real', objects: content() });
    cluster.faults.add({ match: { who: 'namespace-controller', method: 'DELETE' }, times: 3, answer: { status: 503 } });
    await cluster.client.delete(team);
    expect(await cluster.settled()).toEqual({ waiting: [] });
    expect(await cluster.client.find(team)).toBeUndefined();
  });

  it('LIFE-003 is named by the error when it never comes right', async () => {
    await using cluster = await startCluster({ clock: 'real', objects: content() });
    cluster.faults.add({ match: { who: 'namespace-controller', method: 'DELETE' }, answer: { status: 503 } });
    await cluster.client.delete(team);
    const error: unknown = await cluster.settled({ timeoutMs: 300 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'NotSettledError',
      pending: expect.arrayContaining([
        expect.stringMatching(/^queue namespace: 1 failed|^queue namespace: \d+ ready/),
      ]),
    });
  });

  it('API-361 is tried again by itself after a conflict; a repeated check of the others draws no time from that', async () => {
    await using cluster = await startCluster({ objects: [quota, ...content([finalizer])] });
    await cluster.settled({ advanceMs: 60_000 });
    const rival = cluster.clientAs('rival');
    let writes = 0;
    cluster.faults.add({
      match: ({ who, resource, subresource }) => {
        const isStatus =
          who === 'resourcequota-controller' && resource === 'resourcequotas' && subresource === 'status';
        if (isStatus && writes++ === 0) void rival.patch(quota, { metadata: { labels: { by: 'rival' } } });
        return false;
      },
      drop: 'request',
    });
    await cluster.client.delete(team);
    const before = cluster.clock.now();
    await cluster.client.patch(quota, { spec: { hard: { configmaps: '8' } } });
    const { waiting } = await cluster.settled();
    expect(writes).toBe(2);
    expect(cluster.clock.now()).toBe(before + 5);
    expect(waiting.toSorted()).toEqual([
      'queue namespace: 1 delayed, next look in 245 ms',
      'queue resourcequota: 1 delayed, next look in 2000 ms',
    ]);
  });
});
