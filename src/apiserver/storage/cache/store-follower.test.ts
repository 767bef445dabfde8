import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../../base/logs/memory-logger.ts';
import type { Store, WatchOptions } from '../interface.ts';
import { openMemoryStore } from '../embedded/memory-store.ts';
import { StoreFollower } from './store-follower.ts';

const prefix = '/registry/core/things/';
const value = Buffer.from('{}');
const LOST = new Error('lost');

/** A follower of a store whose lists and watches are in the hands of the test, with the changes that it has reported. */
function setUp({ replace }: { readonly replace?: () => Promise<void> } = {}) {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const store = openMemoryStore({ clock });
  const watches: WatchOptions[] = [];
  const calls = { lists: 0, down: false };
  const followed: Pick<Store, 'list' | 'watch'> = {
    list: async (range) => {
      calls.lists++;
      if (calls.down) throw new Error('down');
      return store.list(range);
    },
    watch: (range, options) => {
      watches.push(options);
      return store.watch(range, options);
    },
  };
  const told: string[] = [];
  const short = (key: string): string => key.slice(prefix.length);
  const follower = new StoreFollower({
    store: Object.assign(Object.create(store) as Store, followed),
    prefix,
    clock,
    logger,
    replace: (items) => {
      told.push(`all: ${items.map(({ key }) => short(key)).join(' ')}`);
      return replace?.();
    },
    observe: (events) => told.push(...events.map(({ type, key }) => `${type} ${short(key)}`)),
  });
  return { clock, logger, store, watches, calls, told, follower };
}

describe('StoreFollower', () => {
  it('reports every object, then each change before the write is answered, and nothing twice', async () => {
    const { store, told, follower, watches } = setUp();
    await store.create(`${prefix}a`, value);
    await store.create('/registry/core/others/a', value);
    await follower.start();
    await follower.start();
    expect([told, watches.map(({ startRevision }) => startRevision)]).toEqual([['all: a'], [3]]);
    const created = await store.create(`${prefix}b`, value);
    expect(told).toEqual(['all: a', 'PUT b']);
    if (!created.succeeded) throw new Error('refused');
    await store.delete(`${prefix}b`, created.kv.modRevision);
    await store.create('/registry/core/others/b', value);
    expect(told).toEqual(['all: a', 'PUT b', 'DELETE b']);
    follower.stop();
    await store.create(`${prefix}c`, value);
    expect(told).toHaveLength(3);
  });

  it('reports no change before the first report of all objects is complete', async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { clock, store, told, follower } = setUp({ replace: () => finished });
    const started = follower.start();
    await clock.settle();
    await store.create(`${prefix}a`, value);
    expect(told).toEqual(['all: ']);
    finish();
    await started;
    await clock.settle();
    expect(told).toEqual(['all: ', 'PUT a']);
  });

  it('a first list that fails is the error of the start', async () => {
    const { clock, calls, follower } = setUp();
    calls.down = true;
    await expect(follower.start()).rejects.toThrow('down');
    expect(clock.pendingTimers).toBe(0);
  });

  it('starts over with a list when the watch ends, after 100 ms that double up to 10 s while the store is away', async () => {
    const { clock, logger, store, watches, calls, told, follower } = setUp();
    await follower.start();
    calls.down = true;
    watches[0]?.onClose?.(LOST);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      pauses.push(clock.nextTimerInMs ?? Number.NaN);
      await clock.advanceAsync(clock.nextTimerInMs ?? 0);
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    expect(calls.lists).toBe(10);
    expect(logger.lines).toHaveLength(10);
    expect(logger.lines[0]).toMatchObject({ level: 'warn', fields: { prefix, error: 'lost' } });
    calls.down = false;
    await store.create(`${prefix}a`, value);
    await clock.advanceAsync(10_000);
    expect([told.at(-1), watches.length, clock.pendingTimers]).toEqual(['all: a', 2, 0]);
    // The watch worked in between, so the next failure starts with the short delay again.
    watches[1]?.onClose?.(LOST);
    expect(clock.nextTimerInMs).toBe(100);
  });

  it('a store that closes is no trouble', async () => {
    const { clock, store, follower } = setUp();
    await follower.start();
    await store.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['before the list is there', 'while all of it is told', 'while it waits to start over'] as const)(
    'stopped %s, it neither reports nor waits any more',
    async (when) => {
      const parts = setUp({
        replace: async () => {
          if (when === 'while all of it is told') stop();
        },
      });
      const { clock, store, watches, told, follower } = parts;
      let before: readonly string[] = ['not stopped yet'];
      const stop = (): void => {
        follower.stop();
        before = told.slice();
        expect(clock.pendingTimers).toBe(0);
      };
      const started = follower.start();
      if (when === 'before the list is there') stop();
      await started;
      if (when === 'while it waits to start over') {
        watches[0]?.onClose?.(LOST);
        stop();
      }
      await store.create(`${prefix}a`, value);
      await clock.advanceAsync(60_000);
      expect(told).toEqual(before);
    },
  );
});
