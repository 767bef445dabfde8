import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import { EmbeddedStore, defaultLimits, historyBound } from './embedded-store.ts';
import type { EmbeddedStoreLimits } from './embedded-store.ts';
import type { StoreEvent } from '../interface.ts';
import type { Journal, JournalCommit } from './journal.ts';
import { MultiVersionMap } from './mvcc.ts';
import { StoreClosedError, StoreFailedError, StoreFullError, StoreOverloadedError } from '../store-errors.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** A disk whose commits end when the test says so. */
class SlowJournal implements Journal {
  readonly commits: JournalCommit[] = [];
  closed = 0;
  #end: { resolve: () => void; reject: (error: Error) => void } | undefined;

  commit(commit: JournalCommit): Promise<void> {
    expect(this.#end, 'one commit at a time').toBeUndefined();
    this.commits.push(commit);
    return new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
    });
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }

  get busy(): boolean {
    return this.#end !== undefined;
  }

  /** The number of requests for space, and the error if there is none. */
  asked = 0;
  room: Error | undefined;

  makeRoom(): Promise<void> {
    expect(this.#end, 'no commit meanwhile').toBeUndefined();
    this.asked++;
    return this.room === undefined ? Promise.resolve() : Promise.reject(this.room);
  }

  async finish(error?: Error): Promise<void> {
    const end = this.#end;
    this.#end = undefined;
    if (error === undefined) end?.resolve();
    else end?.reject(error);
    await settled();
  }
}

/** Lets all promises that can settle do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function open(limits: Partial<EmbeddedStoreLimits> = {}) {
  const all = { ...defaultLimits, ...limits };
  const journal = new SlowJournal();
  const clock = new FakeClock();
  const map = new MultiVersionMap({ historyBound: historyBound(all) });
  const store = new EmbeddedStore({
    map,
    clock,
    logger: silentLogger,
    limits: all,
    journal: { journal, compacted: 0, forget: [] },
  });
  return { store, journal, clock, map };
}

/** The state of a promise. */
function track<T>(promise: Promise<T>): { state: 'pending' | 'fulfilled' | 'rejected'; value?: T; error?: unknown } {
  const tracked: { state: 'pending' | 'fulfilled' | 'rejected'; value?: T; error?: unknown } = { state: 'pending' };
  promise.then(
    (value) => Object.assign(tracked, { state: 'fulfilled', value }),
    (error: unknown) => Object.assign(tracked, { state: 'rejected', error }),
  );
  return tracked;
}

describe('EmbeddedStore with a journal', () => {
  it('law 3: shows a write to nobody and answers it to nobody before it is durable', async () => {
    const { store, journal } = open();
    const events: StoreEvent[] = [];
    await store.watch('', { startRevision: 1, onEvents: (e) => events.push(...e) });
    const write = track(store.create('a', bytes('1')));
    await settled();
    expect(journal.busy).toBe(true);
    expect(write.state).toBe('pending');
    expect(await store.get('a')).toEqual({ revision: 0 });
    expect((await store.list('')).items).toEqual([]);
    expect(await store.currentRevision()).toBe(0);
    expect(events).toEqual([]);
    await journal.finish();
    expect(write.state).toBe('fulfilled');
    expect((await store.get('a')).revision).toBe(1);
    expect(events.map((event) => event.revision)).toEqual([1]);
  });

  it('law 2: guards see writes that are not durable yet, and their refusals wait for those', async () => {
    const { store, journal } = open();
    void store.create('a', bytes('1'));
    await settled();
    const refused = track(store.create('a', bytes('2')));
    const follows = track(store.update('a', bytes('3'), 1));
    const stale = track(store.update('a', bytes('4'), 1));
    await settled();
    expect([refused.state, follows.state, stale.state]).toEqual(['pending', 'pending', 'pending']);
    await journal.finish();
    expect(refused).toMatchObject({ state: 'fulfilled', value: { succeeded: false, current: { modRevision: 1 } } });
    expect([follows.state, stale.state]).toEqual(['pending', 'pending']);
    await journal.finish();
    expect(follows).toMatchObject({ value: { succeeded: true, kv: { modRevision: 2 } } });
    expect(stale).toMatchObject({ value: { succeeded: false, current: { modRevision: 2 }, revision: 2 } });
  });

  it('answers a refusal that rests on durable state at once', async () => {
    const { store, journal } = open();
    void store.create('a', bytes('1'));
    await settled();
    await journal.finish();
    void store.create('b', bytes('1'));
    await settled();
    expect(journal.busy).toBe(true);
    expect(await store.create('a', bytes('2'))).toMatchObject({ succeeded: false });
    expect(await store.delete('c', 1)).toEqual({ succeeded: false, revision: 1 });
  });

  it('commits what came during a commit in one group', async () => {
    const { store, journal } = open();
    const writes = [store.create('0', bytes(''))];
    await settled();
    for (let i = 1; i < 100; i++) writes.push(store.create(String(i), bytes('')));
    await settled();
    await journal.finish();
    await journal.finish();
    await Promise.all(writes);
    expect(journal.commits.map((commit) => commit.changes.length)).toEqual([1, 99]);
  });

  it('bounds the bytes of a commit', async () => {
    const { store, journal } = open();
    for (let i = 0; i < 5; i++) void store.create(String(i), new Uint8Array(200 << 10));
    await settled();
    await journal.finish();
    await journal.finish();
    expect(journal.commits.map((commit) => commit.changes.length)).toEqual([3, 2]);
    expect(await store.currentRevision()).toBe(5);
  });

  it('refuses writes while the disk is full, shows nothing of them, and goes on by itself when there is room', async () => {
    const { store, journal, clock } = open();
    const before = track(store.create('/a', bytes('1')));
    await settled();
    await journal.finish();
    const events: StoreEvent[] = [];
    await store.watch('/', { startRevision: 2, onEvents: (batch) => events.push(...batch) });
    const update = track(store.update('/a', bytes('2'), 1));
    const created = track(store.create('/b', bytes('1')));
    await settled();
    // The store decides this write during the commit, on top of the write that fails.
    const refused = track(store.create('/b', bytes('2')));
    const full = new StoreFullError('no space left on device');
    journal.room = full;
    await journal.finish(full);
    for (const each of [update, created, refused]) expect(each).toMatchObject({ state: 'rejected', error: full });
    expect(before.value).toMatchObject({ succeeded: true });
    expect(store.failure).toBe(full);
    await expect(store.create('/c', bytes('1'))).rejects.toBe(full);
    await expect(store.compact(1)).rejects.toBe(full);
    expect(await store.get('/a')).toMatchObject({ kv: { value: bytes('1') }, revision: 1 });
    expect((await store.list('/')).items).toHaveLength(1);
    await clock.advanceAsync(5000);
    expect(journal.asked).toBe(5);
    journal.room = undefined;
    await clock.advanceAsync(1000);
    expect(store.failure).toBeUndefined();
    const again = track(store.update('/a', bytes('3'), 1));
    await settled();
    await journal.finish();
    expect(again.value).toMatchObject({ succeeded: true, kv: { modRevision: 2 } });
    expect(events.map(({ key, revision }) => [key, revision])).toEqual([['/a', 2]]);
    await store.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends for good if making room fails for another reason', async () => {
    const { store, journal, clock } = open();
    const created = track(store.create('/a', bytes('1')));
    await settled();
    await journal.finish(new StoreFullError('no space left on device'));
    expect(created.state).toBe('rejected');
    journal.room = new Error('input/output error');
    await clock.advanceAsync(1000);
    expect(store.failure).toBeInstanceOf(StoreFailedError);
    await store.close();
  });

  it('takes no writes after a commit failed: nothing of them is ever seen, and what was there before can be read', async () => {
    const { store, journal } = open();
    const before = track(store.create('before', bytes('0')));
    await settled();
    await journal.finish();
    expect(before.state).toBe('fulfilled');
    expect(store.failure).toBeUndefined();
    const events: StoreEvent[] = [];
    const closed: (Error | undefined)[] = [];
    await store.watch('', { startRevision: 2, onEvents: (e) => events.push(...e), onClose: (e) => closed.push(e) });
    const first = track(store.create('a', bytes('1')));
    await settled();
    const second = track(store.create('b', bytes('1')));
    const refused = track(store.create('a', bytes('2')));
    const compaction = track(store.compact(0));
    await journal.finish(new Error('no space left on device'));
    for (const failed of [first, second, refused]) {
      expect(failed.state).toBe('rejected');
      expect(failed.error).toBeInstanceOf(StoreFailedError);
      expect(failed.error).toMatchObject({ message: expect.stringContaining('no space left on device') });
    }
    expect(compaction.state).toBe('fulfilled');
    expect(events).toEqual([]);
    expect(closed).toEqual([]);
    expect(store.failure).toBe(first.error);
    expect(await store.get('a')).toEqual({ revision: 1 });
    expect((await store.list('')).items.map(({ key }) => key)).toEqual(['before']);
    expect(await store.currentRevision()).toBe(1);
    await expect(store.create('c', bytes(''))).rejects.toThrow(StoreFailedError);
    await expect(store.delete('before', 1)).rejects.toThrow(StoreFailedError);
    await expect(store.compact(1)).rejects.toThrow(StoreFailedError);
    expect(journal.commits).toHaveLength(2);
    await store.close();
    expect(journal.closed).toBe(1);
    expect(closed).toEqual([undefined]);
    await expect(store.get('before')).rejects.toThrow(StoreClosedError);
  });

  it('refuses what would wait beyond its bounds, and nothing else', async () => {
    const { store, journal } = open({ maxWaiting: 3, maxWaitingBytes: 10 });
    const first = track(store.create('a', new Uint8Array(6)));
    const large = track(store.create('b', new Uint8Array(5)));
    const second = track(store.create('c', new Uint8Array(4)));
    const third = track(store.delete('a', 1));
    const fourth = track(store.delete('c', 2));
    await settled();
    expect(large.error).toBeInstanceOf(StoreOverloadedError);
    expect(fourth.error).toBeInstanceOf(StoreOverloadedError);
    expect(large.error).toMatchObject({ message: expect.stringContaining('1 operations (6 bytes) wait for the disk') });
    await journal.finish();
    expect([first.state, second.state, third.state]).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(track(store.create('d', new Uint8Array(10))).state).toBe('pending');
    await settled();
    await journal.finish();
    expect(await store.currentRevision()).toBe(4);
  });

  it('gives the journal the compacted revision together with the first entry to forget, in groups', async () => {
    const { store, journal } = open();
    for (let i = 0; i < 300; i++) {
      void store.create(`k${i}`, bytes('1'));
      void store.delete(`k${i}`, 2 * i + 1);
    }
    await settled();
    await journal.finish();
    const compaction = track(store.compact(600));
    await settled();
    expect(compaction.state).toBe('pending');
    expect(journal.commits[1]).toMatchObject({ changes: [], compacted: 600 });
    expect(journal.commits[1]?.forget).toHaveLength(256);
    const write = track(store.create('new', bytes('1')));
    await journal.finish();
    expect(compaction.state).toBe('fulfilled');
    expect(write.state).toBe('pending');
    expect(journal.commits[2]?.changes).toHaveLength(1);
    expect(journal.commits[2]?.compacted).toBeUndefined();
    await journal.finish();
    await journal.finish();
    expect(write.state).toBe('fulfilled');
    const forgotten = journal.commits.flatMap((commit) => commit.forget);
    expect(forgotten).toEqual(Array.from({ length: 600 }, (_, i) => i + 1));
  });

  it('compacts by itself when history outgrows its bounds, but keeps 10,000 changes (API-137)', async () => {
    const { store, journal, clock, map } = open({ maxHistoryChanges: 12_000 });
    for (let i = 0; i < 12_100; i++) {
      void store.create(`k${i}`, bytes(''));
      if (i % 4000 === 3999) {
        await settled();
        await journal.finish();
      }
    }
    await settled();
    await journal.finish();
    expect(await store.currentRevision()).toBe(12_100);
    expect(map.compacted).toBe(12_100 - 10_500);
    for (let i = 0; i < 10; i++) {
      clock.runDeferred();
      await journal.finish();
    }
    expect(map.historyLength).toBe(10_500);
    await expect(store.list('', { revision: 1599 })).rejects.toThrow('compacted');
    expect((await store.list('', { revision: 1600 })).items).toHaveLength(1600);
  });

  it('lets a watch that throws lose itself only', async () => {
    const { store, journal } = open();
    const closed: (Error | undefined)[] = [];
    const seen: number[] = [];
    await store.watch('', {
      startRevision: 1,
      onEvents: () => {
        throw new Error('broken reader');
      },
      onClose: (error) => closed.push(error),
    });
    await store.watch('', { startRevision: 1, onEvents: (events) => seen.push(events.length) });
    const write = track(store.create('a', bytes('1')));
    await settled();
    await journal.finish();
    expect(write.state).toBe('fulfilled');
    expect(closed).toEqual([new Error('broken reader')]);
    expect(seen).toEqual([1]);
  });

  it('reads a long history to a new watch in slices, and loses nothing that is written meanwhile', async () => {
    const { store, journal, clock } = open();
    for (let i = 0; i < 6000; i++) void store.create(`k${i}`, bytes(''));
    await settled();
    await journal.finish();
    await journal.finish();
    const revisions: number[] = [];
    await store.watch('k', {
      startRevision: 1,
      onEvents: (events) => revisions.push(...events.map((e) => e.revision)),
    });
    await settled();
    expect(revisions).toHaveLength(4096);
    void store.create('k-meanwhile', bytes(''));
    await settled();
    await journal.finish();
    expect(revisions).toHaveLength(4096);
    clock.runDeferred();
    void store.create('k-later', bytes(''));
    await settled();
    await journal.finish();
    expect(revisions).toEqual(Array.from({ length: 6002 }, (_, i) => i + 1));
  });

  it('ends a watch whose history is compacted away while it is read', async () => {
    const { store, journal, clock } = open();
    for (let i = 0; i < 6000; i++) void store.create(`k${i}`, bytes(''));
    await settled();
    await journal.finish();
    await journal.finish();
    const closed: (Error | undefined)[] = [];
    await store.watch('k', { startRevision: 1, onEvents: () => {}, onClose: (error) => closed.push(error) });
    await settled();
    void store.compact(5000);
    clock.runDeferred();
    expect(closed).toMatchObject([{ name: 'RevisionCompactedError', compactedRevision: 5000 }]);
  });
});
