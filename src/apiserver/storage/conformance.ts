import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { append } from '../../base/collections/append.ts';
import { RevisionCompactedError, RevisionFutureError } from './interface.ts';
import type { KeyValue, Revision, Store, StoreEvent, StoreWatch, UnchangedKey, WatchOptions } from './interface.ts';

/** A store to test, with no keys under `/registry/`. */
export interface StoreFixture {
  readonly store: Store;
  /** Only for drivers with durable data: closes the open store and opens it again. */
  readonly reopen?: () => Promise<Store>;
  /** Closes the store and removes its data. */
  readonly dispose: () => Promise<void>;
}

const prefix = '/registry/core/configmaps/';
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();
const key = (name: string): string => prefix + name;

/** Records the events of a watch, and lets a test wait for them. */
class Recorder {
  readonly events: StoreEvent[] = [];
  readonly batches: (readonly StoreEvent[])[] = [];
  progress: Revision = 0;
  closed: { error: Error | undefined } | undefined;
  #waiting: (() => void)[] = [];

  options(startRevision: Revision): WatchOptions {
    return {
      startRevision,
      onEvents: (events) => {
        this.batches.push(events);
        append(this.events, events);
        this.#wake();
      },
      onProgress: (revision) => {
        expect(revision).toBeGreaterThanOrEqual(this.progress);
        this.progress = revision;
        this.#wake();
      },
      onClose: (error) => {
        this.closed = { error };
        this.#wake();
      },
    };
  }

  async until(met: () => boolean): Promise<void> {
    while (!met()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  get told(): string[] {
    return this.events.map(({ type, key: k, current, previous }) =>
      [type, k.slice(prefix.length), text(current?.value), text(previous?.value)].map((part) => part ?? '-').join(' '),
    );
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

async function put(store: Store, name: string, value: string): Promise<KeyValue> {
  const result = await store.create(key(name), bytes(value));
  if (!result.succeeded) throw new Error(`${name} exists`);
  return result.kv;
}

async function change(store: Store, previous: KeyValue, value: string): Promise<KeyValue> {
  const result = await store.update(previous.key, bytes(value), previous.modRevision);
  if (!result.succeeded) throw new Error(`${previous.key} is not at ${previous.modRevision}`);
  return result.kv;
}

async function remove(store: Store, previous: KeyValue): Promise<Revision> {
  const result = await store.delete(previous.key, previous.modRevision);
  if (!result.succeeded) throw new Error(`${previous.key} is not at ${previous.modRevision}`);
  return result.revision;
}

async function names(store: Store, revision?: Revision): Promise<(string | undefined)[]> {
  const { items } = await store.list(prefix, revision === undefined ? {} : { revision });
  return items.map((kv) => `${kv.key.slice(prefix.length)}=${text(kv.value)}`);
}

/** The tests of the {@link Store} contract, for every driver. */
export function describeStore(driver: string, open: () => Promise<StoreFixture>): void {
  describe(`${driver} as a store`, () => {
    let fixture: StoreFixture;
    let store: Store;
    let start: Revision;
    beforeEach(async () => {
      fixture = await open();
      ({ store } = fixture);
      start = await store.currentRevision();
    });
    afterEach(() => fixture.dispose());

    describe('writes', () => {
      it('API-076 each write takes the next revision, nothing else does', async () => {
        const a = await put(store, 'a', '1');
        expect(a).toMatchObject({ key: key('a'), createRevision: start + 1, modRevision: start + 1 });
        await store.create(key('a'), bytes('refused'));
        await store.get(key('a'));
        await store.list(prefix);
        const b = await put(store, 'b', '1');
        expect(b.modRevision).toBe(start + 2);
        const changed = await change(store, a, '2');
        expect(changed).toMatchObject({ createRevision: start + 1, modRevision: start + 3 });
        expect(text(changed.value)).toBe('2');
        expect(await remove(store, changed)).toBe(start + 4);
        expect(await store.currentRevision()).toBe(start + 4);
      });

      it('a create of a key that exists is refused and shows what is there', async () => {
        const a = await put(store, 'a', '1');
        const refused = await store.create(key('a'), bytes('2'));
        expect(refused).toMatchObject({ succeeded: false, current: { modRevision: a.modRevision } });
        expect(text((await store.get(key('a'))).kv?.value)).toBe('1');
      });

      it.each(['update', 'delete'] as const)('a guarded %s with a stale revision is refused', async (op) => {
        const a = await put(store, 'a', '1');
        const b = await change(store, a, '2');
        const result =
          op === 'update'
            ? await store.update(a.key, bytes('3'), a.modRevision)
            : await store.delete(a.key, a.modRevision);
        expect(result.succeeded).toBe(false);
        expect(!result.succeeded && result.current).toMatchObject({ modRevision: b.modRevision });
        expect(await names(store)).toEqual(['a=2']);
      });

      it.each(['update', 'delete'] as const)('a guarded %s of a key that is not there is refused', async (op) => {
        const a = await put(store, 'a', '1');
        await remove(store, a);
        const result =
          op === 'update'
            ? await store.update(a.key, bytes('3'), a.modRevision)
            : await store.delete(a.key, a.modRevision);
        expect(result.succeeded).toBe(false);
        expect(!result.succeeded && result.current).toBeUndefined();
        expect(result).toMatchObject({ revision: start + 2 });
      });

      it('a deletion hands out what it removed, under the revision of its last write', async () => {
        const a = await change(store, await put(store, 'a', '1'), '2');
        const result = await store.delete(a.key, a.modRevision);
        expect(result).toMatchObject({ succeeded: true, kv: { modRevision: a.modRevision }, revision: start + 3 });
        expect(result.succeeded && text(result.kv.value)).toBe('2');
        expect(await store.get(a.key)).toEqual({ revision: start + 3 });
      });

      it('a key that is created again has a new createRevision', async () => {
        await remove(store, await put(store, 'a', '1'));
        const again = await put(store, 'a', '2');
        expect(again).toMatchObject({ createRevision: start + 3, modRevision: start + 3 });
      });

      it('law 2: of many writers that raise one counter under guards none is lost', async () => {
        const writers = 16;
        const rounds = 10;
        await put(store, 'counter', '0');
        const raise = async (): Promise<void> => {
          for (let done = 0; done < rounds;) {
            const { kv } = await store.get(key('counter'));
            if (kv === undefined) throw new Error('the counter is gone');
            const next = String(Number(text(kv.value)) + 1);
            const result = await store.update(kv.key, bytes(next), kv.modRevision);
            if (result.succeeded) done++;
          }
        };
        await Promise.all(Array.from({ length: writers }, raise));
        expect(await names(store)).toEqual([`counter=${writers * rounds}`]);
        expect(await store.currentRevision()).toBe(start + 1 + writers * rounds);
      });

      it('of concurrent creates of one key exactly one succeeds, and the others see it', async () => {
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, i) => store.create(key('one'), bytes(String(i)))),
        );
        const winners = results.flatMap((result) => (result.succeeded ? [result.kv] : []));
        expect(winners).toHaveLength(1);
        for (const result of results) {
          if (!result.succeeded) expect(result.current?.modRevision).toBe(winners[0]?.modRevision);
        }
      });

      it('a refusal is not older than what it rests on: a read after it sees the same', async () => {
        const attempt = async (value: string) => {
          const result = await store.create(key('a'), bytes(value));
          return result.succeeded ? undefined : { current: result.current, read: (await store.get(key('a'))).kv };
        };
        const refusals = (await Promise.all([attempt('1'), attempt('2')])).filter((refusal) => refusal !== undefined);
        expect(refusals).toHaveLength(1);
        expect(refusals[0]?.read).toMatchObject({ createRevision: start + 1, modRevision: start + 1 });
        expect(refusals[0]?.current).toEqual(refusals[0]?.read);
      });

      describe('LIFE-566 a write that needs another key to be unchanged', () => {
        const writes = {
          create: (unchanged: UnchangedKey) => store.create(key('new'), bytes('2'), { unchanged }),
          update: async (unchanged: UnchangedKey) => {
            const { kv } = await store.get(key('old'));
            return store.update(key('old'), bytes('2'), kv?.modRevision ?? 0, { unchanged });
          },
        };
        const kinds = Object.keys(writes) as (keyof typeof writes)[];
        let other: KeyValue;
        beforeEach(async () => {
          await put(store, 'old', '1');
          other = await put(store, 'other', '1');
        });

        it.each(kinds)('a %s is made while it is, also with a time to live', async (kind) => {
          expect(await writes[kind]({ key: other.key, revision: other.modRevision })).toMatchObject({
            succeeded: true,
            kv: { modRevision: start + 3 },
          });
          const unchanged = { key: other.key, revision: other.modRevision };
          expect((await store.create(key('mortal'), bytes('1'), { ttlMs: 3_600_000, unchanged })).succeeded).toBe(true);
        });

        it.each(kinds)('a %s is refused once it has another value, is gone, or was made anew', async (kind) => {
          const unchanged = { key: other.key, revision: other.modRevision };
          const before = kind === 'create' ? undefined : { modRevision: start + 1 };
          const expectRefusal = async (): Promise<void> => {
            const result = await writes[kind](unchanged);
            expect(result.succeeded).toBe(false);
            if (before === undefined) expect(!result.succeeded && result.current).toBeUndefined();
            else expect(!result.succeeded && result.current).toMatchObject(before);
          };
          const changed = await change(store, other, '2');
          await expectRefusal();
          await remove(store, changed);
          await expectRefusal();
          await put(store, 'other', '1');
          await expectRefusal();
          expect(await names(store)).toEqual(['old=1', 'other=1']);
        });

        it.each(kinds)('a %s beside a change of it has one order with it', async (kind) => {
          const [changed, written] = await Promise.all([
            store.update(other.key, bytes('2'), other.modRevision),
            writes[kind]({ key: other.key, revision: other.modRevision }),
          ]);
          expect(changed.succeeded).toBe(true);
          if (changed.succeeded && written.succeeded)
            expect(written.kv.modRevision).toBeLessThan(changed.kv.modRevision);
        });

        it('its own guard comes first: a create of a key that exists shows it', async () => {
          const result = await store.create(key('old'), bytes('2'), { unchanged: { key: other.key, revision: start } });
          expect(result).toMatchObject({ succeeded: false, current: { modRevision: start + 1 } });
        });
      });

      it('keeps values of any bytes and sizes', async () => {
        const values = [0, 1, 4095, 4096, 20_000, 300_000].map((length) =>
          Uint8Array.from({ length }, (_, i) => (i * 31 + length) % 256),
        );
        await Promise.all(values.map((value, i) => store.create(key(`v${i}`), value)));
        const check = async (from: Store): Promise<void> => {
          const { items } = await from.list(prefix);
          expect(items.map((kv) => Buffer.compare(kv.value, values[Number(kv.key.at(-1))] ?? bytes('?')))).toEqual(
            values.map(() => 0),
          );
        };
        await check(store);
        if (fixture.reopen !== undefined) await check(await fixture.reopen());
      });
    });

    describe('lists', () => {
      it('API-092 are in bytewise key order and see only their prefix', async () => {
        for (const name of ['b/2', 'a', 'b-x/1', 'b/10', 'b/1', 'B']) await put(store, name, '');
        await store.create('/registry/core/configmapsx/a', bytes(''));
        await store.create('/registry/core/configmap', bytes(''));
        const { items, more, revision } = await store.list(prefix);
        expect(items.map((kv) => kv.key.slice(prefix.length))).toEqual(['B', 'a', 'b-x/1', 'b/1', 'b/10', 'b/2']);
        expect({ more, revision }).toEqual({ more: false, revision: start + 8 });
        expect((await store.list(`${prefix}b/`)).items).toHaveLength(3);
        expect((await store.list(`${prefix}zz`)).items).toEqual([]);
      });

      it('API-096, API-097 pages of one revision put together are the state at it, whatever happens meanwhile', async () => {
        const kvs: KeyValue[] = [];
        for (const name of ['a', 'b', 'c', 'd', 'e']) kvs.push(await put(store, name, '1'));
        const first = await store.list(prefix, { limit: 2, countRemaining: true });
        expect(first).toMatchObject({ more: true, remaining: 3, revision: start + 5 });
        await put(store, 'bb', 'new');
        for (const kv of kvs.slice(2, 4)) await remove(store, kv);
        const startKey = `${first.items.at(-1)?.key}\0`;
        const { revision } = first;
        const second = await store.list(prefix, { limit: 2, start: startKey, revision, countRemaining: true });
        expect(second).toMatchObject({ more: true, remaining: 1, revision });
        const third = await store.list(prefix, { limit: 2, start: `${second.items.at(-1)?.key}\0`, revision });
        expect(third).toMatchObject({ more: false, revision });
        const all = [...first.items, ...second.items, ...third.items];
        expect(all.map((kv) => kv.key.slice(prefix.length))).toEqual(['a', 'b', 'c', 'd', 'e']);
        expect(await names(store)).toEqual(['a=1', 'b=1', 'bb=new', 'e=1']);
      });

      it('API-093 each revision since the start can be read', async () => {
        const a = await put(store, 'a', '1');
        const b = await put(store, 'b', '1');
        const a2 = await change(store, a, '2');
        await remove(store, b);
        await remove(store, a2);
        const states = [[], ['a=1'], ['a=1', 'b=1'], ['a=2', 'b=1'], ['a=2'], []];
        for (const [i, state] of states.entries()) {
          if (start + i > 0) expect(await names(store, start + i)).toEqual(state);
        }
      });

      it('a page that ends with the last item has no more', async () => {
        for (const name of ['a', 'b']) await put(store, name, '');
        expect(await store.list(prefix, { limit: 2 })).toMatchObject({ more: false });
        expect(await store.list(prefix, { limit: 1 })).toMatchObject({ more: true });
        expect(await store.list(prefix, { limit: 0 })).toMatchObject({ more: false });
      });

      it('a long list, and a long page of it, are one state whatever is written meanwhile', async () => {
        const name = (i: number): string => `k${String(i).padStart(3, '0')}`;
        const created = await Promise.all(
          Array.from({ length: 350 }, (_, i) => put(store, name(i), 'x'.repeat((i % 7) * 1_000))),
        );
        const reading = store.list(prefix);
        const page = store.list(prefix, { start: key(name(20)), limit: 300, countRemaining: true });
        const [first] = created;
        if (first !== undefined) await remove(store, first);
        const { items, revision } = await reading;
        const gone = revision === start + 351 ? 1 : 0;
        expect(items.map((kv) => kv.key)).toEqual(created.slice(gone).map((kv) => kv.key));
        expect((await page).items.map((kv) => kv.key)).toEqual(created.slice(20, 320).map((kv) => kv.key));
        expect(await page).toMatchObject({ more: true, remaining: 30 });
        const exact = await store.list(prefix, { revision: start + 350 });
        expect(exact.items.map((kv) => kv.key)).toEqual(created.map((kv) => kv.key));
        expect(exact).toMatchObject({ more: false, revision: start + 350 });
      });

      it('API-094 a revision that has not come is an error of its own', async () => {
        await put(store, 'a', '1');
        await expect(store.list(prefix, { revision: start + 2 })).rejects.toThrow(RevisionFutureError);
      });
    });

    describe('watches', () => {
      let watches: StoreWatch[];
      beforeEach(() => {
        watches = [];
      });
      afterEach(() => {
        for (const watch of watches) watch.cancel();
      });
      const watch = async (from: Revision, under = prefix): Promise<Recorder> => {
        const recorder = new Recorder();
        watches.push(await store.watch(under, recorder.options(from)));
        return recorder;
      };
      const history = async (): Promise<void> => {
        const a = await put(store, 'a', '1');
        await put(store, 'b', '1');
        await remove(store, await change(store, a, '2'));
        await put(store, 'a', '3');
      };
      const told = ['PUT a 1 -', 'PUT b 1 -', 'PUT a 2 1', 'DELETE a - 2', 'PUT a 3 -'];

      it('API-122 send every change from a revision on, once and in order, with the object before it', async () => {
        await history();
        for (let from = 1; from <= told.length; from++) {
          const recorder = await watch(start + from);
          await recorder.until(() => recorder.progress >= start + told.length);
          expect(recorder.told).toEqual(told.slice(from - 1));
          expect(recorder.events.map((event) => event.revision)).toEqual(
            told.slice(from - 1).map((_, i) => start + from + i),
          );
        }
        const { events } = await watch(start + 1).then(async (recorder) => {
          await recorder.until(() => recorder.events.length === told.length);
          return recorder;
        });
        expect(events[3]).toMatchObject({ createRevision: start + 1, previous: { modRevision: start + 3 } });
        expect(events[4]).toMatchObject({ createRevision: start + 5 });
      });

      it('API-135 send the same to those who began before, meanwhile and after', async () => {
        const recorders = [await watch(start + 1)];
        const writing = Promise.all(Array.from({ length: 50 }, (_, i) => put(store, `k${i}`, String(i))));
        recorders.push(await watch(start + 1));
        await writing;
        recorders.push(await watch(start + 1));
        for (const recorder of recorders) {
          await recorder.until(() => recorder.events.length === 50);
          expect(recorder.events.map((event) => event.revision)).toEqual(
            Array.from({ length: 50 }, (_, i) => start + 1 + i),
          );
        }
        expect(recorders[1]?.told).toEqual(recorders[0]?.told);
        expect(recorders[2]?.told).toEqual(recorders[0]?.told);
      });

      it('see nothing outside their prefix, but make progress over it', async () => {
        const recorder = await watch(start + 1);
        await store.create('/registry/core/secrets/a', bytes('1'));
        await recorder.until(() => recorder.progress >= start + 1);
        expect(recorder.events).toEqual([]);
      });

      it('are not called from inside the call, and not after they were cancelled', async () => {
        await put(store, 'a', '1');
        const recorder = new Recorder();
        const starting = store.watch(prefix, recorder.options(start + 1));
        expect(recorder.events).toEqual([]);
        const started = await starting;
        await recorder.until(() => recorder.events.length === 1);
        started.cancel();
        started.cancel();
        const other = await watch(start + 1);
        await put(store, 'b', '1');
        await other.until(() => other.events.length === 2);
        expect(recorder.told).toEqual(['PUT a 1 -']);
        expect(recorder.closed).toBeUndefined();
      });

      it('never run ahead of what can be read', async () => {
        const seen: Promise<void>[] = [];
        const live = await store.watch(prefix, {
          startRevision: start + 1,
          onEvents: (events) => {
            for (const { key: k, revision } of events) {
              seen.push(
                store.get(k).then((got) => {
                  expect(got.revision).toBeGreaterThanOrEqual(revision);
                  expect(got.kv).toBeDefined();
                }),
              );
            }
          },
        });
        watches.push(live);
        await Promise.all(Array.from({ length: 20 }, (_, i) => put(store, `k${i}`, '')));
        const recorder = await watch(start + 1);
        await recorder.until(() => recorder.progress >= start + 20);
        await Promise.all(seen);
        expect(seen).toHaveLength(20);
      });

      it('API-124 do not begin in the future', async () => {
        await put(store, 'a', '1');
        await expect(watch(start + 3)).rejects.toThrow(RevisionFutureError);
      });

      it('end when the store is closed', async () => {
        const recorder = await watch(start + 1);
        await store.close();
        await recorder.until(() => recorder.closed !== undefined);
        expect(recorder.closed).toEqual({ error: undefined });
      });
    });

    describe('compaction', () => {
      it('API-095, API-123 ends history below it and changes nothing else', async () => {
        const a = await put(store, 'a', '1');
        const a2 = await change(store, a, '2');
        const b = await put(store, 'b', '1');
        await remove(store, b);
        await change(store, a2, '3');
        await store.compact(start + 3);
        await expect(names(store, start + 2)).rejects.toThrow(RevisionCompactedError);
        expect(await names(store, start + 3)).toEqual(['a=2', 'b=1']);
        expect(await names(store, start + 4)).toEqual(['a=2']);
        expect(await names(store)).toEqual(['a=3']);
        const error = await store.watch(prefix, new Recorder().options(start + 2)).catch((e: unknown) => e);
        expect(error).toBeInstanceOf(RevisionCompactedError);
        expect(error).toMatchObject({ compactedRevision: start + 3 });
        const atIt = await store.watch(prefix, new Recorder().options(start + 3)).catch((e: unknown) => e);
        expect(atIt).toBeInstanceOf(RevisionCompactedError);
        const recorder = new Recorder();
        const watching = await store.watch(prefix, recorder.options(start + 4));
        await recorder.until(() => recorder.events.length === 2);
        watching.cancel();
        expect(recorder.told).toEqual(['DELETE b - 1', 'PUT a 3 2']);
      });

      it('up to the present leaves the present, and may be repeated', async () => {
        const a = await put(store, 'a', '1');
        await remove(store, await put(store, 'b', '1'));
        await store.compact(start + 3);
        await store.compact(start + 3);
        await store.compact(start + 1);
        expect(await names(store)).toEqual(['a=1']);
        expect(await names(store, start + 3)).toEqual(['a=1']);
        expect((await change(store, a, '2')).modRevision).toBe(start + 4);
        expect((await put(store, 'b', '2')).createRevision).toBe(start + 5);
      });

      it('does not reach into the future', async () => {
        await expect(store.compact(start + 1)).rejects.toThrow(RevisionFutureError);
      });
    });

    describe('closing', () => {
      it('waits for writes under way and refuses later calls', async () => {
        const writing = put(store, 'a', '1');
        await Promise.all([store.close(), store.close()]);
        expect((await writing).modRevision).toBe(start + 1);
        await expect(store.get(key('a'))).rejects.toThrow('closed');
        await expect(store.list(prefix)).rejects.toThrow('closed');
        await expect(store.create(key('b'), bytes(''))).rejects.toThrow('closed');
        await expect(store.watch(prefix, new Recorder().options(start + 1))).rejects.toThrow('closed');
        await expect(store.currentRevision()).rejects.toThrow('closed');
        await expect(store.compact(start + 1)).rejects.toThrow('closed');
      });
    });

    describe('a restart', () => {
      it('law 3: keeps what was acknowledged, its revisions and its history', async ({ skip }) => {
        if (fixture.reopen === undefined) return skip('this driver keeps nothing');
        const a = await put(store, 'a', '1');
        const b = await put(store, 'b', '1');
        await change(store, a, '2');
        await remove(store, b);
        const before = await store.list(prefix);
        const again = await fixture.reopen();
        const after = await again.list(prefix);
        expect(after.revision).toBe(start + 4);
        expect(after.items.map((kv) => ({ ...kv, value: text(kv.value) }))).toEqual(
          before.items.map((kv) => ({ ...kv, value: text(kv.value) })),
        );
        expect(await names(again, start + 2)).toEqual(['a=1', 'b=1']);
        const recorder = new Recorder();
        await again.watch(prefix, recorder.options(start + 1));
        await recorder.until(() => recorder.events.length === 4);
        expect(recorder.told).toEqual(['PUT a 1 -', 'PUT b 1 -', 'PUT a 2 1', 'DELETE b - 1']);
        expect((await put(again, 'c', '1')).modRevision).toBe(start + 5);
      });

      it('keeps a compaction, and does not give a revision twice when the newest write was a deletion', async ({
        skip,
      }) => {
        if (fixture.reopen === undefined) return skip('this driver keeps nothing');
        await change(store, await put(store, 'kept', '1'), '2');
        await remove(store, await put(store, 'gone', '1'));
        await store.compact(start + 4);
        const again = await fixture.reopen();
        expect(await again.currentRevision()).toBe(start + 4);
        expect(await names(again)).toEqual(['kept=2']);
        expect((await again.get(key('kept'))).kv).toMatchObject({ createRevision: start + 1, modRevision: start + 2 });
        await expect(names(again, start + 3)).rejects.toThrow(RevisionCompactedError);
        expect((await put(again, 'new', '1')).modRevision).toBe(start + 5);
        expect(await names(await fixture.reopen())).toEqual(['kept=2', 'new=1']);
      });
    });
  });
}
