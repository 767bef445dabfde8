import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AfterTurn } from '../../../base/time/after-turn.ts';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import type { CacheEvent, EventBatch } from './cache-event.ts';
import type { CacheWatch, WatchStep } from './cache-watch.ts';
import { RevisionCompactedError, RevisionFutureError } from '../interface.ts';
import type { Store, StoreWatch, WatchOptions } from '../interface.ts';
import { openMemoryStore } from '../embedded/memory-store.ts';
import { encodeStored } from '../stored-object.ts';
import { WatchCache } from './watch-cache.ts';
import type { WatchCacheOptions } from './watch-cache.ts';

const prefix = '/registry/core/configmaps/';

/** A store whose objects are config maps that hold a number. */
class Objects {
  readonly clock = new FakeClock();
  readonly afterTurn = new AfterTurn(this.clock);
  readonly store: Store = openMemoryStore({ clock: this.clock, logger: silentLogger });
  readonly revisions = new Map<string, number>();
  watches = 0;
  /** Turns of the event loop that pass before a watch on the store is confirmed; its events may come earlier. */
  delay = 0;
  /** The number of events of history that come in one turn; all at once unless set. */
  slice = Infinity;
  writers: { readonly writers?: 'several servers' } = {};
  /** Lists and the current revision wait for this. */
  gate: Promise<void> | undefined;
  /** The watch that feeds the cache: the first one, and the first one after that has ended. */
  #feed: WatchOptions | undefined;

  /** The events of a cache that lags behind the store. */
  #held: (() => void)[] | undefined;

  endFeed(error: Error | undefined): void {
    const feed = this.#feed;
    this.#feed = undefined;
    this.#held = undefined;
    feed?.onClose?.(error);
  }

  /** From now on the cache gets no events, like a cache whose store is in another process. */
  holdFeed(): void {
    this.#held ??= [];
  }

  releaseFeed(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const tell of held) tell();
  }

  #lagging({ onEvents, onProgress, ...options }: WatchOptions): WatchOptions {
    const tell = (work: () => void): void => {
      if (this.#held === undefined) work();
      else this.#held.push(work);
    };
    return {
      ...options,
      onEvents: (events) => tell(() => onEvents(events)),
      onProgress: (revision) => tell(() => onProgress?.(revision)),
    };
  }

  #sliced({ onEvents, onProgress, ...options }: WatchOptions): WatchOptions {
    if (this.slice === Infinity) return { onEvents, ...(onProgress === undefined ? {} : { onProgress }), ...options };
    const work: (() => void)[] = [];
    const later = (each: () => void): void => {
      if (work.push(each) === 1) setImmediate(next);
    };
    const next = (): void => {
      work[0]?.();
      work.shift();
      if (work.length > 0) setImmediate(next);
    };
    return {
      ...options,
      onEvents: (events) => {
        for (let i = 0; i < events.length; i += this.slice) later(() => onEvents(events.slice(i, i + this.slice)));
      },
      onProgress: (revision) => later(() => onProgress?.(revision)),
    };
  }

  cache(options: Partial<WatchCacheOptions> = {}): WatchCache {
    const store: Store = {
      ...this.writers,
      get: (key) => this.store.get(key),
      list: async (p, o) => {
        await this.gate;
        return this.store.list(p, o);
      },
      create: (key, value) => this.store.create(key, value),
      update: (key, value, expected) => this.store.update(key, value, expected),
      delete: (key, expected) => this.store.delete(key, expected),
      currentRevision: async () => {
        await this.gate;
        return this.store.currentRevision();
      },
      compact: (revision) => this.store.compact(revision),
      close: () => this.store.close(),
      watch: async (p: string, o: WatchOptions): Promise<StoreWatch> => {
        this.watches++;
        this.#feed ??= o;
        const watch = await this.store.watch(p, this.#feed === o ? this.#lagging(o) : this.#sliced(o));
        for (let i = 0; i < this.delay; i++) await settled();
        return watch;
      },
    };
    return new WatchCache({ store, prefix, clock: this.clock, afterTurn: this.afterTurn, ...options });
  }

  /** Writes `name`, or deletes it when `count` is absent, then waits for the turn after which readers get the event; returns the revision. */
  async write(name: string, count: number | undefined): Promise<number> {
    const revision = await this.writeOnly(name, count);
    this.clock.runDeferred();
    return revision;
  }

  async writeOnly(name: string, count: number | undefined): Promise<number> {
    const key = prefix + name;
    const known = this.revisions.get(name);
    if (count === undefined) {
      const result = await this.store.delete(key, known ?? 0);
      if (!result.succeeded) throw new Error(`${name} cannot be deleted`);
      this.revisions.delete(name);
      return result.revision;
    }
    const value = encodeStored({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name },
      data: { count: String(count) },
    });
    const result =
      known === undefined ? await this.store.create(key, value) : await this.store.update(key, value, known);
    if (!result.succeeded) throw new Error(`${name} cannot be written`);
    this.revisions.set(name, result.kv.modRevision);
    return result.kv.modRevision;
  }
}

const count = (object: { object(): object } | undefined): string | undefined =>
  (object?.object() as { data: { count: string } } | undefined)?.data.count;

function told(event: CacheEvent): string {
  const name = event.key.slice(prefix.length);
  return [event.revision, event.type, name, count(event.current), count(event.previous) ?? '-'].join(' ');
}

function lines(batch: EventBatch): string[] {
  return batch.events.map(told);
}

/** The next step as text; undefined while there is none. */
async function step(watch: CacheWatch): Promise<string[]> {
  return summary(await watch.next());
}

function summary(s: WatchStep): string[] {
  switch (s.kind) {
    case 'events':
      return lines(s.batch);
    case 'initial-end':
      return [`initial-end ${s.revision}`];
    case 'closed':
      return [`closed ${s.reason}`];
  }
}

/** The type and the name of each event, and the reason why the watch closed. */
function brief(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /(?:ADDED|MODIFIED|DELETED) \S+|^closed \w+/.exec(line)?.[0] ?? []);
}

/** Reads until the events so far meet the condition. */
async function read(watch: CacheWatch, until: (all: string[]) => boolean): Promise<string[]> {
  const all: string[] = [];
  while (!until(all)) all.push(...(await step(watch)));
  return all;
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('WatchCache', () => {
  it('costs nothing before the first watch', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    await objects.write('a', 1);
    expect(objects.watches).toBe(0);
    await cache.watch();
    await cache.watch();
    expect(objects.watches).toBe(1);
  });

  it.each([
    ['gives back encodings that all readers have got, but the newest', 'reads', 64],
    ['keeps encodings as long as one reader is behind', 'stands still', 100],
  ] as const)('%s', async (_, other, kept) => {
    const objects = new Objects();
    const cache = objects.cache();
    const events: CacheEvent[] = [];
    const follow = async (watch: CacheWatch, each: (event: CacheEvent) => void): Promise<void> => {
      for (let next = await watch.next(); next.kind === 'events'; next = await watch.next())
        next.batch.events.forEach(each);
    };
    const watches = [await cache.watch(), await cache.watch()];
    void follow(watches[0]!, (event) => events.push(event));
    if (other === 'reads') void follow(watches[1]!, () => {});
    const frames: Uint8Array[] = [];
    for (let i = 0; i < 100; i++) {
      await objects.write(`m${i}`, i);
      await settled();
      frames.push(events[i]!.frame('json'));
    }
    // The cache releases the encodings that the readers had before the last write.
    const same = events.map((event, i) => event.frame('json') === frames[i]);
    expect(same.filter(Boolean)).toHaveLength(Math.min(kept + 1, 100));
    expect(same.at(-1)).toBe(true);
    cache.stop();
  });

  it('releases the encodings that were made for readers from further behind once all wait', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    await cache.start();
    for (let i = 0; i < 800; i++) await objects.write(`m${i}`, i);
    const open = async (): Promise<{ watch: CacheWatch; events: readonly CacheEvent[] }> => {
      const watch = await cache.watch({ startRevision: 1 });
      const first = await watch.next();
      return { watch, events: first.kind === 'events' ? first.batch.events : [] };
    };
    const behind = await open();
    const frames = behind.events.map((event) => event.frame('json'));
    const same = (): boolean[] => behind.events.map((event, i) => event.frame('json') === frames[i]);
    await objects.write('busy', 1);
    expect(same()).toEqual(Array.from({ length: 500 }, () => true));
    await step(behind.watch);
    void behind.watch.next();
    await objects.write('waits', 1);
    expect(same()).not.toContain(true);
    // A reader that comes later gets the batch that the first one had.
    const later = await open();
    const again = later.events.map((event) => event.frame('metadata+protobuf'));
    later.watch.close();
    void behind.watch.next();
    await objects.write('waits', 2);
    expect(later.events.map((event, i) => event.frame('metadata+protobuf') === again[i])).not.toContain(true);
    cache.stop();
  });

  it('releases the encodings of a turn in which more was written than is kept', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const watch = await cache.watch();
    const waiting = watch.next();
    await Promise.all(Array.from({ length: 400 }, (_, i) => objects.writeOnly(`m${i}`, i)));
    objects.clock.runDeferred();
    const first = await waiting;
    const events = first.kind === 'events' ? first.batch.events : [];
    const frames = events.map((event) => event.frame('json'));
    void watch.next();
    await objects.write('waits', 1);
    const same = events.map((event, i) => event.frame('json') === frames[i]);
    expect(same).toHaveLength(400);
    expect(same.indexOf(true)).toBe(400 - 64);
    cache.stop();
  });

  it('API-122, API-126 sends every change after the start, with the objects before and after', async () => {
    const objects = new Objects();
    await objects.write('a', 1);
    const watch = await objects.cache().watch();
    await objects.write('a', 2);
    await objects.write('b', 1);
    await objects.write('a', undefined);
    await objects.write('a', 3);
    expect(await read(watch, (all) => all.length === 4)).toEqual([
      '2 MODIFIED a 2 1',
      '3 ADDED b 1 -',
      '4 DELETED a 2 2',
      '5 ADDED a 3 -',
    ]);
  });

  it('API-126 a deletion shows the last content under its own revision, and what it was under the old one', async () => {
    const objects = new Objects();
    await objects.write('a', 1);
    const watch = await objects.cache().watch();
    await objects.write('a', undefined);
    const s = await watch.next();
    const event = s.kind === 'events' ? s.batch.events[0] : undefined;
    expect(event?.current.object().metadata?.resourceVersion).toBe('2');
    expect(event?.previous?.object().metadata?.resourceVersion).toBe('1');
  });

  it('API-129 lists what there is, says when that is complete, and goes on from there', async () => {
    const objects = new Objects();
    for (let i = 0; i < 1200; i++) void objects.write(`k${String(i).padStart(4, '0')}`, i);
    await objects.write('x', 0);
    const watch = await objects.cache().watch({ initial: 'list' });
    expect(watch.revision).toBe(0);
    const first = await step(watch);
    expect(first).toHaveLength(500);
    await objects.write('x', 1);
    const all = [...first, ...(await read(watch, (seen) => seen.at(-1)?.startsWith('1202') === true))];
    expect(all).toHaveLength(1201 + 1 + 1);
    expect(all.slice(1200)).toEqual(['1201 ADDED x 0 -', 'initial-end 1201', '1202 MODIFIED x 1 0']);
    expect(watch.revision).toBe(1202);
  });

  it('API-122, API-137 resumes from any revision the store still has, older than the ring or not', async () => {
    const objects = new Objects();
    for (let i = 1; i <= 5; i++) await objects.write('a', i);
    const cache = objects.cache({ capacity: 4 });
    await cache.start();
    for (let i = 6; i <= 15; i++) await objects.write('a', i);
    for (let from = 1; from <= 16; from++) {
      const watch = await cache.watch({ startRevision: from });
      const live = objects.write('a', 100 + from);
      const expected = Array.from({ length: 15 + from }, (_, i) => i + 1).slice(from - 1);
      const seen = await read(watch, (all) => all.length === expected.length);
      expect(seen.map((line) => Number.parseInt(line))).toEqual(expected);
      await live;
      watch.close();
    }
  });

  it('reads a long history in slices before it joins the ring', async () => {
    const objects = new Objects();
    const cache = objects.cache({ capacity: 4 });
    await cache.start();
    for (let i = 1; i <= 5000; i++) void objects.write(`k${i}`, i);
    await settled();
    const watch = await cache.watch({ startRevision: 1 });
    const reading = read(watch, (all) => all.length === 5001);
    await settled();
    await objects.write('last', 0);
    objects.clock.runDeferred();
    expect((await reading).map((line) => Number.parseInt(line))).toEqual(Array.from({ length: 5001 }, (_, i) => i + 1));
  });

  it('API-123 refuses a revision that is compacted, API-124 one that has not come', async () => {
    const objects = new Objects();
    for (let i = 1; i <= 5; i++) await objects.write('a', i);
    await objects.store.compact(3);
    const cache = objects.cache();
    await expect(cache.watch({ startRevision: 3 })).rejects.toThrow(RevisionCompactedError);
    await expect(cache.watch({ startRevision: 7 })).rejects.toThrow(RevisionFutureError);
    expect(await step(await cache.watch({ startRevision: 4 }))).toHaveLength(2);
    const live = await cache.watch({ startRevision: 6 });
    await objects.write('a', 6);
    expect(await step(live)).toEqual(['6 MODIFIED a 6 5']);
  });

  it.each(['the first list', 'history', 'the ring'] as const)(
    'API-136 a reader is not given more than a MiB of objects at once, and one more: out of %s',
    async (phase) => {
      const objects = new Objects();
      const cache = objects.cache(phase === 'history' ? { capacity: 1 } : {});
      if (phase !== 'the first list') await cache.start();
      const large = encodeStored({ kind: 'ConfigMap', apiVersion: 'v1', data: { filler: 'x'.repeat(400_000) } });
      for (let i = 0; i < 9; i++) await objects.store.create(`${prefix}large-${i}`, large);
      objects.clock.runDeferred();
      const watch = await cache.watch(phase === 'the first list' ? { initial: 'list' } : { startRevision: 1 });
      const sizes: number[] = [];
      while (sizes.reduce((sum, size) => sum + size, 0) < 9) {
        const step = await watch.next();
        if (step.kind !== 'events') throw new Error(step.kind);
        sizes.push(step.batch.events.length);
      }
      // The ring of one event begins where history has been read.
      expect(sizes.slice(0, 2)).toEqual([3, 3]);
      expect(Math.max(...sizes)).toBe(3);
      watch.close();
    },
  );

  describe('of history that is the copy of one watch', () => {
    const value = encodeStored({ kind: 'ConfigMap', apiVersion: 'v1', data: { filler: 'x'.repeat(1 << 20) } });

    /** A cache that begins after 40 changes of a 1 MiB object: 79 MiB of history, with the value before each change. */
    async function behindHistory(writers: Objects['writers']): Promise<{ objects: Objects; cache: WatchCache }> {
      const objects = new Objects();
      objects.writers = writers;
      for (let revision = 0; revision < 40; revision++) {
        await (revision === 0
          ? objects.store.create(`${prefix}large`, value)
          : objects.store.update(`${prefix}large`, value, revision));
      }
      const cache = objects.cache();
      await cache.start();
      objects.clock.runDeferred();
      return { objects, cache };
    }

    async function countEvents(watch: CacheWatch): Promise<number> {
      for (let sum = 0; ;) {
        const step = await watch.next();
        if (step.kind !== 'events') throw new Error(step.kind);
        sum += step.batch.events.length;
        if (sum >= 40) return sum;
      }
    }

    it('API-123 a watch that does not read holds 64 MiB, then it has expired', async () => {
      const { objects, cache } = await behindHistory({ writers: 'several servers' });
      objects.slice = 4;
      const watch = await cache.watch({ startRevision: 1 });
      for (let turn = 0; turn < 20; turn++) await settled();
      expect(await watch.next()).toMatchObject({ kind: 'closed', reason: 'expired', error: { compactedRevision: 40 } });
    });

    it('API-122 one that reads gets all of it', async () => {
      const { objects, cache } = await behindHistory({ writers: 'several servers' });
      objects.slice = 4;
      expect(await countEvents(await cache.watch({ startRevision: 1 }))).toBe(40);
    });

    it('API-122 what the store of this process holds anyway is not counted', async () => {
      const { cache } = await behindHistory({});
      const watch = await cache.watch({ startRevision: 1 });
      for (let turn = 0; turn < 20; turn++) await settled();
      expect(await countEvents(watch)).toBe(40);
    });

    it('a watch that has expired before it is confirmed is none of those that a cache waits for in the end', async () => {
      const { objects, cache } = await behindHistory({ writers: 'several servers' });
      objects.delay = 1;
      expect(await step(await cache.watch({ startRevision: 1 }))).toEqual(['closed expired']);
      let empty = 0;
      cache.finish(() => empty++);
      expect(empty).toBe(1);
    });
  });

  it('API-135, API-136 a slow reader is dropped, the others get everything in order', async () => {
    const objects = new Objects();
    const cache = objects.cache({ capacity: 10 });
    const slow = await cache.watch();
    const fast = await cache.watch();
    await objects.write('a', 0);
    expect(await step(slow)).toHaveLength(1);
    const seen: string[] = await step(fast);
    const waiting = slow.next();
    for (let i = 1; i < 30; i++) {
      await objects.write('a', i);
      seen.push(...(await step(fast)));
    }
    expect(seen.map((line) => Number.parseInt(line))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(summary(await waiting)).toEqual(['2 MODIFIED a 1 0']);
    expect(await step(slow)).toEqual(['closed slow']);
    expect(await step(slow)).toEqual(['closed slow']);
    expect(slow.revision).toBe(2);
    const resumed = await cache.watch({ startRevision: 3 });
    expect(await read(resumed, (all) => all.length === 28)).toHaveLength(28);
  });

  it('a reader still busy with its initial list is not slow: it reads the history it missed', async () => {
    const objects = new Objects();
    await objects.write('a', 0);
    const cache = objects.cache({ capacity: 4 });
    const watch = await cache.watch({ initial: 'list' });
    for (let i = 1; i <= 20; i++) await objects.write('a', i);
    const seen = await read(watch, (all) => all.length === 22);
    expect(seen.slice(0, 3)).toEqual(['1 ADDED a 0 -', 'initial-end 1', '2 MODIFIED a 1 0']);
    await objects.write('a', 21);
    expect(await step(watch)).toEqual(['22 MODIFIED a 21 20']);
  });

  it('API-135 a reader that waits at the end of the ring gets events from the cache only, also when its way through history is confirmed late', async () => {
    const objects = new Objects();
    await objects.write('a', 0);
    const cache = objects.cache({ capacity: 4 });
    const other = await cache.watch();
    const watch = await cache.watch({ initial: 'list' });
    for (let i = 1; i <= 20; i++) {
      await objects.write('a', i);
      await step(other);
    }
    objects.delay = 3;
    await read(watch, (all) => all.length === 22);
    const waiting = [step(watch), step(other)];
    await objects.writeOnly('b', 1);
    for (let i = 0; i < 5; i++) await settled();
    objects.clock.runDeferred();
    expect(await Promise.all(waiting)).toEqual([['22 ADDED b 1 -'], ['22 ADDED b 1 -']]);
    const next = [step(watch), step(other)];
    await objects.write('b', 2);
    expect(await Promise.all(next)).toEqual([['23 MODIFIED b 2 1'], ['23 MODIFIED b 2 1']]);
  });

  it('API-123 a list read so slowly that history is gone ends as expired', async () => {
    const objects = new Objects();
    await objects.write('a', 0);
    const cache = objects.cache({ capacity: 4 });
    const watch = await cache.watch({ initial: 'list' });
    for (let i = 1; i <= 20; i++) await objects.write('a', i);
    await objects.store.compact(10);
    expect(await step(watch)).toHaveLength(1);
    expect(await step(watch)).toEqual(['initial-end 1']);
    const closed = await watch.next();
    expect(closed).toMatchObject({ kind: 'closed', reason: 'expired', error: { compactedRevision: 10 } });
  });

  it('watches under a longer prefix, and stays up to date with what passes it by (API-128)', async () => {
    const objects = new Objects();
    const cache = objects.cache({ capacity: 4 });
    const watch = await cache.watch({ prefix: `${prefix}ns-1/` });
    const next = watch.next();
    for (let i = 0; i < 20; i++) await objects.write('ns-2/a', i);
    expect(watch.revision).toBe(20);
    await objects.write('ns-1/a', 1);
    expect(summary(await next)).toEqual(['21 ADDED ns-1/a 1 -']);
    await objects.store.create('/registry/core/secrets/a', encodeStored({}));
    void watch.next();
    expect(watch.revision).toBe(21);
    objects.clock.runDeferred();
    expect(watch.revision).toBe(22);
  });

  it('sends an event to those who wait a turn after the write, and claims no more than it has sent (API-128)', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const watch = await cache.watch();
    const next = watch.next();
    let steps = 0;
    void next.then(() => steps++);
    await objects.writeOnly('a', 1);
    await objects.store.create('/registry/core/secrets/a', encodeStored({}));
    await objects.writeOnly('b', 2);
    await settled();
    expect([steps, watch.revision]).toEqual([0, 0]);
    objects.clock.runDeferred();
    expect(summary(await next)).toEqual(['1 ADDED a 1 -', '3 ADDED b 2 -']);
    expect(watch.revision).toBe(3);
  });

  it('sends each event once to a reader that comes to the end of the ring before the turn is over', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const [early, late] = [await cache.watch(), await cache.watch()];
    const waiting = early.next();
    await objects.writeOnly('a', 1);
    expect(await step(late)).toEqual(['1 ADDED a 1 -']);
    const rest = late.next();
    await objects.writeOnly('b', 2);
    objects.clock.runDeferred();
    expect(summary(await waiting)).toEqual(['1 ADDED a 1 -', '2 ADDED b 2 -']);
    expect(summary(await rest)).toEqual(['2 ADDED b 2 -']);
    const parked = late.next();
    const others = await cache.watch();
    await objects.writeOnly('c', 3);
    expect(await step(others)).toEqual(['3 ADDED c 3 -']);
    const nothing = others.next();
    objects.clock.runDeferred();
    expect(summary(await parked)).toEqual(['3 ADDED c 3 -']);
    await objects.write('d', 4);
    expect(summary(await nothing)).toEqual(['4 ADDED d 4 -']);
  });

  it('does not let those who wait fall out of the ring, however much is written in a turn', async () => {
    const objects = new Objects();
    const cache = objects.cache({ capacity: 600 });
    const watch = await cache.watch();
    const waiting = watch.next();
    await Promise.all(Array.from({ length: 1000 }, (_, i) => objects.writeOnly(`k${i}`, i)));
    expect(summary(await waiting)).toHaveLength(500);
    objects.clock.runDeferred();
    expect(await read(watch, (all) => all.length === 500)).toHaveLength(500);
  });

  it('encodes an event once for all readers, and joins those of one group of writes', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const watches = await Promise.all(Array.from({ length: 3 }, () => cache.watch()));
    const steps = Promise.all(watches.map((watch) => watch.next()));
    await Promise.all([objects.write('a', 1), objects.write('b', 2)]);
    const batches = (await steps).flatMap((s) => (s.kind === 'events' ? [s.batch] : []));
    const [first] = batches;
    expect(batches).toHaveLength(3);
    expect(first?.events).toHaveLength(2);
    const frame = first?.frame('json') ?? new Uint8Array();
    for (const batch of batches) expect(batch.frame('json')).toBe(frame);
    expect(Buffer.from(frame).toString()).toBe(
      ['a', 'b']
        .map(
          (name, i) =>
            `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"${i + 1}","name":"${name}"},"data":{"count":"${i + 1}"}}}\n`,
        )
        .join(''),
    );
    const event = first?.events[0];
    expect(event?.frame('json')).toBe(event?.frame('json'));
    let encoded = 0;
    const encode = (): Uint8Array => Uint8Array.of(encoded++);
    expect([first?.frame('own', encode), first?.frame('own', encode)]).toEqual([Buffer.of(0, 1), Buffer.of(0, 1)]);
    expect(encoded).toBe(2);
  });

  it('shares batches and parsed objects between readers that lag alike', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const [one, two] = [await cache.watch(), await cache.watch()];
    for (let i = 0; i < 3; i++) await objects.write('a', i);
    const [first, second] = [await one.next(), await two.next()];
    if (first.kind !== 'events' || second.kind !== 'events') throw new Error('expected events');
    expect(second.batch).toBe(first.batch);
    expect(first.batch.events[1]?.previous).toBe(first.batch.events[0]?.current);
  });

  it('API-122, API-135 does not share a batch that lacks what one reader had from history and the other needs', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    for (let i = 1; i <= 5; i++) await objects.write('a', i);
    await cache.start();
    objects.holdFeed();
    for (let i = 6; i <= 7; i++) await objects.write('a', i);
    const behind = await cache.watch({ startRevision: 2 });
    await settled();
    for (let i = 8; i <= 9; i++) await objects.write('a', i);
    const ahead = await cache.watch({ startRevision: 2 });
    await settled();
    await objects.write('a', 10);
    objects.releaseFeed();
    for (const watch of [ahead, behind]) {
      const seen = await read(watch, (all) => all.at(-1)?.startsWith('10 ') === true);
      expect(seen.map((line) => Number.parseInt(line))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
  });

  it('API-523 frames metadata as protobuf', async () => {
    const objects = new Objects();
    const watch = await objects.cache().watch();
    await objects.write('a', 1);
    const s = await watch.next();
    const frame = Buffer.from(s.kind === 'events' ? s.batch.frame('metadata+protobuf') : []);
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    expect(frame.includes('k8s\0')).toBe(true);
  });

  it('ends with its reader, with the server, and with the store', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const cancelled = await cache.watch();
    const waiting = cancelled.next();
    cancelled.close();
    cancelled.close();
    expect(summary(await waiting)).toEqual(['closed cancelled']);
    const ended = await cache.watch();
    await objects.store.close();
    expect(await step(ended)).toEqual(['closed stopped']);
    await expect(cache.watch()).rejects.toThrow('closed');

    const others = new Objects();
    const stopped = others.cache();
    const watch = await stopped.watch({ initial: 'list' });
    stopped.stop();
    expect(await step(watch)).toEqual(['closed stopped']);
    await expect(stopped.watch()).rejects.toThrow('closed');
    await others.write('a', 1);
    await settled();
  });

  it('API-458 finishes: each reader gets the events until then, and its stream ends', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    await objects.write('before', 1);
    const lagging = await cache.watch();
    const listing = await cache.watch({ initial: 'list' });
    const parked = await cache.watch();
    const waiting = step(parked);
    await objects.write('a', 1);
    expect(brief(await waiting)).toEqual(['ADDED a']);
    const last = step(parked);
    await objects.write('a', undefined);
    expect(brief(await last)).toEqual(['DELETED a']);
    const end = step(parked);
    let empty = 0;
    await objects.writeOnly('b', 1);
    cache.finish(() => empty++);
    expect(brief(await end)).toEqual(['ADDED b']);
    await objects.write('later', 1);
    expect(await step(parked)).toEqual(['closed stopped']);
    expect(brief(await step(lagging))).toEqual(['ADDED a', 'DELETED a', 'ADDED b']);
    expect(await step(lagging)).toEqual(['closed stopped']);
    expect(empty).toBe(0);
    const listed = brief(await read(listing, (all) => all.at(-1) === 'closed stopped'));
    expect(listed).toEqual(['ADDED before', 'ADDED a', 'DELETED a', 'ADDED b', 'closed stopped']);
    expect(empty).toBe(1);
  });

  it('API-458 finishes while a watch is being opened', async () => {
    const objects = new Objects();
    objects.delay = 3;
    const cache = objects.cache();
    const opening = cache.watch();
    await settled();
    cache.finish(() => undefined);
    expect(await step(await opening)).toEqual(['closed stopped']);
  });

  it('starts anew when the store ended its watch', async () => {
    const objects = new Objects();
    const cache = objects.cache();
    const watch = await cache.watch();
    objects.endFeed(new Error('connection lost'));
    expect(await watch.next()).toMatchObject({
      kind: 'closed',
      reason: 'stopped',
      error: { message: 'connection lost' },
    });
    const again = await cache.watch();
    await objects.write('a', 1);
    expect(await step(again)).toEqual(['1 ADDED a 1 -']);
  });

  it.each([
    ['with a list', { initial: 'list' }],
    ['above what the cache was told', { startRevision: 3 }],
  ] as const)(
    'API-122, API-128 a watch %s that opens while the feed of the cache ends is over too',
    async (_, start) => {
      const objects = new Objects();
      const cache = objects.cache();
      await cache.start();
      await objects.write('x', 1);
      await objects.store.create('/registry/core/secrets/a', encodeStored({}));
      let open = (): void => undefined;
      objects.gate = new Promise((resolve) => (open = resolve));
      const opening = cache.watch(start);
      await settled();
      objects.endFeed(undefined);
      open();
      const watch = await opening;
      const reading = read(watch, (all) => /closed|ADDED b/.test(all.at(-1) ?? ''));
      await settled();
      await objects.write('a', 1);
      await cache.watch();
      await objects.write('b', 1);
      expect(await reading).toEqual(['closed stopped']);
      expect(await step(await cache.watch({ startRevision: 3 }))).toEqual(['3 ADDED a 1 -', '4 ADDED b 1 -']);
    },
  );

  it('no reader misses or doubles a change, wherever it starts and however it dawdles', async () => {
    const write = fc.record({ name: fc.constantFrom('a', 'b', 'n/c'), deletes: fc.boolean() });
    const readerPlan = fc.record({
      /** The number of writes before the reader starts, and the number of revisions that it goes back. */
      at: fc.nat(40),
      back: fc.option(fc.nat(20), { nil: undefined }),
      under: fc.constantFrom(prefix, `${prefix}n/`),
      /** Turns of the event loop between its steps. */
      pauses: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
    });
    const property = fc.asyncProperty(
      fc.array(write, { minLength: 10, maxLength: 40 }),
      fc.array(readerPlan, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 2, max: 60 }),
      fc.nat(3),
      fc.integer({ min: 1, max: 4 }),
      /** Numbers of writes: after each of them, the cache begins to lag behind the store, or catches up again. */
      fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }),
      async (writes, plans, capacity, delay, together, lags) => {
        const objects = new Objects();
        objects.delay = delay;
        const cache = objects.cache({ capacity });
        const history: { revision: number; key: string; state: string | undefined }[] = [];
        const readers: Promise<void>[] = [];
        const follow = async (plan: (typeof plans)[number], current: number): Promise<void> => {
          const from = plan.back === undefined ? undefined : Math.max(0, current - plan.back);
          const watch = await cache.watch(
            from === undefined
              ? { initial: 'list', prefix: plan.under }
              : { startRevision: from + 1, prefix: plan.under },
          );
          /** The objects as the reader knows them; a resumed one begins with the objects of that revision. */
          const state = new Map<string, string>();
          for (const change of history) {
            if (from === undefined || change.revision > from || !change.key.startsWith(plan.under)) continue;
            if (change.state === undefined) state.delete(change.key);
            else state.set(change.key, change.state);
          }
          const revisions: number[] = [];
          let listing = from === undefined;
          for (let turn = 0; ; turn++) {
            for (let i = 0; i < (plan.pauses[turn % plan.pauses.length] ?? 0); i++) await settled();
            const s = await watch.next();
            if (s.kind === 'closed') {
              expect(s.reason).toMatch(/^(slow|stopped)$/);
              if (s.reason === 'slow') return;
              break;
            }
            if (s.kind === 'initial-end') {
              listing = false;
              const before = history.filter(
                (change) => change.revision <= s.revision && change.key.startsWith(plan.under),
              );
              const there = new Map<string, string | undefined>();
              for (const change of before) there.set(change.key, change.state);
              expect([...state].toSorted()).toEqual([...there].filter(([, v]) => v !== undefined).toSorted());
              revisions.push(s.revision);
              continue;
            }
            for (const event of s.batch.events) {
              expect(event.key.startsWith(plan.under)).toBe(true);
              if (!listing) {
                expect(event.type === 'ADDED').toBe(!state.has(event.key));
                expect(event.revision).toBeGreaterThan(revisions.at(-1) ?? from ?? 0);
                revisions.push(event.revision);
              }
              if (event.type === 'DELETED') state.delete(event.key);
              else state.set(event.key, count(event.current) ?? '');
            }
            expect(watch.revision).toBeGreaterThanOrEqual(listing ? 0 : (revisions.at(-1) ?? 0));
          }
          const end = history.filter((change) => change.key.startsWith(plan.under));
          const expected = end.map((change) => change.revision).filter((r) => r > (from ?? revisions[0] ?? 0));
          expect(from === undefined ? revisions.slice(1) : revisions).toEqual(expected);
        };
        const turns = new Set(lags.map((_, i) => lags.slice(0, i + 1).reduce((sum, writes) => sum + writes, 0)));
        let lag: 'none' | 'lags' = 'none';
        for (const [i, { name, deletes }] of writes.entries()) {
          if (turns.has(i)) {
            lag = lag === 'none' ? 'lags' : 'none';
            if (lag === 'lags') objects.holdFeed();
            else objects.releaseFeed();
          }
          for (const plan of plans) {
            if (plan.at !== i) continue;
            const reading = follow(plan, history.length);
            // A reader that fails at once is checked at the end, together with all others.
            reading.catch(() => undefined);
            readers.push(reading);
          }
          const exists = objects.revisions.has(name);
          const revision = history.length + 1;
          const gone = deletes && exists;
          history.push({ revision, key: prefix + name, state: gone ? undefined : String(i) });
          const writing = objects.writeOnly(name, gone ? undefined : i);
          if (i % together === 0) objects.clock.runDeferred();
          if (i % 3 !== 0) await writing;
          else await Promise.all([writing, settled()]);
        }
        objects.releaseFeed();
        for (let i = 0; i < 30; i++) {
          await settled();
          objects.clock.runDeferred();
        }
        cache.stop();
        await Promise.all(readers);
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});
