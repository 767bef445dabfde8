import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../../src/apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../../src/apiserver/storage/interface.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { SilentWatch } from './silent-watch.ts';
import { StoreBackup } from './store-backup.ts';

let clock: FakeClock;
let store: Store;
beforeEach(async () => {
  clock = new FakeClock();
  store = openMemoryStore({ clock });
  await write('a');
  await write('b');
});

const write = async (key: string): Promise<number> => {
  const result = await store.create(`/registry/${key}`, Buffer.from(key));
  if (!result.succeeded) throw new Error('it is there');
  return result.kv.modRevision;
};
const begin = (from: number): Promise<SilentWatch> =>
  SilentWatch.begin({
    store,
    clock,
    from,
    timeoutMs: 60_000,
    open: () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('news') }),
  });

describe('designs/0011 a watch from a version that is still to come', () => {
  it('sends nothing before the store has come to it, and then the events from there', async () => {
    const watch = await begin(4);
    expect(watch.isWaitedFor).toBe(false);
    const told: string[] = [];
    const over = (async () => {
      for await (const chunk of watch) told.push(Buffer.from(chunk).toString());
    })();
    await clock.settle();
    expect([watch.isWaitedFor, await write('c'), told]).toEqual([true, 3, []]);
    await clock.settle();
    expect(told).toEqual([]);
    expect(await write('d')).toBe(4);
    await over;
    expect([watch.isWaitedFor, told]).toEqual([false, ['news']]);
  });

  it.each<[string, (watch: SilentWatch) => unknown]>([
    ['its time is over', () => clock.advance(60_000)],
    ['nobody reads it any more', (watch) => watch.return()],
    ['the server goes', () => store.close()],
  ])('is over when %s', async (_, end) => {
    const watch = await begin(4);
    const next = watch.next();
    await clock.settle();
    void end(watch);
    expect(await next).toEqual({ done: true, value: undefined });
    expect([watch.isWaitedFor, clock.pendingTimers]).toEqual([false, 0]);
  });
});

describe('the backup of a store', () => {
  it.each([false, true])(
    'has everything at its own revision, and goes on from that or a higher one: %s',
    async (bump) => {
      await store.update('/registry/a', Buffer.from('a2'), 1);
      const backup = await StoreBackup.of(store);
      await write('c');
      const restored = backup.open({ clock, bump });
      const { items, revision } = await restored.list('/registry/');
      expect(items.map(({ key, modRevision }) => [key, modRevision])).toEqual([
        ['/registry/a', 3],
        ['/registry/b', 2],
      ]);
      expect(revision).toBe(bump ? 1_000_000_003 : 3);
      const next = await restored.update('/registry/a', Buffer.from('a3'), 3);
      expect(next).toMatchObject({ succeeded: true, kv: { modRevision: revision + 1, createRevision: 1 } });
      await expect(restored.watch('/', { startRevision: 3, onEvents: () => {} })).rejects.toThrow('compacted');
    },
  );
});
