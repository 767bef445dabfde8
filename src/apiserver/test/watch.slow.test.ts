import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { configMap, configMaps, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
  server = await startTestServer({ clock });
});

const revision = async (): Promise<string> => (await server.get(configMaps)).json.metadata.resourceVersion ?? '';
const labelled = (name: string, color: string) => configMap(name, { metadata: { labels: { color } } });
/** Runs everything that is ready; the fake clock does not move. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.runDeferred();
  }
};

describe('watch', () => {
  it('API-120 answers at once, before any event', async () => {
    const watch = await server.watch(`${configMaps}?watch=true&resourceVersion=${await revision()}`);
    expect(watch.response.status).toBe(200);
    expect(watch.response.headers['content-type']).toBe('application/json');
    watch.close();
    expect(await watch.next()).toBeUndefined();
  });

  it.each(['', '&resourceVersion=0'])(
    'API-122 without a revision ("%s") first what exists, then changes',
    async (query) => {
      await server.post(configMaps, configMap('a'));
      await server.post(configMaps, configMap('b'));
      const watch = await server.watch(`${configMaps}?watch=true${query}`);
      expect(await watch.summary(2)).toEqual(['ADDED a', 'ADDED b']);
      await server.post(configMaps, configMap('c'));
      await server.patch(`${configMaps}/a`, { data: { k: 'v' } });
      await server.delete(`${configMaps}/b`);
      expect(await watch.summary(3)).toEqual(['ADDED c', 'MODIFIED a', 'DELETED b']);
      watch.close();
    },
  );

  it('API-122 from a revision each later change once and in order, as full objects', async () => {
    const from = await revision();
    await server.post(configMaps, configMap('a', { data: { k: '1' } }));
    const { json: patched } = await server.patch(`${configMaps}/a`, { data: { k: '2' } });
    await server.delete(`${configMaps}/a`);
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    const events = await watch.take(3);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(events[1]?.object).toEqual(patched);
    const [first, second, third] = events.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect([Number(from) < (first ?? 0), (first ?? 0) < (second ?? 0), (second ?? 0) < (third ?? 0)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(events[2]?.object).toMatchObject({ data: { k: '2' } });
    watch.close();
  });

  it('API-120 a writer over a connection gets its answer first, watches get the event when the turn is over', async () => {
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${await revision()}`);
    let told = 0;
    const both = watch.summary(2);
    void both.then(() => told++);
    const remote = (name: string) => server.request('POST', configMaps, { body: configMap(name), remote: true });
    expect((await remote('a')).status).toBe(201);
    expect((await remote('b')).status).toBe(201);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toBe(0);
    clock.runDeferred();
    expect(await both).toEqual(['ADDED a', 'ADDED b']);
    watch.close();
  });

  it('API-120 who writes in this process is answered when watches know of it, and of what others wrote before', async () => {
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${await revision()}`);
    const both = watch.summary(2);
    await server.request('POST', configMaps, { body: configMap('theirs'), remote: true });
    await server.post(configMaps, configMap('ours'));
    expect(await both).toEqual(['ADDED theirs', 'ADDED ours']);
    expect(clock.pendingDeferred).toBeGreaterThan(0);
    watch.close();
  });

  it('API-123 too old: 200, one ERROR event with 410, the end', async () => {
    await server.post(configMaps, configMap('a'));
    await server.post(configMaps, configMap('b'));
    await server.post(configMaps, configMap('c'));
    await server.store.compact((await server.store.currentRevision()) - 1);
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=1`);
    expect(watch.response.status).toBe(200);
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: {
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
      },
    });
    expect(await watch.next()).toBeUndefined();
  });

  it('API-124 a list that has not happened yet: 200, one ERROR event with 504, the end', async () => {
    const listed = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=999999&${listed}`);
    expect(watch.response.status).toBe(200);
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: {
        kind: 'Status',
        code: 504,
        message: expect.stringMatching(/^Timeout: Too large resource version: 999999, current: \d+$/),
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
      },
    });
    expect(await watch.next()).toBeUndefined();
  });

  it('API-124 a revision in the future is silence, until it has happened', async () => {
    const at = Number(await revision());
    const watch = await server.watch(`${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=${at + 2}`);
    expect(watch.response.status).toBe(200);
    for (const name of ['a', 'b', 'c', 'd']) await server.post(configMaps, configMap(name));
    expect(await watch.summary(2)).toEqual(['ADDED c', 'ADDED d']);
    watch.close();
    const never = await server.watch(`${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=18446744073709551615`);
    expect(never.response.status).toBe(200);
    await server.post(configMaps, configMap('e'));
    const end = never.next();
    clock.advance(1000);
    expect(await end).toBeUndefined();
  });

  it('API-125 selectors: starting to match is ADDED, stopping is DELETED with the old content and the new revision', async () => {
    const watch = await server.watch(
      `${configMaps}?watch=1&labelSelector=color%3Dred&resourceVersion=${await revision()}`,
    );
    await server.post(configMaps, labelled('a', 'blue'));
    await server.post(configMaps, labelled('b', 'red'));
    await server.patch(`${configMaps}/a`, { metadata: { labels: { color: 'red' } } });
    await server.patch(`${configMaps}/a`, { data: { k: 'v' } });
    const { json: last } = await server.patch(`${configMaps}/a`, { metadata: { labels: { color: 'green' } } });
    await server.patch(`${configMaps}/a`, { data: { k: 'w' } });
    await server.delete(`${configMaps}/a`);
    await server.delete(`${configMaps}/b`);
    const events = await watch.take(5);
    expect(events.map(({ type, object }) => `${type} ${object.metadata?.name}`)).toEqual([
      'ADDED b',
      'ADDED a',
      'MODIFIED a',
      'DELETED a',
      'DELETED b',
    ]);
    expect(events[3]?.object.metadata).toMatchObject({
      labels: { color: 'red' },
      resourceVersion: last.metadata?.resourceVersion,
    });
    watch.close();
  });

  it('API-103 a watch of one name sees that object only', async () => {
    await server.post(configMaps, configMap('a'));
    await server.post(configMaps, configMap('a-1'));
    const watch = await server.watch(`${configMaps}?watch=1&fieldSelector=metadata.name%3Da`);
    expect(await watch.summary(1)).toEqual(['ADDED a']);
    await server.delete(`${configMaps}/a-1`);
    await server.delete(`${configMaps}/a`);
    expect(await watch.summary(1)).toEqual(['DELETED a']);
    watch.close();
  });

  it('API-126 a deletion carries the last content and a new revision', async () => {
    const { json } = await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${json.metadata?.resourceVersion}`);
    await server.delete(`${configMaps}/a`);
    const event = await watch.next();
    expect(event).toMatchObject({
      type: 'DELETED',
      object: { data: { k: 'v' }, metadata: { uid: json.metadata?.uid } },
    });
    expect(Number(event?.object.metadata?.resourceVersion)).toBeGreaterThan(Number(json.metadata?.resourceVersion));
    watch.close();
  });

  it('API-127 API-128 timeoutSeconds ends the stream; bookmarks every minute and shortly before the end', async () => {
    const watch = await server.watch(
      `${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=130&resourceVersion=${await revision()}`,
    );
    const seen: string[] = [];
    const reading = (async () => {
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
        expect(event.object).toEqual({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
        });
        seen.push(`${event.type} at ${clock.monotonic()}`);
      }
    })();
    const start = clock.monotonic();
    for (const at of [60_000, 120_000, 128_000, 130_000]) {
      clock.advance(at - (clock.monotonic() - start));
      await settle();
    }
    await reading;
    expect(seen).toEqual([60_000, 120_000, 128_000].map((at) => `BOOKMARK at ${start + at}`));
  });

  it.each<['in this process' | 'over a connection', object, number]>([
    ['in this process', {}, 24 * 3_600_000],
    ['over a connection', { remote: true }, 60_000],
  ])('API-128 a watch %s that is to last as long as possible has bookmarks', async (_, from, everyMs) => {
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=172800&resourceVersion=${await revision()}`;
    const watch = await server.watch(`${configMaps}?${query}`, undefined, from);
    const start = clock.monotonic();
    const next = watch.next().then((event) => [event?.type, clock.monotonic() - start]);
    clock.advance(everyMs - 1);
    await settle();
    clock.advance(1);
    await settle();
    expect(await next).toEqual(['BOOKMARK', everyMs]);
    watch.close();
  });

  it('API-127 a time below zero is over at once, zero is as good as none', async () => {
    const over = await server.watch(`${configMaps}?watch=1&timeoutSeconds=-5&resourceVersion=${await revision()}`);
    const open = await server.watch(`${configMaps}?watch=1&timeoutSeconds=0&resourceVersion=${await revision()}`);
    const next = open.next();
    clock.advance(0);
    expect(over.response.status).toBe(200);
    expect(await over.next()).toBeUndefined();
    await server.post(configMaps, configMap('late'));
    expect((await next)?.object.metadata?.name).toBe('late');
    open.close();
  });

  it('API-128 without the parameter there are none; a bookmark names what was delivered, of other resources too', async () => {
    const quiet = await server.watch(`${configMaps}?watch=1&timeoutSeconds=100&resourceVersion=${await revision()}`);
    const marked = await server.watch(
      `${configMaps}?watch=1&timeoutSeconds=100&allowWatchBookmarks=true&resourceVersion=${await revision()}`,
    );
    const none = quiet.next();
    const mark = marked.next();
    await settle();
    await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    await settle();
    clock.advance(60_000);
    expect((await mark)?.object.metadata?.resourceVersion).toBe(await revision());
    clock.advance(40_000);
    expect(await none).toBeUndefined();
    marked.close();
  });

  it('API-129 WatchList: what exists, one bookmark that says so, then changes', async () => {
    await server.post(configMaps, configMap('a'));
    await server.post(configMaps, configMap('b'));
    const watch = await server.watch(
      `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    expect(await watch.summary(2)).toEqual(['ADDED a', 'ADDED b']);
    expect(await watch.next()).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: await revision(), annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    });
    await server.post(configMaps, configMap('c'));
    expect(await watch.summary(1)).toEqual(['ADDED c']);
    watch.close();
  });

  it('API-129 without bookmarks the end of the list is not marked', async () => {
    await server.post(configMaps, configMap('a'));
    const watch = await server.watch(
      `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    expect(await watch.summary(1)).toEqual(['ADDED a']);
    await server.post(configMaps, configMap('b'));
    expect(await watch.summary(1)).toEqual(['ADDED b']);
    watch.close();
  });

  it('API-132 sendInitialEvents=false starts at the revision', async () => {
    await server.post(configMaps, configMap('a'));
    const from = await revision();
    await server.post(configMaps, configMap('b'));
    const watch = await server.watch(
      `${configMaps}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${from}`,
    );
    expect(await watch.summary(1)).toEqual(['ADDED b']);
    watch.close();
  });

  it('API-130 API-139 bad options are answered, not streamed', async () => {
    expect((await server.get(`${configMaps}?watch=1&sendInitialEvents=true`)).status).toBe(422);
    const bad = await server.get(`${configMaps}?watch=1&resourceVersion=abc`);
    expect(bad.status).toBe(500);
    expect(bad.json.reason).toBeUndefined();
    expect((await server.get(`${configMaps}?resourceVersion=abc`)).status).toBe(400);
  });

  it('API-133 tables: columns in the first event only', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    await server.post(configMaps, configMap('a'));
    const watch = await server.watch(`${configMaps}?watch=1`, { accept });
    await server.post(configMaps, configMap('b'));
    const [first, second] = await watch.take(2);
    expect(first?.object).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 0, '0s'] }] });
    expect(Reflect.get(first?.object ?? {}, 'columnDefinitions')).toHaveLength(3);
    expect(Reflect.get(second?.object ?? {}, 'columnDefinitions')).toBeNull();
    watch.close();
  });

  it('API-024 metadata only', async () => {
    const { json } = await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const watch = await server.watch(`${configMaps}?watch=1`, { accept });
    expect(await watch.next()).toEqual({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: json.metadata },
    });
    watch.close();
  });

  it.each([
    ['API-134 full objects', 'application/vnd.kubernetes.protobuf', 'ConfigMap'],
    [
      'API-524 metadata',
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'PartialObjectMetadata',
    ],
  ])('%s as protobuf frames', async (_name, accept, kind) => {
    const { decodeProtobuf, decodeTypedMessage } = await import('../../api/codec/protobuf/protobuf.ts');
    await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    const controller = new AbortController();
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const response = await server.send('GET', `${configMaps}?${query}`, {
      headers: { accept },
      signal: controller.signal,
    });
    expect(response.headers['content-type']).toBe('application/vnd.kubernetes.protobuf;stream=watch');
    const frames: { type: string; object: unknown }[] = [];
    let buffer = Buffer.alloc(0);
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      buffer = Buffer.concat([buffer, chunk]);
      while (buffer.length >= 4 && buffer.length >= 4 + buffer.readUInt32BE(0)) {
        const end = 4 + buffer.readUInt32BE(0);
        const event = decodeTypedMessage('apimachinery/pkg/apis/meta/v1.WatchEvent', buffer.subarray(4, end)) as {
          type: string;
          object: unknown;
        };
        frames.push(event);
        buffer = buffer.subarray(end);
      }
      if (frames.length >= 2) controller.abort();
    }
    expect(frames.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    const raw = frames[0]?.object;
    expect(raw instanceof Uint8Array ? decodeProtobuf(raw) : raw).toMatchObject({ kind, metadata: { name: 'a' } });
  });

  it('API-135 many watchers see the same events in the same order', async () => {
    const from = await revision();
    const watches = await Promise.all(
      Array.from({ length: 10 }, () => server.watch(`${configMaps}?watch=1&resourceVersion=${from}`)),
    );
    for (let i = 0; i < 30; i++) {
      if (i % 3 === 2) await server.delete(`${configMaps}/c${i - 2}`);
      else await server.post(configMaps, configMap(`c${i}`));
    }
    const seen = await Promise.all(watches.map(async (watch) => JSON.stringify(await watch.take(30))));
    expect(new Set(seen).size).toBe(1);
    for (const watch of watches) watch.close();
  });

  it('API-135 API-125 watchers that share batches see what each selected, in the form each asked for', async () => {
    const from = await revision();
    const open = (query: string, accept?: string) =>
      server.watch(`${configMaps}?watch=1&resourceVersion=${from}${query}`, ...(accept ? [{ accept }] : []));
    const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const red = '&labelSelector=color%3Dred';
    const watches = [
      { watch: await open(red), kind: 'ConfigMap', names: ['a'] },
      { watch: await open(red), kind: 'ConfigMap', names: ['a'] },
      { watch: await open(red, metadataOnly), kind: 'PartialObjectMetadata', names: ['a'] },
      { watch: await open('&labelSelector=color%3Dblue'), kind: 'ConfigMap', names: ['b'] },
      {
        watch: await open('&fieldSelector=metadata.name%3Da', metadataOnly),
        kind: 'PartialObjectMetadata',
        names: ['a'],
      },
      { watch: await open('&labelSelector=color&fieldSelector=metadata.name!%3Da'), kind: 'ConfigMap', names: ['b'] },
      { watch: await open(''), kind: 'ConfigMap', names: ['a', 'b'] },
    ];
    await Promise.all([server.post(configMaps, labelled('a', 'red')), server.post(configMaps, labelled('b', 'blue'))]);
    for (const { watch, kind, names } of watches) {
      const events = await watch.take(names.length);
      expect(events.map(({ object }) => `${object.kind} ${object.metadata?.name}`)).toEqual(
        names.map((name) => `${kind} ${name}`),
      );
    }
  });

  it('API-136 a watcher that does not read is disconnected, writers and other watchers are not held up', async () => {
    await server.post(configMaps, configMap('a'));
    const from = await revision();
    const slow = await server.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    const reading = slow.next();
    const fast = await server.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    let seen = 0;
    const following = (async () => {
      while (seen < 10_200 && (await fast.next()) !== undefined) seen++;
    })();
    for (let i = 0; i < 10_200; i += 100) {
      await Promise.all(
        Array.from({ length: 100 }, (_, j) =>
          server.patch(`${configMaps}/a`, [{ op: 'add', path: '/data', value: { k: String(i + j) } }], 'json'),
        ),
      );
    }
    expect(await reading).toMatchObject({ type: 'MODIFIED' });
    await following;
    expect(seen).toBe(10_200);
    let afterwards = 0;
    while ((await slow.next()) !== undefined) afterwards++;
    expect(afterwards).toBeLessThan(10_000);
    fast.close();
  });

  it('a namespace’s watch sees that namespace only; all namespaces all', async () => {
    await server.post('/api/v1/namespaces', { metadata: { name: 'other' } });
    const from = await revision();
    const one = await server.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    const every = await server.watch(`/api/v1/configmaps?watch=1&resourceVersion=${from}`);
    await server.post('/api/v1/namespaces/other/configmaps', configMap('x'));
    await server.post(configMaps, configMap('a'));
    expect(await one.summary(1)).toEqual(['ADDED a']);
    expect(await every.summary(2)).toEqual(['ADDED x', 'ADDED a']);
    one.close();
    every.close();
  });

  it('stopping the server ends its watches', async () => {
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${await revision()}`);
    const end = watch.next();
    await server.server.stop();
    expect(await end).toBeUndefined();
  });

  it('API-003 the deprecated prefix watches too', async () => {
    await server.post(configMaps, configMap('a'));
    const watch = await server.watch('/api/v1/watch/namespaces/default/configmaps');
    expect(await watch.summary(1)).toEqual(['ADDED a']);
    watch.close();
  });

  it.each(['', '?fieldSelector=metadata.name%3Dc', '?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dc'])(
    'API-003 with a name the deprecated prefix watches that object only%s',
    async (query) => {
      await server.post(configMaps, configMap('a'));
      await server.post(configMaps, configMap('c'));
      const watch = await server.watch(`/api/v1/watch/namespaces/default/configmaps/c${query}`);
      await server.patch(`${configMaps}/a`, { data: { k: 'v' } });
      await server.patch(`${configMaps}/c`, { data: { k: 'v' } });
      expect(await watch.summary(2)).toEqual(['ADDED c', 'MODIFIED c']);
      watch.close();
    },
  );

  it('API-003 with a name the deprecated prefix watches cluster-scoped objects too', async () => {
    const watch = await server.watch('/api/v1/watch/namespaces/default');
    expect(await watch.summary(1)).toEqual(['ADDED default']);
    watch.close();
  });

  it.each(['metadata.name=a', 'metadata.name!=c', 'metadata.namespace=default'])(
    'API-003 a selector that is not for the name in the path is 400: %s',
    async (selector) => {
      const query = `fieldSelector=${encodeURIComponent(selector)}`;
      const { status, json } = await server.get(`/api/v1/watch/namespaces/default/configmaps/c?${query}`);
      expect([status, json.message]).toEqual([400, "fieldSelector metadata.name doesn't match requested name"]);
    },
  );
});
