import { afterEach, describe, expect, it } from 'vitest';
import { decodeProtobuf } from '../../api/codec/protobuf/protobuf.ts';
import type { EmulatedVersion } from '../emulation/features.ts';
import { objectKey } from '../storage/storage-keys.ts';
import { configMap, configMaps, startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

let server: TestServer | undefined;

afterEach(async () => {
  await server?.server.stop();
});

async function start(options: TestServerOptions): Promise<TestServer> {
  server = await startTestServer(options);
  return server;
}

const gated = { featureGates: new Set(['ShardedListAndWatch', 'ManagedFieldsOptOut'] as const) };
const halves = ["'0x0', '0x8000000000000000'", "'0x8000000000000000', '0x10000000000000000'"];
const shard = (half: string, field = 'uid'): string =>
  `shardSelector=${encodeURIComponent(`shardRange(object.metadata.${field}, ${half})`)}`;
const namesOf = ({ json }: { json: { items: { metadata?: { name?: string } }[] } }): string[] =>
  json.items.map(({ metadata }) => metadata?.name ?? '');

describe('versions', () => {
  it.each<[EmulatedVersion, boolean]>([
    ['1.36', false],
    ['1.37', false],
    ['1.38', true],
  ])('API-607 %s: the Status of a DELETE has the version of the deletion: %s', async (emulatedVersion, named) => {
    await start({ emulatedVersion });
    await server!.post(configMaps, configMap('a'));
    const dry = await server!.delete(`${configMaps}/a?dryRun=All`);
    expect(dry.json.metadata).toEqual({});
    const { json } = await server!.delete(`${configMaps}/a`);
    const list = await server!.get(configMaps);
    expect([json.status, json.metadata]).toEqual([
      'Success',
      named ? { resourceVersion: list.json.metadata?.resourceVersion } : {},
    ]);
  });

  it.each<[EmulatedVersion, string]>([
    ['1.36', 'text/plain; charset=utf-8'],
    ['1.37', 'text/plain; charset=utf-8'],
    ['1.38', 'application/json'],
  ])('API-607 %s: an unknown path is a 404 in %s', async (emulatedVersion, type) => {
    await start({ emulatedVersion });
    for (const path of ['/nope', '/apis/nope.io/v1', '/apis/nope.io/v1/namespaces/default/things/a']) {
      const { status, headers, text } = await server!.get(path);
      expect([status, headers['content-type']]).toEqual([404, type]);
      if (type !== 'application/json') expect(text).toBe('404 page not found\n');
      else expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 });
    }
  });

  it.each<[EmulatedVersion, number]>([
    ['1.36', 404],
    ['1.37', 200],
    ['1.38', 200],
  ])('API-607 %s: an update of an object whose namespace is gone is a %i', async (emulatedVersion, expected) => {
    await start({ emulatedVersion });
    const things = '/api/v1/namespaces/left/configmaps';
    await server!.post('/api/v1/namespaces', { metadata: { name: 'left' } });
    await server!.post(things, configMap('a', { metadata: { finalizers: ['example.com/f'] } }));
    const { kv } = await server!.store.get(
      objectKey({ group: '', resource: 'namespaces', namespaced: false }, '', 'left'),
    );
    await server!.store.delete(kv!.key, kv!.modRevision);
    expect((await server!.post(things, configMap('b'))).status).toBe(404);
    const { status, json } = await server!.patch(`${things}/a`, { data: { a: 'b' } });
    expect([status, status === 404 ? json.message : '']).toEqual([
      expected,
      expected === 404 ? 'namespaces "left" not found' : '',
    ]);
    expect((await server!.delete(`${things}/a`)).status).toBe(200);
  });
});

describe('objects that cannot be read', () => {
  const option = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  const damage = async (): Promise<void> => {
    await server!.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/f'] } }));
    const { kv } = await server!.store.get(
      objectKey({ group: '', resource: 'configmaps', namespaced: true }, 'default', 'a'),
    );
    await server!.store.update(kv!.key, Buffer.from('k8s:enc:aescbc:v1:key1:garbage'), kv!.modRevision, {});
  };

  it('API-607 1.37: are deleted by users who have the verb', async () => {
    await start({ emulatedVersion: '1.37' });
    await damage();
    expect((await server!.delete(`${configMaps}/a`)).status).toBe(500);
    const { status, json } = await server!.delete(`${configMaps}/a`, option);
    expect([status, json.status]).toEqual([200, 'Success']);
    expect((await server!.get(`${configMaps}/a`)).status).toBe(404);
  });

  it('API-607 1.37: stay for users without the verb', async () => {
    await start({
      emulatedVersion: '1.37',
      authorizer: {
        authorize: ({ verb }) => ({ allowed: verb !== 'unsafe-delete-ignore-read-errors', reason: 'no' }),
      },
    });
    await damage();
    const { status, json } = await server!.delete(`${configMaps}/a`, option);
    expect([status, json.message]).toEqual([403, expect.stringContaining('unsafe-delete-ignore-read-errors')]);
  });

  it('API-607 1.37: the option is refused for an object that can be read, for a collection, and beside other options', async () => {
    await start({ emulatedVersion: '1.37' });
    await server!.post(configMaps, configMap('a'));
    const refusals = [
      await server!.delete(`${configMaps}/a`, option),
      await server!.delete(`${configMaps}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`),
      await server!.delete(configMaps, option),
      await server!.delete(`${configMaps}/a`, { ...option, gracePeriodSeconds: 1, dryRun: ['All'] }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    expect(refusals.map(({ json }) => json.details?.causes?.map(({ message }) => message))).toEqual([
      [expect.stringContaining('corrupt object(s)')],
      [expect.stringContaining('corrupt object(s)')],
      [expect.stringContaining('not allowed with DELETECOLLECTION')],
      [expect.stringContaining('.dryRun'), expect.stringContaining('.gracePeriodSeconds')],
    ]);
    expect((await server!.get(`${configMaps}/a`)).status).toBe(200);
    expect((await server!.delete(`${configMaps}/b`, option)).status).toBe(404);
  });

  it('API-258 1.36: the option is ignored', async () => {
    await start({});
    await damage();
    expect((await server!.delete(`${configMaps}/a`, option)).status).toBe(500);
  });
});

describe('shards', () => {
  it('API-607 do not exist without their gate: a list with a selector of shards has every object', async () => {
    await start({});
    for (let n = 0; n < 20; n++) await server!.post(configMaps, configMap(`c${n}`));
    const list = await server!.get(`${configMaps}?${shard(halves[0]!)}`);
    expect(namesOf(list)).toHaveLength(20);
    expect(list.json.metadata).not.toHaveProperty('shardInfo');
  });

  it('API-607 lists, pages, watches and deletes the objects of a shard', async () => {
    await start(gated);
    for (let n = 0; n < 20; n++) await server!.post(configMaps, configMap(`c${n}`));
    const all = namesOf(await server!.get(configMaps)).sort();
    const [first, second] = await Promise.all(halves.map((half) => server!.get(`${configMaps}?${shard(half)}`)));
    expect([...namesOf(first!), ...namesOf(second!)].sort()).toEqual(all);
    expect(namesOf(first!).length % 20).not.toBe(0);
    expect(first!.json.metadata).toMatchObject({
      shardInfo: { selector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')" },
    });

    const paged = await server!.get(`${configMaps}?limit=2&${shard(halves[0]!)}`);
    expect(namesOf(paged)).toEqual(namesOf(first!).slice(0, 2));
    expect(paged.json.metadata).not.toHaveProperty('remainingItemCount');

    const watch = await server!.watch(`${configMaps}?watch=1&${shard(halves[0]!)}`);
    expect(await watch.summary(namesOf(first!).length)).toEqual(namesOf(first!).map((name) => `ADDED ${name}`));
    await server!.patch(`${configMaps}/${namesOf(second!)[0]}`, { data: { a: '1' } });
    await server!.patch(`${configMaps}/${namesOf(first!)[0]}`, { data: { a: '1' } });
    expect(await watch.summary(1)).toEqual([`MODIFIED ${namesOf(first!)[0]}`]);
    watch.close();

    await server!.delete(`${configMaps}?${shard(halves[0]!)}`);
    expect(namesOf(await server!.get(configMaps))).toEqual(namesOf(second!));
  });

  it('API-607 names the shard in protobuf and in tables', async () => {
    await start(gated);
    const accept = { accept: 'application/vnd.kubernetes.protobuf' };
    const { bytes } = await server!.get(`${configMaps}?${shard(halves[0]!, 'namespace')}`, accept);
    const shardInfo = {
      selector: "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')",
    };
    expect(decodeProtobuf(bytes).metadata).toMatchObject({ shardInfo });
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const rows = await server!.get(`${configMaps}?${shard(halves[0]!, 'namespace')}`, table);
    expect(rows.json.metadata).toMatchObject({ shardInfo });
  });

  it('API-607 refuses a selector that it cannot read', async () => {
    await start(gated);
    for (const query of ['', 'watch=1&']) {
      const { status, json } = await server!.get(`${configMaps}?${query}shardSelector=nope`);
      expect([status, json.message]).toEqual([400, expect.stringContaining('invalid shardSelector')]);
    }
  });
});

describe('managers dropped', () => {
  const managed = { ...configMap('a'), data: { key: 'value' } };
  const drop = ';drop=metadata.managedFields';
  const metadata = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

  it.each([
    ['application/json', 'object'],
    [`application/json${metadata}`, 'object'],
    ['application/vnd.kubernetes.protobuf', 'object'],
    [`application/vnd.kubernetes.protobuf${metadata}`, 'object'],
    ['application/json', 'list'],
    ['application/vnd.kubernetes.protobuf', 'list'],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'list'],
    ['application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'list'],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', 'list'],
    ['application/yaml', 'list'],
  ])('API-607 %s, %s', async (type, shape) => {
    await start(gated);
    await server!.post(configMaps, managed, { 'user-agent': 'tester' });
    const target = shape === 'object' ? `${configMaps}/a` : configMaps;
    const shown = async (accept: string): Promise<string> =>
      Buffer.from((await server!.get(target, { accept })).bytes).toString('latin1');
    expect(await shown(type)).toContain('tester');
    for (const value of [drop, ';drop=spec.x+metadata.managedFields']) {
      const text = await shown(`${type}${value}`);
      expect(text).not.toContain('tester');
      expect(text).toContain('a');
    }
    expect(await shown(`${type};drop=spec.x`)).toContain('tester');
  });

  it.each(['', metadata])('API-607 watches%s leave them out, beside watches that have them', async (transform) => {
    await start(gated);
    await server!.post(configMaps, managed);
    const watches = await Promise.all(
      [drop, ''].map((value) =>
        server!.watch(`${configMaps}?watch=1`, { accept: `application/json${transform}${value}` }),
      ),
    );
    for (const [index, watch] of watches.entries()) {
      const [event] = await watch.take(1);
      expect(event?.object.metadata?.name).toBe('a');
      expect(event?.object.metadata?.managedFields === undefined).toBe(index === 0);
      watch.close();
    }
  });

  it('API-607 a write that drops them keeps them in the store, and without the gate nothing is dropped', async () => {
    await start(gated);
    const created = await server!.post(configMaps, managed, { accept: `application/json${drop}` });
    expect(created.json.metadata).not.toHaveProperty('managedFields');
    expect((await server!.get(`${configMaps}/a`)).json.metadata).toHaveProperty('managedFields');
    await server!.server.stop();
    await start({ emulatedVersion: '1.38' });
    await server!.post(configMaps, managed);
    const { json } = await server!.get(`${configMaps}/a`, { accept: `application/json${drop}` });
    expect(json.metadata).toHaveProperty('managedFields');
  });
});
