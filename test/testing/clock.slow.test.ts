import { describe, expect, it, vi } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';
import { dependent, owner, tree } from './tree.ts';

describe('the clock of a cluster', () => {
  it.each(['fake', 'real'] as const)('is not that of a test which replaces its timers (%s)', async (clock) => {
    vi.useFakeTimers();
    try {
      await using cluster = await startCluster({ clock, objects: tree() });
      await cluster.client.delete(owner);
      await cluster.settled();
      expect(await cluster.client.find(dependent)).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('shows the time of the machine when it is real, whatever a test sets as the date of its process', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(0);
      await using cluster = await startCluster({ clock: 'real', controllers: [] });
      const created = await cluster.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'now' } });
      expect(Date.parse(created.metadata.creationTimestamp ?? '')).toBeGreaterThan(Date.UTC(2020));
    } finally {
      vi.useRealTimers();
    }
  });

  it('stands still until it is advanced, whatever happens', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const before = cluster.clock.now();
    await cluster.client.delete(owner);
    await cluster.settled();
    expect(cluster.clock.now()).toBe(before);
    await cluster.clock.advance(90_000);
    expect(cluster.clock.now()).toBe(before + 90_000);
    expect(cluster.clock.nextTimerInMs).toBeGreaterThan(0);
  });

  it('shows a retry as waiting, and makes it when its time has come', async () => {
    await using cluster = await startCluster({ objects: tree() });
    cluster.faults.add({ match: { verb: 'delete', name: 'dependent' }, times: 1, answer: { status: 503 } });
    await cluster.client.delete(owner);
    expect((await cluster.settled()).waiting).toEqual(['the collector will try something again']);
    expect(await cluster.client.find(dependent)).toBeDefined();
    await cluster.clock.advance(1000);
    expect(await cluster.settled()).toEqual({ waiting: [] });
    expect(await cluster.client.find(dependent)).toBeUndefined();
  });

  it('passes as far as settled() is allowed to let it', async () => {
    await using cluster = await startCluster({ objects: tree() });
    // The reads of discovery that the first lists cause.
    await cluster.clock.advance(1000);
    const before = cluster.clock.now();
    cluster.faults.add({ match: { verb: 'delete', name: 'dependent' }, delay: 400 });
    await cluster.client.delete(owner);
    expect((await cluster.settled({ advanceMs: 100 })).waiting).not.toEqual([]);
    expect(cluster.clock.now()).toBe(before);
    expect(await cluster.settled({ advanceMs: 60_000 })).toEqual({ waiting: [] });
    expect(cluster.clock.now()).toBe(before + 400);
    expect(await cluster.client.find(dependent)).toBeUndefined();
  });

  it('does not go back, and does not move when it is real', async () => {
    await using fake = await startCluster({ controllers: [] });
    await expect(fake.clock.advance(-1)).rejects.toThrow('time goes forward');
    await using real = await startCluster({ clock: 'real', controllers: [] });
    await expect(real.clock.advance(1)).rejects.toThrow("start it with clock: 'fake'");
  });
});
