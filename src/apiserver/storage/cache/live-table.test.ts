import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../../base/logs/memory-logger.ts';
import type { Store, WatchOptions } from '../interface.ts';
import { LiveTable } from './live-table.ts';
import { openMemoryStore } from '../embedded/memory-store.ts';
import { encodeStored } from '../stored-object.ts';

const prefix = '/registry/core/things/';
const bytes = (value: number): Uint8Array =>
  encodeStored({ kind: 'Thing', apiVersion: 'v1', metadata: { name: 'x' }, value });

function setUp(wrap: (store: Store) => Store = (store) => store) {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const store = openMemoryStore({ clock });
  const changes: string[] = [];
  const table = new LiveTable({
    store: wrap(store),
    prefix,
    clock,
    logger,
    read: ({ value }) => {
      if (value === 13) throw new Error('unreadable');
      return value as number;
    },
    changed: (key, next, previous) => changes.push(`${key}: ${previous ?? '-'} > ${next ?? '-'}`),
  });
  return { clock, logger, store, table, changes };
}

describe('LiveTable', () => {
  it('API-375 has everything after its start, and a write from the moment it is answered', async () => {
    const { store, table, changes } = setUp();
    const first = await store.create(`${prefix}a/x`, bytes(1));
    expect([table.synced, table.get('a/x')]).toEqual([false, undefined]);
    await table.start();
    expect([table.synced, table.get('a/x'), table.size]).toEqual([true, 1, 1]);
    if (!first.succeeded) throw new Error('refused');
    const second = await store.update(`${prefix}a/x`, bytes(2), first.kv.modRevision);
    expect(table.get('a/x')).toBe(2);
    if (!second.succeeded) throw new Error('refused');
    await store.create('/registry/core/others/a/x', bytes(9));
    await store.delete(`${prefix}a/x`, second.kv.modRevision);
    expect([...table.entries()]).toEqual([]);
    expect(changes).toEqual(['a/x: - > 1', 'a/x: 1 > 2', 'a/x: 2 > -']);
    await store.close();
  });

  it('leaves out what cannot be read, and what it replaces', async () => {
    const { store, table, logger } = setUp();
    await table.start();
    const created = await store.create(`${prefix}x`, bytes(1));
    if (!created.succeeded) throw new Error('refused');
    await store.update(`${prefix}x`, bytes(13), created.kv.modRevision);
    expect(table.get('x')).toBeUndefined();
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { name: 'x' } }]);
    await store.close();
  });

  it('keeps what it knew while the store’s watch is gone, then has what happened meanwhile', async () => {
    const watches: WatchOptions[] = [];
    let down = false;
    const { clock, store, table, changes } = setUp((real) => ({
      ...bound(real),
      list: (...args) => (down ? Promise.reject(new Error('down')) : real.list(...args)),
      watch: async (range, options) => {
        watches.push(options);
        const watch = await real.watch(range, { ...options, onEvents: (events) => !down && options.onEvents(events) });
        return watch;
      },
    }));
    await store.create(`${prefix}x`, bytes(1));
    await table.start();
    down = true;
    watches[0]?.onClose?.(new Error('lost'));
    const created = await store.create(`${prefix}y`, bytes(2));
    const { kv } = await store.get(`${prefix}x`);
    await store.delete(`${prefix}x`, kv?.modRevision ?? 0);
    // Two retries that fail.
    await clock.advanceAsync(350);
    expect([table.get('x'), table.get('y'), created.succeeded]).toEqual([1, undefined, true]);
    down = false;
    await clock.advanceAsync(10_000);
    expect([table.get('x'), table.get('y')]).toEqual([undefined, 2]);
    expect(changes.slice(1).toSorted()).toEqual(['x: 1 > -', 'y: - > 2']);
    await store.create(`${prefix}z`, bytes(3));
    expect(table.get('z')).toBe(3);
    table.stop();
    await store.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

/** Methods of a class instance as a plain object. */
function bound(store: Store): Store {
  return {
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    create: (key, value) => store.create(key, value),
    update: (key, value, expected) => store.update(key, value, expected),
    delete: (key, expected) => store.delete(key, expected),
    watch: (range, options) => store.watch(range, options),
    currentRevision: () => store.currentRevision(),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
  };
}
