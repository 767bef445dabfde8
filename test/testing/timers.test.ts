import { describe, expect, it, vi } from 'vitest';
import { startCluster, type TestClock } from '../../src/testing/testing.ts';

const start = (clock: 'fake' | 'real' = 'fake') => startCluster({ clock, controllers: [] });

describe('timers on the clock of a cluster', () => {
  it('come due when time passes, in order, and are seen by settled()', async () => {
    await using cluster = await start();
    const due: number[] = [];
    for (const ms of [500, 100, 300]) cluster.clock.setTimeout(() => void due.push(ms), ms);
    expect(await cluster.settled()).toEqual({ waiting: ['3 timers of cluster.clock, the first due in 100 ms'] });
    await cluster.clock.advance(300);
    expect(due).toEqual([100, 300]);
    expect(await cluster.settled()).toEqual({ waiting: ['1 timer of cluster.clock, due in 200 ms'] });
    expect(await cluster.settled({ advanceMs: 1000 })).toEqual({ waiting: [] });
    expect(due).toEqual([100, 300, 500]);
  });

  it('can be taken back', async () => {
    await using cluster = await start();
    const fn = vi.fn<() => void>();
    const timer = cluster.clock.setTimeout(fn, 100);
    expect(timer.dueAt).toBe(cluster.clock.now() + 100);
    cluster.clock.clearTimeout(timer);
    cluster.clock.clearTimeout(timer);
    cluster.clock.clearTimeout(undefined);
    await cluster.clock.advance(1000);
    expect(fn).not.toHaveBeenCalled();
    expect(await cluster.settled()).toEqual({ waiting: [] });
  });

  it('reject the call that lets the time pass when they throw', async () => {
    await using cluster = await start();
    cluster.clock.setTimeout(() => {
      throw new Error('the operator gave up');
    }, 100);
    await expect(cluster.clock.advance(100)).rejects.toThrow('the operator gave up');
  });

  it('sleep until it is time, or the signal is aborted', async () => {
    await using cluster = await start();
    const slept = cluster.clock.sleep(60_000);
    await cluster.settled({ advanceMs: 60_000 });
    await slept;
    const given = new AbortController();
    const aborted = expect(cluster.clock.sleep(60_000, given.signal)).rejects.toMatchObject({ name: 'AbortError' });
    given.abort();
    await aborted;
    await expect(cluster.clock.sleep(1, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(await cluster.settled()).toEqual({ waiting: [] });
  });

  it('never come due once the cluster has stopped', async () => {
    const cluster = await start();
    const fn = vi.fn<() => void>();
    cluster.clock.setTimeout(fn, 100);
    await cluster.stop();
    cluster.clock.setTimeout(fn, 100);
    await cluster.clock.advance(1000);
    expect(fn).not.toHaveBeenCalled();
  });

  it('run by the real clock too, and are waited for when the test gives time', async () => {
    await using cluster = await start('real');
    let due = false;
    cluster.clock.setTimeout(() => (due = true), 30);
    const { waiting } = await cluster.settled();
    expect(waiting).toEqual([expect.stringMatching(/^1 timer of cluster\.clock, due in \d+ ms$/)]);
    await cluster.settled({ advanceMs: 1000 });
    expect(due).toBe(true);
  });

  it.each([
    ['no number', RangeError, (clock: TestClock) => clock.setTimeout(() => undefined, Number.NaN)],
    ['no function', TypeError, (clock: TestClock) => clock.setTimeout('soon' as never, 1)],
  ] as const)('refuse what is %s', async (_, error, set) => {
    await using cluster = await start();
    expect(() => set(cluster.clock)).toThrow(error);
  });
});
