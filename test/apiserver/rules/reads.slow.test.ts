import { beforeEach, describe, expect, it } from 'vitest';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../../src/apiserver/test/test-server.ts';
import { openMemoryStore } from '../../../src/apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../../src/apiserver/storage/interface.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { samples } from '../samples.ts';
import { SetClock } from '../set-clock.ts';

/** Sections 6, 7 and 21 through the handler. */

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const json = 'application/json';
const table = `${json};as=Table;v=v1;g=meta.k8s.io`;
const metadataOnly = `${json};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;

describe('GET and list', () => {
  it('API-090 a GET shows what is stored, with defaults, at any revision that has come', async () => {
    const sample = samples.find(({ kind }) => kind === 'Deployment');
    if (sample === undefined) throw new Error('no sample');
    const created = await server.post(sample.collection, sample.object);
    const target = `${sample.collection}/${sample.object.metadata?.name}`;
    for (const query of [
      '',
      '?resourceVersion=0',
      '?resourceVersion=1',
      `?resourceVersion=${created.json.metadata?.resourceVersion}`,
    ]) {
      expect((await server.get(`${target}${query}`)).json).toEqual(created.json);
    }
    expect(created.json).toMatchObject({
      spec: {
        replicas: 1,
        strategy: { type: 'RollingUpdate' },
        template: { spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' } },
      },
    });
    const future = await server.get(`${target}?resourceVersion=999999`);
    expect([future.status, future.json.details?.causes?.[0]?.reason]).toEqual([504, 'ResourceVersionTooLarge']);
  });

  it.each(samples.filter(({ kind }) => kind !== 'Widget').map(({ collection, kind }) => [kind, collection] as const))(
    'API-091 an empty list of %s has its kind and no null',
    async (kind, collection) => {
      const { json: list } = await server.get(`${collection}?labelSelector=nothing-has-this`);
      expect(list).toEqual({
        kind: kind === 'Endpoints' ? 'EndpointsList' : `${kind}List`,
        apiVersion: expect.any(String),
        metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
        items: [],
      });
    },
  );

  it('API-104 shardSelector belongs to a feature that is off: it changes nothing', async () => {
    for (const name of ['a', 'b']) await server.post(configMaps, configMap(name));
    const shard = 'shardSelector=shardRange(object.metadata.uid%2C%270x0%27%2C%270x1%27)';
    const plain = await server.get(configMaps);
    expect((await server.get(`${configMaps}?${shard}`)).json).toEqual(plain.json);
    expect(plain.json.metadata).not.toHaveProperty('shardInfo');
    const watch = await server.watch(`${configMaps}?watch=1&${shard}`);
    expect(await watch.summary(2)).toEqual(['ADDED a', 'ADDED b']);
    watch.close();
  });

  it('API-103 a list and a watch of one name read that key and nothing else', async () => {
    const inner = openMemoryStore({ clock: new FakeClock() });
    const listed: string[] = [];
    const store = new Proxy(inner, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (property === 'list') listed.push(String(args[0]));
          return Reflect.apply(value as (...values: unknown[]) => unknown, target, args);
        };
      },
    }) as Store;
    const counted = await startTestServer({ store });
    for (const name of ['a', 'ab', 'b']) await counted.post(configMaps, configMap(name));
    listed.length = 0;
    const { json: list } = await counted.get(
      `${configMaps}?fieldSelector=metadata.name%3Da&limit=500&resourceVersion=0`,
    );
    expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['a']);
    expect(listed).toEqual([]);
    const watch = await counted.watch(`${configMaps}?fieldSelector=metadata.name%3Da&watch=1`);
    expect(await watch.summary(1)).toEqual(['ADDED a']);
    expect(listed).toEqual(['/registry/core/configmaps/default/a']);
    watch.close();
  });
});

describe('watch', () => {
  it('API-121 API-122 API-126 one line an event, each a whole object of its type', async () => {
    await server.post(configMaps, configMap('a', { data: { k: 'line\nbreak' } }));
    const watch = await server.watch(`${configMaps}?watch=1`);
    await server.patch(`${configMaps}/a`, { data: { k: 'w' } });
    await server.delete(`${configMaps}/a`);
    const events = await watch.take(3);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    for (const { object } of events) {
      expect(object).toMatchObject({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'a', uid: expect.any(String) },
      });
    }
    const versions = events.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
    watch.close();
  });

  it.each([
    [table, 'Table', 'meta.k8s.io/v1'],
    [metadataOnly, 'PartialObjectMetadata', 'meta.k8s.io/v1'],
    [json, 'ConfigMap', 'v1'],
  ])('API-121 API-128 as %s also bookmarks are %s', async (accept, kind, apiVersion) => {
    const clock = new FakeClock();
    const timed = await startTestServer({ clock });
    await timed.post(configMaps, configMap('a'));
    const watch = await timed.watch(
      `${configMaps}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      { accept },
    );
    const [added, initial] = await watch.take(2);
    const live = watch.next();
    await clock.advanceAsync(60_000);
    const bookmark = await live;
    expect([added?.type, initial?.type, bookmark?.type]).toEqual(['ADDED', 'BOOKMARK', 'BOOKMARK']);
    for (const event of [added, initial, bookmark]) expect(event?.object).toMatchObject({ kind, apiVersion });
    watch.close();
  });

  it('API-121 API-123 what is too old is an ERROR with a Status, whatever representation was asked for', async () => {
    for (const name of ['a', 'b']) await server.post(configMaps, configMap(name));
    await server.store.compact(await server.store.currentRevision());
    for (const accept of [json, table, metadataOnly]) {
      const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=1`, { accept });
      const event = await watch.next();
      expect(event).toMatchObject({
        type: 'ERROR',
        object: { kind: 'Status', apiVersion: 'v1', code: 410, reason: 'Expired' },
      });
      expect(event?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
      expect(await watch.next()).toBeUndefined();
    }
  });

  it('API-131 WatchList is always on, so it is never refused and never passed over', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await server.watch(`${configMaps}?${query}`);
    expect(await watch.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    watch.close();
  });

  it('API-137 a watch goes on from ten thousand changes ago', async () => {
    const start = await server.store.currentRevision();
    await server.post(configMaps, configMap('a'));
    // Through the store: ten thousand requests would say no more.
    const { kv } = await server.store.get('/registry/core/configmaps/default/a');
    if (kv === undefined) throw new Error('not stored');
    let revision = kv.modRevision;
    for (let i = 0; i < 9_999; i++) {
      const written = await server.store.update(kv.key, kv.value, revision);
      if (!written.succeeded) throw new Error('refused');
      revision = written.kv.modRevision;
    }
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${start}`);
    const events = await watch.take(10_000);
    expect(events[0]?.type).toBe('ADDED');
    expect(events.every(({ type }, i) => i === 0 || type === 'MODIFIED')).toBe(true);
    expect(events.at(-1)?.object.metadata?.resourceVersion).toBe(String(revision));
    watch.close();
  });
});

describe('tables', () => {
  const rowsOf = async (target: string): Promise<Json> => (await server.get(target, { accept: table })).json;

  it.each(samples.filter(({ kind }) => kind !== 'Widget').map((sample) => [sample.kind, sample] as const))(
    'API-430 API-431 API-432 of %s: as many cells as columns, for one and for many',
    async (_kind, { collection, object }) => {
      await server.post(collection, object);
      const target = `${collection}/${object.metadata?.name}`;
      // Controllers may have written to it.
      const created = await server.get(target);
      const one = await rowsOf(target);
      const many = await rowsOf(collection);
      const columns = one['columnDefinitions'] as { name: string; type: string; format: string; priority: number }[];
      expect(one.metadata).toEqual({ resourceVersion: created.json.metadata?.resourceVersion });
      expect(many['columnDefinitions']).toEqual(columns);
      for (const column of columns) {
        expect(column).toEqual({
          name: expect.any(String),
          type: expect.stringMatching(/^(string|integer|boolean|date|number)$/),
          format: expect.any(String),
          description: expect.any(String),
          priority: expect.any(Number),
        });
      }
      for (const row of [...one.rows, ...many.rows]) {
        expect(row['cells']).toHaveLength(columns.length);
        expect(row.object).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
        expect(Object.keys(row.object)).toEqual(expect.not.arrayContaining(['spec', 'status', 'data']));
      }
      expect(one.rows.map((row) => row.object.metadata)).toEqual([created.json.metadata]);
    },
  );

  it('API-430 includeObject decides what a row carries', async () => {
    const created = await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    const objects = async (query: string): Promise<unknown[]> =>
      (await rowsOf(`${configMaps}${query}`)).rows.map((row) => row.object);
    expect(await objects('?includeObject=Object')).toEqual([created.json]);
    expect(await objects('?includeObject=None')).toEqual([undefined]);
    expect(await objects('?includeObject=Metadata')).toEqual(await objects(''));
  });

  it('API-433 kinds without columns of their own show name and time of creation', async () => {
    const limits = samples.find(({ kind }) => kind === 'LimitRange');
    const created = await server.post(limits?.collection ?? '', limits?.object);
    const { rows, ...head } = await rowsOf(limits?.collection ?? '');
    expect(
      (head['columnDefinitions'] as { name: string; type: string; format: string }[]).map(({ name, type, format }) => [
        name,
        type,
        format,
      ]),
    ).toEqual([
      ['Name', 'string', 'name'],
      ['Created At', 'date', ''],
    ]);
    expect(rows[0]?.['cells']).toEqual(['a-limitrange', created.json.metadata?.creationTimestamp]);
  });

  it('API-436 ages, and a time to come', async () => {
    const clock = new SetClock();
    const timed = await startTestServer({ clock });
    await timed.post(configMaps, configMap('a'));
    const age = async (): Promise<unknown> => {
      const { rows } = (await timed.get(`${configMaps}/a`, { accept: table })).json;
      return (rows[0]?.['cells'] as unknown[] | undefined)?.at(-1);
    };
    const ages: unknown[] = [];
    for (const step of [
      0,
      119,
      1,
      60,
      7 * 60,
      60,
      169 * 60,
      3600,
      5 * 3600,
      40 * 3600,
      6 * 86_400,
      722 * 86_400,
      6 * 365 * 86_400,
    ]) {
      clock.jump(step * 1000);
      ages.push(await age());
    }
    clock.jump(-9 * 365 * 86_400_000);
    ages.push(await age());
    expect(ages).toEqual([
      '0s',
      '119s',
      '2m',
      '3m',
      '10m',
      '11m',
      '3h',
      '4h',
      '9h',
      '2d1h',
      '8d',
      '2y',
      '8y',
      '<invalid>',
    ]);
  });
});
