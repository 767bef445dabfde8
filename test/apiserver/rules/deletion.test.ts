import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { newForbidden } from '../../../src/api/status-error.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { samples } from '../samples.ts';

/** Sections 13 to 15 through the handler. */

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ clock: new FakeClock(Date.parse('2026-11-21T12:00:00Z')) });
});

const pods = '/api/v1/namespaces/default/pods';
const container = { name: 'c', image: 'i' };
const pod = (name: string, spec: object = {}, status?: object) => ({
  metadata: { name },
  spec: { containers: [container], nodeName: 'n', ...spec },
  ...(status === undefined ? {} : { status }),
});

describe('DELETE', () => {
  const orphans = ['ReplicationController', 'Job'];
  const returned = [
    'Pod',
    'Service',
    'ServiceAccount',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'ResourceQuota',
    'StorageClass',
  ];
  const own = ['Namespace', 'CustomResourceDefinition', 'Widget'];
  it.each(samples.filter(({ kind }) => !own.includes(kind)).map((sample) => [sample.kind, sample] as const))(
    'API-247 API-250 of a %s without options',
    async (kind, { collection, object }) => {
      const { finalizers: _finalizers, ...metadata } = object.metadata ?? {};
      const created = await server.post(collection, { ...object, metadata });
      const target = `${collection}/${metadata.name}`;
      const { status, json } = await server.delete(target);
      expect(status).toBe(200);
      if (orphans.includes(kind)) {
        expect(json.metadata).toMatchObject({
          finalizers: ['orphan'],
          deletionTimestamp: '2026-11-21T12:00:00Z',
          deletionGracePeriodSeconds: 0,
        });
        return;
      }
      expect((await server.get(target)).status).toBe(404);
      if (returned.includes(kind)) expect(json.metadata?.uid).toBe(created.json.metadata?.uid);
      else
        expect(json).toMatchObject({ kind: 'Status', status: 'Success', details: { uid: created.json.metadata?.uid } });
    },
  );

  it('API-243 preconditions first, then what is to be done, then validating admission, then the write', async () => {
    const asked: (string | undefined)[] = [];
    const judged = await startTestServer({
      admission: [
        {
          name: 'Judge',
          validate({ operation, name, info, oldObject, object }) {
            if (operation !== 'DELETE') return;
            asked.push(oldObject?.metadata?.name);
            expect(object).toBeUndefined();
            // As a whole, however little decided about the deletion.
            expect(oldObject).toMatchObject({ kind: 'ConfigMap', data: { kept: name } });
            if (name === 'kept') throw newForbidden(info, name, 'no');
          },
        },
      ],
    });
    for (const name of ['kept', 'free']) await judged.post(configMaps, { ...configMap(name), data: { kept: name } });
    const { json: kept } = await judged.get(`${configMaps}/kept`);
    expect((await judged.delete(`${configMaps}/nosuch`)).status).toBe(404);
    expect((await judged.delete(`${configMaps}/kept`, { preconditions: { uid: 'x' } })).status).toBe(409);
    expect(asked).toEqual([]);
    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan']) {
      expect((await judged.delete(`${configMaps}/kept`, { propagationPolicy })).status).toBe(403);
    }
    expect((await judged.get(`${configMaps}/kept`)).json).toEqual(kept);
    expect((await judged.delete(`${configMaps}/free`)).json.status).toBe('Success');
    expect(asked).toEqual(['kept', 'kept', 'kept', 'free']);
  });

  it('API-255 grace is for pods: a negative one counts as one second, for others none counts', async () => {
    await server.post(pods, pod('p'));
    const negative = await server.delete(`${pods}/p`, { gracePeriodSeconds: -5 });
    expect(negative.json.metadata).toMatchObject({
      deletionGracePeriodSeconds: 1,
      deletionTimestamp: '2026-11-21T12:00:01Z',
    });
    await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/f'] } }));
    const other = await server.delete(`${configMaps}/a`, { gracePeriodSeconds: 30 });
    expect(other.json.metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      deletionTimestamp: '2026-11-21T12:00:00Z',
    });
  });

  it.each([
    ['the option', {}, 7, 7],
    ['the option over the spec', { terminationGracePeriodSeconds: 60 }, 7, 7],
    ['the spec', { terminationGracePeriodSeconds: 60 }, undefined, 60],
    ['the default', {}, undefined, 30],
    ['no node', { nodeName: '' }, 7, 0],
    ['zero', {}, 0, 0],
  ])('API-310 LIFE-501 grace of a pod by %s', async (_what, spec, gracePeriodSeconds, expected) => {
    await server.post(pods, pod('p', spec));
    const { status, json } = await server.delete(
      `${pods}/p`,
      gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
    );
    expect(status).toBe(200);
    expect((await server.get(`${pods}/p`)).status).toBe(expected === 0 ? 404 : 200);
    if (expected > 0) expect(json.metadata?.deletionGracePeriodSeconds).toBe(expected);
  });

  it.each(['Succeeded', 'Failed'])('API-310 LIFE-501 a pod that has %s goes at once', async (phase) => {
    await server.post(pods, pod('p'));
    await server.patch(`${pods}/p/status`, { status: { phase } });
    await server.delete(`${pods}/p`, { gracePeriodSeconds: 30 });
    expect((await server.get(`${pods}/p`)).status).toBe(404);
  });
});

describe('DELETE of a collection', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c']) {
      await server.post(configMaps, configMap(name, { metadata: { labels: { name } } }));
    }
  });

  it('API-270 API-240 the selection comes from the query, the options from the body alone', async () => {
    const target = `${configMaps}?labelSelector=name+in+(a,b)&propagationPolicy=Background&dryRun=All`;
    const { status, json } = await server.request('DELETE', target, { body: { propagationPolicy: 'Orphan' } });
    expect([status, json.kind]).toEqual([200, 'ConfigMapList']);
    expect(json.items.map(({ metadata }) => [metadata?.name, metadata?.deletionTimestamp])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
    const { json: left } = await server.get(configMaps);
    expect(left.items.map(({ metadata }) => [metadata?.name, metadata?.finalizers])).toEqual([
      ['a', ['orphan']],
      ['b', ['orphan']],
      ['c', undefined],
    ]);
  });

  it('API-271 what has gone meanwhile is passed over, the first refusal is the answer', async () => {
    let racing: (() => Promise<unknown>) | undefined;
    const judged: TestServer = await startTestServer({
      admission: [
        {
          name: 'Judge',
          async validate({ operation, oldObject, info }) {
            if (operation !== 'DELETE') return;
            // A collection is deleted without a name (API-350); what goes is in the old object.
            const name = oldObject?.metadata?.name ?? '';
            if (name === 'a' && racing !== undefined) {
              const race = racing;
              racing = undefined;
              await race();
            }
            if (name === 'c') throw newForbidden(info, name, 'no');
          },
        },
      ],
    });
    for (const name of ['a', 'b', 'c']) await judged.post(configMaps, configMap(name));
    racing = () => judged.delete(`${configMaps}/a`);
    const { status, json } = await judged.delete(configMaps);
    expect([status, json.message]).toEqual([403, 'configmaps "c" is forbidden: no']);
    expect((await judged.get(configMaps)).json.items.map(({ metadata }) => metadata?.name)).toEqual(['c']);
  });
});

describe('namespaces', () => {
  const namespaces = '/api/v1/namespaces';
  const make = async (name: string): Promise<KubeObject> =>
    (await server.post(namespaces, { metadata: { name } })).json;

  it('API-300 the label of its name comes back with every update', async () => {
    await make('x');
    for (const labels of [{ 'kubernetes.io/metadata.name': 'y' }, { a: 'b' }, null]) {
      const { json } = await server.patch(`${namespaces}/x`, { metadata: { labels } });
      expect(json.metadata?.labels?.['kubernetes.io/metadata.name']).toBe('x');
    }
  });

  it('API-303 LIFE-505 nothing new in a terminating one but questions', async () => {
    await make('x');
    await server.post(`${namespaces}/x/configmaps`, configMap('old'));
    await server.delete(`${namespaces}/x`);
    const { status, json } = await server.post(`${namespaces}/x/configmaps`, configMap('a'));
    expect([status, json.message]).toEqual([
      403,
      'configmaps "a" is forbidden: unable to create new content in namespace x because it is being terminated',
    ]);
    expect(json.details).toEqual({
      name: 'a',
      kind: 'configmaps',
      causes: [
        { reason: 'NamespaceTerminating', message: 'namespace x is being terminated', field: 'metadata.namespace' },
      ],
    });
    expect((await server.patch(`${namespaces}/x/configmaps/old`, { data: { k: 'v' } })).status).toBe(200);
    expect((await server.delete(`${namespaces}/x/configmaps/old`)).status).toBe(200);
    const review = { spec: { user: 'u', resourceAttributes: { namespace: 'x', verb: 'get', resource: 'pods' } } };
    const asked = await server.post(`/apis/authorization.k8s.io/v1/namespaces/x/localsubjectaccessreviews`, review);
    expect(asked.status).toBe(201);
  });

  it('API-305 each of its three ways in changes its own part', async () => {
    const object = await make('x');
    const changed = {
      ...object,
      metadata: { name: 'x', annotations: { a: 'b' } },
      spec: { finalizers: ['kubernetes', 'example.com/f'] },
      status: { phase: 'Terminating' },
    };
    const parts = async (target: string): Promise<unknown> => {
      const { json } = await server.put(target, changed);
      return [json.metadata?.annotations, json['spec'], json['status']];
    };
    expect(await parts(`${namespaces}/x`)).toEqual([{ a: 'b' }, { finalizers: ['kubernetes'] }, { phase: 'Active' }]);
    expect(await parts(`${namespaces}/x/finalize`)).toEqual([
      { a: 'b' },
      { finalizers: ['kubernetes', 'example.com/f'] },
      { phase: 'Active' },
    ]);
    expect(await parts(`${namespaces}/x/status`)).toEqual([
      { a: 'b' },
      { finalizers: ['kubernetes', 'example.com/f'] },
      { phase: 'Terminating' },
    ]);
  });

  it('API-301 API-302 a deletion moves no generation and leaves no grace; again it changes nothing', async () => {
    await make('x');
    const first = await server.delete(`${namespaces}/x`);
    expect(first.json).toMatchObject({
      metadata: { deletionTimestamp: '2026-11-21T12:00:00Z' },
      status: { phase: 'Terminating' },
    });
    expect(first.json.metadata).not.toHaveProperty('generation');
    expect(first.json.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    expect((await server.delete(`${namespaces}/x`, { propagationPolicy: 'Foreground' })).json).toEqual(first.json);
  });
});
