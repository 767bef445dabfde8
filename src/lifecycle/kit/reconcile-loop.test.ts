import { describe, expect, it } from 'vitest';
import { abortErrorOf } from '../../base/time/abort-error.ts';
import { newTooManyRequests } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { noMetrics } from '../../base/metrics/metrics.ts';
import { type Cache, ReconcileLoop, type ReconcileLoopOptions, type SyncOutcome } from './reconcile-loop.ts';

/** A cache that is synced when the test says so. */
class HandCache implements Cache {
  ended = false;
  #synced: () => void = () => {};
  readonly #waiting = new Promise<void>((resolve) => {
    this.#synced = resolve;
  });

  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        this.ended = true;
        resolve();
      });
    });
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(abortErrorOf(signal)));
      void this.#waiting.then(resolve);
    });
  }

  sync(): void {
    this.#synced();
  }
}

function setUp(options: Partial<ReconcileLoopOptions> = {}) {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const cache = new HandCache();
  const stop = new AbortController();
  /** `key@milliseconds` of each sync. */
  const syncs: string[] = [];
  const outcomes: (SyncOutcome | Error)[] = [];
  const loop = new ReconcileLoop({
    name: 'test',
    clock,
    logger,
    metrics: noMetrics,
    caches: [cache],
    workers: 2,
    sync: (key) => {
      syncs.push(`${key}@${clock.monotonic()}`);
      const outcome = outcomes.shift() ?? { next: 'settled' };
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
    ...options,
  });
  const running = loop.run(stop.signal);
  const begin = (): Promise<void> => {
    cache.sync();
    return clock.settle();
  };
  return { clock, logger, cache, stop, loop, running, syncs, outcomes, begin };
}

describe('ReconcileLoop', () => {
  it('LIFE-001 does nothing before its caches have their first list', async () => {
    const { clock, loop, syncs, begin } = setUp();
    loop.trigger('a');
    await clock.advanceAsync(60_000);
    expect(syncs).toEqual([]);
    await begin();
    expect(syncs).toEqual(['a@60000']);
  });

  it('LIFE-002 never syncs a key twice at once, and once more when it changed meanwhile', async () => {
    const ends: (() => void)[] = [];
    const { clock, loop, begin } = setUp({
      sync: () =>
        new Promise((resolve) => {
          ends.push(() => resolve({ next: 'settled' }));
        }),
    });
    await begin();
    loop.trigger('a');
    await clock.settle();
    loop.trigger('a');
    loop.trigger('a');
    await clock.settle();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await clock.settle();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await clock.settle();
    expect(ends).toHaveLength(2);
  });

  it('syncs no more keys at once than it has workers', async () => {
    let atOnce = 0;
    const { clock, loop, begin } = setUp({
      sync: () => {
        atOnce++;
        return new Promise(() => {});
      },
    });
    await begin();
    for (const key of ['a', 'b', 'c', 'd']) loop.trigger(key);
    await clock.settle();
    expect(atOnce).toBe(2);
  });

  it.each([
    { name: 'an error', outcome: new Error('down') },
    { name: 'a partial failure', outcome: { next: 'back-off' } as const },
  ])('LIFE-003 retries after $name, slower each time, and forgets it on success', async ({ outcome }) => {
    const { clock, loop, syncs, outcomes, begin } = setUp({ backOffCapMs: 20 });
    await begin();
    outcomes.push(outcome, outcome, outcome, outcome);
    loop.trigger('a');
    await clock.advanceAsync(1000);
    expect(syncs).toEqual(['a@0', 'a@5', 'a@15', 'a@35', 'a@55']);
    outcomes.push(outcome);
    loop.trigger('a');
    await clock.advanceAsync(1000);
    expect(syncs.slice(5)).toEqual(['a@1000', 'a@1005']);
  });

  it('LIFE-017 waits at least as long as an overloaded server asks for, with this key alone', async () => {
    const { clock, loop, syncs, outcomes, begin } = setUp();
    await begin();
    outcomes.push(newTooManyRequests('slow down', 3), newTooManyRequests('slow down', 0), new Error('down'));
    loop.trigger('a');
    await clock.advanceAsync(1000);
    loop.trigger('b', 1);
    await clock.advanceAsync(10_000);
    expect(syncs).toEqual(['a@0', 'b@1001', 'b@1006', 'b@1016', 'a@3000']);
  });

  it('logs what a sync throws', async () => {
    const { clock, logger, loop, outcomes, begin } = setUp();
    await begin();
    outcomes.push(new Error('down'), { next: 'back-off' });
    loop.trigger('a');
    await clock.advanceAsync(1000);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { key: 'a', error: 'down', retries: 0 } }]);
  });

  it('comes back later when a sync says so, or at once when something changed', async () => {
    const { clock, loop, syncs, outcomes, begin } = setUp();
    await begin();
    outcomes.push({ next: 'later', afterMs: 500 }, { next: 'later', afterMs: 500 });
    loop.trigger('a');
    await clock.advanceAsync(600);
    loop.trigger('a');
    await clock.advanceAsync(10_000);
    expect(syncs).toEqual(['a@0', 'a@500', 'a@600']);
  });

  it('shows how many keys wait for their next try or for another look, and how soon the first of them is due', async () => {
    const metrics = new MemoryMetrics();
    const { clock, loop, outcomes, begin } = setUp({ metrics });
    const shown = () =>
      (['failed', 'later'] as const).map((reason) =>
        ['delayed_keys', 'next_delayed_key_seconds'].map((name) =>
          metrics.value(`kubegc_lifecycle_${name}`, { name: 'test', reason }),
        ),
      );
    await begin();
    expect(shown()).toEqual([
      [0, 0],
      [0, 0],
    ]);
    outcomes.push({ next: 'back-off' }, { next: 'later', afterMs: 500 }, { next: 'later', afterMs: 300 });
    for (const key of ['a', 'b', 'c']) loop.trigger(key);
    await clock.settle();
    expect(shown()).toEqual([
      [1, 0.005],
      [2, 0.3],
    ]);
    await clock.advanceAsync(400);
    expect(shown()).toEqual([
      [0, 0],
      [1, 0.1],
    ]);
    loop.trigger('b');
    await clock.settle();
    expect(shown()[1]).toEqual([0, 0]);
  });

  it('waits with a key that is triggered for later', async () => {
    const { clock, loop, syncs, begin } = setUp();
    await begin();
    loop.trigger('a', 5000);
    await clock.advanceAsync(10_000);
    expect(syncs).toEqual(['a@5000']);
  });

  it('LIFE-004 processes the keys of the resync regularly', async () => {
    const { clock, syncs, begin } = setUp({ resync: { everyMs: 1000, keys: () => ['a', 'b'] } });
    await begin();
    await clock.advanceAsync(2500);
    expect(syncs).toEqual(['a@1000', 'b@1000', 'a@2000', 'b@2000']);
  });

  it('ends with its signal: the sync under way first, what waits is dropped, and nothing is left behind', async () => {
    let end: () => void = () => {};
    const keys: string[] = [];
    const world = setUp({
      workers: 1,
      resync: { everyMs: 1000, keys: () => ['c'] },
      sync: (key) =>
        new Promise((resolve) => {
          keys.push(key);
          end = () => resolve({ next: 'later', afterMs: 1 });
        }),
    });
    const state = { ended: false };
    void world.running.then(() => {
      state.ended = true;
    });
    await world.begin();
    world.loop.trigger('a');
    world.loop.trigger('b');
    await world.clock.settle();
    world.stop.abort();
    await world.clock.settle();
    expect([state.ended, world.cache.ended]).toEqual([false, true]);
    end();
    await world.clock.settle();
    expect([state.ended, keys, world.clock.pendingTimers]).toEqual([true, ['a'], 0]);
  });

  it.each(['before it runs', 'before its caches are synced'])('ends when it is stopped %s', async (when) => {
    const world = setUp();
    if (when === 'before it runs') {
      const stopped = new AbortController();
      stopped.abort();
      const cache: Cache = {
        run: () => Promise.resolve(),
        waitForSync: (signal) => (signal.aborted ? Promise.reject(abortErrorOf(signal)) : Promise.resolve()),
      };
      const options = { name: 'test', clock: world.clock, logger: world.logger, metrics: noMetrics, workers: 1 };
      const loop = new ReconcileLoop({ ...options, caches: [cache], sync: () => Promise.resolve({ next: 'settled' }) });
      loop.trigger('a');
      await expect(loop.run(stopped.signal)).resolves.toBeUndefined();
    }
    world.stop.abort();
    await expect(world.running).resolves.toBeUndefined();
  });
});
