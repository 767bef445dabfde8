import { beforeEach, describe, expect, it } from 'vitest';
import { configMap, configMaps, startTestServer, type Answer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

async function fill(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await server.post(
      configMaps,
      configMap(name, { metadata: { labels: { name, even: String(name.length % 2 === 0) } } }),
    );
  }
}

const names = (answer: Answer): (string | undefined)[] => answer.json.items.map((item) => item.metadata?.name);

describe('get and list', () => {
  it('API-091 a list has a shape; items of typed lists carry no type', async () => {
    const empty = await server.get(configMaps);
    expect(empty.json).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
      items: [],
    });
    await fill(['a', 'b']);
    const { json } = await server.get(configMaps);
    expect(json.items.map((item) => [item.kind, item.apiVersion, item.metadata?.name])).toEqual([
      [undefined, undefined, 'a'],
      [undefined, undefined, 'b'],
    ]);
    const { kind: _kind, apiVersion: _apiVersion, ...alone } = (await server.get(`${configMaps}/a`)).json;
    expect(json.items[0]).toEqual(alone);
  });

  it('API-092 in order of namespace, then name, bytewise', async () => {
    await server.post('/api/v1/namespaces', { metadata: { name: 'aaa' } });
    await fill(['b', 'a-1', 'a', 'a.1']);
    await server.post('/api/v1/namespaces/aaa/configmaps', configMap('z'));
    expect(names(await server.get('/api/v1/configmaps'))).toEqual(['z', 'a', 'a-1', 'a.1', 'b']);
  });

  it('API-093 API-094 newest, any, not older than, exactly; the future is 504', async () => {
    await fill(['a']);
    const { json: first } = await server.get(configMaps);
    const then = Number(first.metadata.resourceVersion);
    await fill(['b']);
    expect(names(await server.get(`${configMaps}?resourceVersion=0&limit=1`))).toEqual(['a', 'b']);
    expect(names(await server.get(`${configMaps}?resourceVersion=${then}`))).toEqual(['a', 'b']);
    expect(names(await server.get(`${configMaps}?resourceVersion=${then}&resourceVersionMatch=NotOlderThan`))).toEqual([
      'a',
      'b',
    ]);
    const exact = await server.get(`${configMaps}?resourceVersion=${then}&resourceVersionMatch=Exact`);
    expect(names(exact)).toEqual(['a']);
    expect(exact.json.metadata.resourceVersion).toBe(String(then));
    for (const query of [
      `resourceVersion=${then + 1000}`,
      `resourceVersion=${then + 1000}&resourceVersionMatch=Exact`,
    ]) {
      const { status, json, headers } = await server.get(`${configMaps}?${query}`);
      expect(status).toBe(504);
      expect(headers['retry-after']).toBe('1');
      expect(json).toMatchObject({
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${then + 1000}, current: ${then + 1}`,
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
      });
    }
    expect((await server.get(`${configMaps}/a?resourceVersion=${then + 1000}`)).status).toBe(504);
    expect((await server.get(`${configMaps}/a?resourceVersion=0`)).status).toBe(200);
  });

  it('API-095 an exact revision that is compacted away is 410', async () => {
    await fill(['a', 'b', 'c']);
    await server.store.compact((await server.store.currentRevision()) - 1);
    const { status, json } = await server.get(`${configMaps}?resourceVersion=1&resourceVersionMatch=Exact`);
    expect(status).toBe(410);
    expect(json).toMatchObject({ reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' });
  });

  it('API-096 API-097 pages of one snapshot, untouched by what is written in between', async () => {
    await fill(['a', 'b', 'c', 'd', 'e']);
    const first = await server.get(`${configMaps}?limit=2`);
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.json.metadata.remainingItemCount).toBe(3);
    await fill(['bb']);
    await server.delete(`${configMaps}/d`);
    const second = await server.get(`${configMaps}?limit=2&continue=${first.json.metadata.continue}`);
    expect(names(second)).toEqual(['c', 'd']);
    expect(second.json.metadata).toMatchObject({
      resourceVersion: first.json.metadata.resourceVersion,
      remainingItemCount: 1,
    });
    const third = await server.get(`${configMaps}?limit=2&continue=${second.json.metadata.continue}`);
    expect(names(third)).toEqual(['e']);
    expect(third.json.metadata).toEqual({ resourceVersion: first.json.metadata.resourceVersion });
  });

  it('API-096 with a selector there is no count, and pages are still full', async () => {
    await fill(['aa', 'b', 'cc', 'd', 'ee']);
    const first = await server.get(`${configMaps}?limit=2&labelSelector=even%3Dtrue`);
    expect(names(first)).toEqual(['aa', 'cc']);
    expect(first.json.metadata.remainingItemCount).toBeUndefined();
    const second = await server.get(
      `${configMaps}?limit=2&labelSelector=even%3Dtrue&continue=${first.json.metadata.continue}`,
    );
    expect(names(second)).toEqual(['ee']);
    expect(second.json.metadata.continue).toBeUndefined();
  });

  it('API-098 a token that is none is 400', async () => {
    const { status, json } = await server.get(`${configMaps}?continue=xyz`);
    expect(status).toBe(400);
    expect(json.message).toMatch(/^invalid continue token: /);
  });

  it('API-099 when the snapshot is gone a new token leads on', async () => {
    await fill(['a', 'b', 'c']);
    const first = await server.get(`${configMaps}?limit=1`);
    await fill(['d', 'e']);
    await server.store.compact(Number(first.json.metadata.resourceVersion) + 1);
    const expired = await server.get(`${configMaps}?limit=1&continue=${first.json.metadata.continue}`);
    expect(expired.status).toBe(410);
    expect(expired.json.reason).toBe('Expired');
    expect(expired.json.message).toMatch(
      /^The provided continue parameter is too old to display a consistent list result/,
    );
    const rest = await server.get(`${configMaps}?continue=${expired.json.metadata.continue}`);
    expect(names(rest)).toEqual(['b', 'c', 'd', 'e']);
  });

  it('API-099 the list goes on from the same key: full pages of one newer state, with exact counts', async () => {
    await fill(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    const first = await server.get(`${configMaps}?limit=2`);
    await server.delete(`${configMaps}/a`);
    await server.delete(`${configMaps}/d`);
    await fill(['bb', 'h']);
    const now = await server.store.currentRevision();
    await server.store.compact(now);
    const { json: expired } = await server.get(`${configMaps}?limit=2&continue=${first.json.metadata.continue}`);
    expect(expired).toMatchObject({ kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' });
    // The answer has no other member of a list: a client that reads a Status as a list must not see an empty page.
    expect(Object.keys(expired.metadata)).toEqual(['continue']);
    const pages: unknown[] = [];
    for (let token = expired.metadata.continue; token !== undefined;) {
      const page = await server.get(`${configMaps}?limit=2&continue=${token}`);
      const { resourceVersion, remainingItemCount } = page.json.metadata;
      pages.push([names(page), remainingItemCount, resourceVersion]);
      token = page.json.metadata.continue;
      // Later pages stay at the new state, as earlier pages stayed at the first one.
      await fill([`z${pages.length}`]);
    }
    const revision = String(now);
    expect(pages).toEqual([
      [['bb', 'c'], 4, revision],
      [['e', 'f'], 2, revision],
      [['g', 'h'], undefined, revision],
    ]);
    expect(revision).not.toBe(first.json.metadata.resourceVersion);
  });

  it('API-099 with a selector, and when that state is gone as well', async () => {
    await fill(['aa', 'b', 'cc', 'dd', 'ee']);
    const query = 'limit=1&labelSelector=even%3Dtrue';
    const first = await server.get(`${configMaps}?${query}`);
    const expire = async (token: string | undefined): Promise<string | undefined> => {
      await fill([`x${await server.store.currentRevision()}`]);
      await server.store.compact(await server.store.currentRevision());
      const { status, json } = await server.get(`${configMaps}?${query}&continue=${token}`);
      expect(status).toBe(410);
      return json.metadata.continue;
    };
    const second = await server.get(`${configMaps}?${query}&continue=${await expire(first.json.metadata.continue)}`);
    expect(names(second)).toEqual(['cc']);
    const third = await server.get(`${configMaps}?${query}&continue=${await expire(second.json.metadata.continue)}`);
    expect(names(third)).toEqual(['dd']);
    // A token of an error names no state, so it does not expire.
    const token = await expire(third.json.metadata.continue);
    await fill(['later']);
    await server.store.compact(await server.store.currentRevision());
    expect(names(await server.get(`${configMaps}?${query}&continue=${token}`))).toEqual(['ee']);
  });

  it.each([
    ['labelSelector=name%3Da', ['a']],
    ['labelSelector=name!%3Da', ['bb', 'c']],
    ['labelSelector=name%20in%20(a,c)', ['a', 'c']],
    ['labelSelector=name%20notin%20(a,c)', ['bb']],
    ['labelSelector=even', ['a', 'bb', 'c']],
    ['labelSelector=!even', []],
    ['labelSelector=name%3Da,even%3Dtrue', []],
    ['fieldSelector=metadata.name%3Dbb', ['bb']],
    ['fieldSelector=metadata.name!%3Dbb', ['a', 'c']],
    ['fieldSelector=metadata.namespace%3Dother', []],
    ['fieldSelector=metadata.name%3Dbb&labelSelector=name%3Da', []],
  ])('API-101 API-102 API-103 ?%s', async (query, expected) => {
    await fill(['a', 'bb', 'c']);
    expect(names(await server.get(`${configMaps}?${query}`))).toEqual(expected);
    expect(names(await server.get(`/api/v1/configmaps?${query}${query.includes('namespace') ? '' : '&x=1'}`))).toEqual(
      (await server.get(`/api/v1/configmaps?${query}`)).json.items.map((item) => item.metadata?.name),
    );
  });

  it('API-101 API-102 selectors that cannot be read, fields that are not known', async () => {
    expect((await server.get(`${configMaps}?labelSelector=a%20b%20c`)).status).toBe(400);
    const field = await server.get(`${configMaps}?fieldSelector=spec.x%3D1`);
    expect(field.status).toBe(400);
    expect(field.json.message).toBe(
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    expect((await server.get('/api/v1/pods?fieldSelector=spec.x%3D1')).json.message).toBe(
      'field label not supported: spec.x',
    );
  });

  it('API-102 pods by node', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await server.post(pods, { metadata: { name: 'here' }, spec: { ...spec, nodeName: 'n1' } });
    await server.post(pods, { metadata: { name: 'there' }, spec: { ...spec, nodeName: 'n2' } });
    expect(names(await server.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'))).toEqual(['here']);
  });

  it('API-020 API-022 API-027 media types of answers and of errors', async () => {
    await fill(['a']);
    const yaml = await server.get(`${configMaps}/a`, { accept: 'application/yaml' });
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(yaml.text).toContain('kind: ConfigMap');
    const html = await server.get(`${configMaps}/a`, { accept: 'text/html' });
    expect(html.status).toBe(406);
    expect(html.json).toMatchObject({ reason: 'NotAcceptable' });
    const missing = await server.get(`${configMaps}/zzz`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    });
    expect(missing.json).toMatchObject({ kind: 'Status', code: 404 });
    const { decodeProtobuf } = await import('../../api/codec/protobuf/protobuf.ts');
    const protobuf = await server.get(`${configMaps}/zzz`, { accept: 'application/vnd.kubernetes.protobuf' });
    expect(protobuf.headers['content-type']).toBe('application/vnd.kubernetes.protobuf');
    expect(decodeProtobuf(protobuf.bytes)).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
  });

  it('API-031 objects and lists as protobuf are what they are as JSON', async () => {
    const { decodeProtobuf } = await import('../../api/codec/protobuf/protobuf.ts');
    await fill(['a', 'b']);
    const accept = 'application/vnd.kubernetes.protobuf';
    const one = await server.get(`${configMaps}/a`, { accept });
    expect(decodeProtobuf(one.bytes)).toEqual((await server.get(`${configMaps}/a`)).json);
    const list = decodeProtobuf((await server.get(configMaps, { accept })).bytes);
    expect(list).toMatchObject({
      kind: 'ConfigMapList',
      items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
    });
  });

  it.each(['v1', 'v1beta1'])('API-024 metadata only, %s, JSON', async (version) => {
    await fill(['a']);
    const full = (await server.get(`${configMaps}/a`)).json;
    const one = await server.get(`${configMaps}/a`, {
      accept: `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`,
    });
    expect(one.headers['content-type']).toBe('application/json');
    expect(one.json).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: full.metadata,
    });
    const list = await server.get(configMaps, {
      accept: `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=${version}`,
    });
    expect(list.json).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      items: [one.json],
    });
  });

  it('API-024 metadata only, protobuf', async () => {
    const { decodeProtobuf } = await import('../../api/codec/protobuf/protobuf.ts');
    await fill(['a']);
    const full = (await server.get(`${configMaps}/a`)).json;
    const accept = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const one = await server.get(`${configMaps}/a`, { accept });
    expect(one.headers['content-type']).toBe('application/vnd.kubernetes.protobuf');
    expect(decodeProtobuf(one.bytes)).toMatchObject({ kind: 'PartialObjectMetadata', metadata: full.metadata });
    const list = await server.get(configMaps, { accept: accept.replace('Metadata;', 'MetadataList;') });
    expect(decodeProtobuf(list.bytes)).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ metadata: full.metadata }],
    });
  });

  it('API-025 asked in the wrong shape', async () => {
    await fill(['a']);
    const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const { status, json } = await server.get(`${configMaps}/a`, { accept });
    expect(status).toBe(406);
    expect(json.message).toContain('you requested PartialObjectMetadataList, but the requested object is not a list');
    const list = await server.get(configMaps, { accept: accept.replace('List', '') });
    expect(list.status).toBe(406);
  });

  it('API-023 API-430 tables for kubectl', async () => {
    await fill(['a']);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const list = await server.get(`${configMaps}?limit=500`, { accept });
    expect(list.json).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: expect.any(String) },
    });
    expect(list.json.rows[0]).toMatchObject({
      cells: ['a', 0, expect.any(String)],
      object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
    });
    const one = await server.get(`${configMaps}/a?includeObject=Object`, { accept });
    expect(one.json.rows[0]?.object.kind).toBe('ConfigMap');
    expect((await server.get(`${configMaps}/a?includeObject=Some`, { accept })).status).toBe(400);
  });

  it('API-011 pretty on demand, and for curl', async () => {
    await fill(['a']);
    expect((await server.get(`${configMaps}/a?pretty=true`)).text).toContain('\n  "kind": "ConfigMap"');
    expect((await server.get(`${configMaps}/a`, { 'user-agent': 'curl/8.0' })).text).toContain('\n');
    expect((await server.get(`${configMaps}/a`, { 'user-agent': 'kubectl' })).text).not.toContain('\n');
  });

  it('API-008 API-091 a long list comes in pieces and is whole, compressed only when asked', async () => {
    const data = { k: 'x'.repeat(20_000) };
    await Promise.all(Array.from({ length: 60 }, (_, i) => server.post(configMaps, configMap(`n${i}`, { data }))));
    const plain = await server.send('GET', configMaps);
    expect(plain.body).not.toBeInstanceOf(Uint8Array);
    expect((await server.get(configMaps)).json.items).toHaveLength(60);
    const zipped = await server.get(configMaps, { 'accept-encoding': 'gzip, deflate' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    const { gunzipSync } = await import('node:zlib');
    expect(JSON.parse(gunzipSync(zipped.bytes).toString()).items).toHaveLength(60);
    expect(
      (await server.get(`${configMaps}/n1`, { 'accept-encoding': 'gzip' })).headers['content-encoding'],
    ).toBeUndefined();
  });
});
