import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { answerWith, late, refuse } from './faults.ts';
import { clusterRole, configMap, refTo, secret, widget } from './kinds.ts';
import { deleteOptionsOf } from './recorder.ts';
import { Rig } from './rig.ts';

/** The requests of the collector, counted and byte by byte. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector();
});
afterEach(() => rig.stop());

const uid = (object: KubeObject) => object.metadata?.uid;
const version = (object: KubeObject) => object.metadata?.resourceVersion;
const at = (path: string) => `/api/v1/namespaces/default/${path}`;

describe('the budget of calls', () => {
  it('COL-098 COL-175 background costs one DELETE a dependent, and nothing else', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 60; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(rig.recorder.counts).toEqual({ DELETE: 60 });
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-175 foreground costs one DELETE a leaf, and one PATCH for the owner', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 20; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner, { block: true })] });
    await rig.delete(configMap, 'owner', 'Foreground');
    await rig.rest();
    expect(rig.recorder.counts).toEqual({ DELETE: 20, PATCH: 1 });
    expect(await rig.names(configMap)).toEqual([]);
  });

  it.each([1, 3, 20])(
    'BETTER-9 COL-175 foreground costs no more where the watch shows everything late (families of %i)',
    async (size) => {
      await rig.withoutCollector(async () => {
        rig.faults.on({ target: /[?&]watch=true/ }, late(rig.clock, 50));
        for (let o = 0; o < 10; o++) {
          const owner = await rig.create(configMap, `o${o}`);
          for (let i = 0; i < size; i++)
            await rig.create(secret, `d${o}-${i}`, { owners: [refTo(owner, { block: true })] });
        }
      });
      await rig.advance(5000);
      for (let o = 0; o < 10; o++) await rig.delete(configMap, `o${o}`, 'Foreground');
      await rig.advance(5000);
      expect(rig.recorder.counts).toEqual({ DELETE: 10 * size, PATCH: 10 });
      expect(await rig.names(configMap)).toEqual([]);
    },
  );

  it('COL-175 orphan costs one PATCH a dependent, and one for the owner', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 20; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(rig.recorder.counts).toEqual({ PATCH: 21 });
    expect((await rig.names(secret)).length).toBe(20);
  });

  it('COL-098 COL-114 a reference to something that was never seen costs its GETs, once for all that name it', async () => {
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost-uid' };
    await rig.withoutCollector(async () => {
      for (let i = 0; i < 5; i++) await rig.create(secret, `d${i}`, { owners: [ghost] });
    });
    await rig.rest();
    expect(rig.recorder.lines.filter((line) => line.startsWith('GET'))).toEqual([`GET ${at('configmaps/ghost')} 404`]);
    expect(rig.recorder.counts).toEqual({ GET: 1, DELETE: 5 });
  });

  it('COL-046 BETTER-4 updates that do not concern ownership cost no call', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { block: true })] });
    for (let i = 0; i < 10; i++)
      await rig.patch(secret, 'd', { labels: { turn: String(i) }, finalizers: [`x.io/f${i}`] });
    await rig.rest();
    expect(rig.recorder.lines).toEqual([]);
  });

  it('COL-020 COL-044 time alone costs only discovery', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.recorder.clear();
    await rig.advance(120_000);
    expect(rig.recorder.lines).toEqual([]);
    expect(rig.recorder.intake).toEqual([]);
    expect(rig.recorder.discoveries.map(({ path }) => path)).toEqual(
      Array.from({ length: 4 }, () => ['/api', '/apis']).flat(),
    );
  });

  it('COL-161 COL-175 BETTER-18 a custom resource answers 415 once, and then costs one PATCH a dependent, too', async () => {
    const owner = await rig.create(configMap, 'owner');
    for (let i = 0; i < 3; i++) {
      await rig.create(widget, `w${i}`, { owners: [refTo(owner)] });
    }
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    const second = await rig.create(configMap, 'second');
    await rig.create(widget, 'w3', { owners: [refTo(second)] });
    rig.recorder.clear();
    await rig.delete(configMap, 'second', 'Orphan');
    await rig.rest();
    expect(rig.recorder.lines).toEqual([
      'PATCH /apis/example.com/v1/namespaces/default/widgets/w3 200',
      `PATCH ${at('configmaps/second')} 200`,
    ]);
    expect(await rig.owners(widget, 'w3')).toEqual([]);
  });
});

describe('while a watch is in trouble', () => {
  it('COL-161 COL-055 a custom resource is read before its references are replaced: a version may have been given out twice', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(widget, 'w', { owners: [refTo(owner)] });
    await rig.rest();
    rig.faults.on({ method: 'GET', target: /\/secrets\?/ }, refuse(503, 'ServiceUnavailable'));
    rig.streams.cut(/\/secrets\?/);
    await rig.advance(5000);
    rig.recorder.clear();
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.advance(1000);
    expect(rig.recorder.lines.filter((line) => line.includes('widgets/w'))).toEqual([
      'PATCH /apis/example.com/v1/namespaces/default/widgets/w 415',
      'GET /apis/example.com/v1/namespaces/default/widgets/w 200',
      'PATCH /apis/example.com/v1/namespaces/default/widgets/w 200',
    ]);
    expect(await rig.owners(widget, 'w')).toEqual([]);
  });
});

describe('the bodies', () => {
  it('COL-150 COL-171 DELETE names preconditions and policy, in its query, and nothing else', async () => {
    const owner = await rig.create(configMap, 'owner');
    const dependent = await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    const [call] = rig.recorder.calls;
    const query = { uid: uid(dependent), resourceVersion: version(dependent), propagationPolicy: 'Background' };
    expect([call?.method, call?.path, call?.query]).toEqual(['DELETE', at('secrets/d'), query]);
    expect([call?.body, call?.headers['content-type']]).toEqual([undefined, undefined]);
  });

  it.each([
    { where: 'of a custom resource', kind: widget, minor: '36' },
    { where: 'at a server that is too old for a query', kind: secret, minor: '19' },
  ])('COL-150 COL-170 COL-171 DELETE names the same in its body $where', async ({ kind, minor }) => {
    await rig.stop();
    rig = await Rig.start({ version: { major: '1', minor } });
    rig.serve(widget);
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    const dependent = await rig.create(kind, 'd', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    const [call] = rig.recorder.calls;
    expect(JSON.stringify(call?.body)).toBe(
      `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"${uid(dependent)}","resourceVersion":"${version(dependent)}"},"propagationPolicy":"Background"}`,
    );
    expect([call?.method, call?.path.split('/').at(-1), call?.query]).toEqual(['DELETE', 'd', {}]);
    expect(call?.headers['content-type']).toBe('application/json');
  });

  it('COL-160 COL-166 P1 removes by uid all owners that are gone or wait, in one strategic merge patch', async () => {
    const solid = await rig.create(configMap, 'solid');
    const gone = await rig.create(configMap, 'gone');
    const waiting = await rig.create(configMap, 'waiting');
    const owners = [refTo(gone), refTo(solid), refTo(waiting, { block: true })];
    const dependent = await rig.create(secret, 'd', { owners });
    rig.faults.on({ target: /secrets/, method: 'PATCH' }, answerWith(503, 'not now'), 1);
    await rig.delete(configMap, 'gone');
    await rig.settle();
    await rig.delete(configMap, 'waiting', 'Foreground');
    await rig.rest();
    const patches = rig.recorder.calls.filter(({ method, path }) => method === 'PATCH' && path.includes('secrets'));
    const last = patches.at(-1);
    expect(JSON.stringify(last?.body)).toBe(
      `{"metadata":{"uid":"${uid(dependent)}","ownerReferences":[{"$patch":"delete","uid":"${uid(gone)}"},{"$patch":"delete","uid":"${uid(waiting)}"}]}}`,
    );
    expect(last?.headers['content-type']).toBe('application/strategic-merge-patch+json');
    expect([last?.path, last?.query]).toEqual([at('secrets/d'), {}]);
    expect((await rig.get(secret, 'd'))?.metadata?.ownerReferences).toEqual([refTo(solid)]);
  });

  it('COL-161 P2 replaces the whole list at the version that the graph has, with null for none', async () => {
    const [a, b] = [await rig.create(configMap, 'a'), await rig.create(configMap, 'b')];
    const both = await rig.create(widget, 'both', { owners: [refTo(a), refTo(b, { controller: true })] });
    await rig.delete(configMap, 'a', 'Orphan');
    await rig.rest();
    const one = await rig.get(widget, 'both');
    await rig.delete(configMap, 'b', 'Orphan');
    await rig.rest();
    const bodies = rig.recorder.calls
      .filter(({ method, path, status }) => method === 'PATCH' && path.includes('widgets') && status === 200)
      .map(({ headers, body }) => [headers['content-type'], JSON.stringify(body)]);
    const kept = JSON.stringify([refTo(b, { controller: true })]);
    expect(bodies).toEqual([
      [
        'application/merge-patch+json',
        `{"metadata":{"uid":"${uid(both)}","resourceVersion":"${version(both)}","ownerReferences":${kept}}}`,
      ],
      [
        'application/merge-patch+json',
        `{"metadata":{"uid":"${uid(both)}","resourceVersion":"${version(one ?? {})}","ownerReferences":null}}`,
      ],
    ]);
  });

  it.each([
    { kind: configMap, status: [200], type: 'strategic-merge-patch', rule: 'COL-162 P3 lists what blocked' },
    { kind: widget, status: [415, 200], type: 'merge-patch', rule: 'COL-163 P4 lists everything' },
  ])(
    '$rule, with the flag turned off, before the DELETE in foreground that rests on it',
    async ({ kind, status, type }) => {
      const a = await rig.create(kind, 'a');
      const other = await rig.create(kind, 'other');
      const b = await rig.create(kind, 'b', { owners: [refTo(a, { block: true, controller: true }), refTo(other)] });
      await rig.patch(kind, 'a', { ownerReferences: [refTo(b, { block: true })] });
      await rig.withoutCollector(async () => {
        await rig.delete(kind, 'other', 'Foreground');
        await rig.delete(kind, 'a', 'Foreground');
      });
      await rig.rest();
      const writes = rig.recorder.writes.filter(({ path }) => path.endsWith('/b'));
      const patches = writes.filter(({ method }) => method === 'PATCH').slice(0, status.length);
      expect(patches.map((call) => call.status)).toEqual(status);
      const last = patches.at(-1);
      expect(last?.headers['content-type']).toBe(`application/${type}+json`);
      const turnedOff = refTo(a, { block: false, controller: true });
      const { metadata } = (last?.body ?? {}) as KubeObject;
      expect(metadata?.ownerReferences).toEqual(kind === widget ? [turnedOff, refTo(other)] : [turnedOff]);
      expect(Object.keys(metadata ?? {})).toEqual(['uid', 'resourceVersion', 'ownerReferences']);
      const deletion = writes.find(({ method }) => method === 'DELETE');
      expect(deleteOptionsOf(deletion)).toMatchObject({
        propagationPolicy: 'Foreground',
        preconditions: { uid: uid(b) },
      });
      expect(await rig.names(kind)).toEqual([]);
    },
  );

  it.each([
    { others: [], left: 'null' },
    { others: ['x.io/keep'], left: '["x.io/keep"]' },
  ])('COL-164 COL-165 BETTER-17 P5 leaves $left, at a version and a uid', async ({ others, left }) => {
    const owner = await rig.create(configMap, 'owner', { finalizers: others });
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    rig.recorder.clear();
    const deleted = await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    const patch = rig.recorder.writes.find(({ path }) => path.endsWith('configmaps/owner'));
    expect(patch?.headers['content-type']).toBe('application/merge-patch+json');
    expect(JSON.stringify(patch?.body)).toBe(
      `{"metadata":{"uid":"${uid(owner)}","resourceVersion":"${version(deleted)}","finalizers":${left}}}`,
    );
  });

  it('COL-172 the path of a cluster-scoped object has no namespace', async () => {
    const owner = await rig.create(clusterRole, 'owner');
    await rig.create(clusterRole, 'd', { owners: [refTo(owner)] });
    await rig.delete(clusterRole, 'owner', 'Foreground');
    await rig.rest();
    expect(new Set(rig.recorder.calls.map(({ path }) => path))).toEqual(
      new Set(['owner', 'd'].map((name) => `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`)),
    );
    expect(await rig.get(clusterRole, 'd')).toBeUndefined();
  });
});

describe('the headers', () => {
  it('COL-040 COL-116 COL-170 lists and watches ask for metadata, and the read of an owner for a state in which it may be known', async () => {
    const dependent = await rig.create(secret, 'd', {
      owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost-uid' }],
    });
    await rig.rest();
    const accepts = new Set(rig.recorder.intake.map(({ headers }) => headers['accept']));
    expect([...accepts]).toEqual([
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
    for (const { query } of rig.recorder.intake) {
      expect(query).toMatchObject({ watch: 'true', allowWatchBookmarks: 'true', sendInitialEvents: 'true' });
    }
    const reads = rig.recorder.calls.filter(({ method }) => method === 'GET');
    expect(reads.map(({ headers, query }) => [headers['accept'], query])).toEqual([
      [
        'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
        { resourceVersion: dependent.metadata?.resourceVersion },
      ],
    ]);
  });

  it('COL-017 COL-200 each resource has one watch over all namespaces; events have none', () => {
    const paths = rig.recorder.intake.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain('/api/v1/configmaps');
    expect(paths).toContain('/apis/example.com/v1/widgets');
    expect(paths.filter((path) => path.includes('events') || path.includes('namespaces/'))).toEqual([]);
  });

  it('every request names the component that it was given', () => {
    expect(new Set(rig.recorder.all.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['collector']));
  });
});
