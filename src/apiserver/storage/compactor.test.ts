import { expect, describe, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { Compactor } from './compactor.ts';
import type { Store } from './interface.ts';
import { openMemoryStore } from './embedded/memory-store.ts';

const minute = 60_000;

describe('Compactor', () => {
  it('API-099, API-137 keeps history of at least 5 and less than 10 minutes', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const stop = new AbortController();
    const running = new Compactor({ store, clock, logger: silentLogger }).run(stop.signal);
    const writtenAt: number[] = [];
    for (let time = 0; time < 60 * minute; time += minute) {
      await store.create(`k${time}`, new Uint8Array(1));
      writtenAt.push(clock.monotonic());
      await clock.advanceAsync(minute);
      const now = clock.monotonic();
      for (const [i, at] of writtenAt.entries()) {
        const readable = await store.list('', { revision: i + 1 }).then(
          () => true,
          () => false,
        );
        if (now - at < 5 * minute) expect(readable).toBe(true);
        if (now - at > 10 * minute) expect(readable).toBe(false);
      }
    }
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('API-099 where nobody writes, what was listed is forgotten in that time all the same', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    await store.create('/registry/core/configmaps/default/a', new Uint8Array(1));
    const stop = new AbortController();
    const running = new Compactor({ store, clock, logger: silentLogger }).run(stop.signal);
    const listed: { readonly at: number; readonly revision: number }[] = [];
    for (let time = 0; time < 40 * minute; time += minute / 2) {
      listed.push({ at: clock.monotonic(), revision: (await store.list('/registry/')).revision });
      await clock.advanceAsync(minute / 2);
      for (const { at, revision } of listed) {
        const readable = await store.list('/registry/', { revision }).then(
          () => true,
          () => false,
        );
        const age = clock.monotonic() - at;
        if (age < 5 * minute) expect([at, age, readable]).toEqual([at, age, true]);
        if (age > 10 * minute) expect([at, age, readable]).toEqual([at, age, false]);
      }
    }
    stop.abort();
    await running;
  });

  it('API-099 where somebody writes, nothing is written for it', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const stop = new AbortController();
    const running = new Compactor({ store, clock, logger: silentLogger }).run(stop.signal);
    for (let round = 1; round < 10; round++) {
      await store.create(`/registry/k${round}`, new Uint8Array(1));
      await clock.advanceAsync(5 * minute);
      expect(await store.currentRevision()).toBe(round);
    }
    stop.abort();
    await running;
  });

  it('goes on after a failure', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const compacted: number[] = [];
    const failing: Store = Object.assign(Object.create(store) as Store, {
      currentRevision: () => store.currentRevision(),
      compact: (revision: number) => {
        compacted.push(revision);
        return Promise.reject(new Error('not now'));
      },
    });
    await store.create('a', new Uint8Array(1));
    const stop = new AbortController();
    const running = new Compactor({ store: failing, clock, logger: silentLogger, intervalMs: 10 }).run(stop.signal);
    await clock.advanceAsync(25);
    expect(compacted).toEqual([1, 1]);
    stop.abort();
    await running;
  });
});
