import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { configMap, configMaps, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
  server = await startTestServer({ clock });
});

const controllers = '/api/v1/namespaces/default/replicationcontrollers';
const controller = (name: string, finalizers?: string[]): KubeObject => ({
  kind: 'ReplicationController',
  apiVersion: 'v1',
  metadata: { name, ...(finalizers === undefined ? {} : { finalizers }) },
  spec: {
    selector: { a: name },
    template: { metadata: { labels: { a: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

/** D is a type without default, O a type whose default is Orphan. */
const kinds = {
  D: {
    path: configMaps,
    make: (finalizers?: string[]) => configMap('x', finalizers === undefined ? {} : { metadata: { finalizers } }),
  },
  O: { path: controllers, make: (finalizers?: string[]) => controller('x', finalizers) },
};

type Row = readonly [
  options: object | undefined,
  carried: string[] | undefined,
  D: 'removed' | string[],
  O: 'removed' | string[],
];
const table: readonly Row[] = [
  [undefined, undefined, 'removed', ['orphan']],
  [{ propagationPolicy: 'Background' }, undefined, 'removed', 'removed'],
  [{ propagationPolicy: 'Foreground' }, undefined, ['foregroundDeletion'], ['foregroundDeletion']],
  [{ propagationPolicy: 'Orphan' }, undefined, ['orphan'], ['orphan']],
  [{ orphanDependents: true }, undefined, ['orphan'], ['orphan']],
  [{ orphanDependents: false }, undefined, 'removed', 'removed'],
  [undefined, ['orphan'], ['orphan'], ['orphan']],
  [undefined, ['foregroundDeletion'], ['foregroundDeletion'], ['foregroundDeletion']],
  [{ propagationPolicy: 'Background' }, ['foregroundDeletion'], 'removed', 'removed'],
  [
    { propagationPolicy: 'Foreground' },
    ['example.com/x', 'orphan'],
    ['example.com/x', 'foregroundDeletion'],
    ['example.com/x', 'foregroundDeletion'],
  ],
];

describe.each(['D', 'O'] as const)('the decision table, default %s', (column) => {
  const { path, make } = kinds[column];
  for (const [options, carried, D, O] of table) {
    const outcome = column === 'D' ? D : O;
    for (const form of ['body', 'query'] as const) {
      it(`API-244 API-245 API-246 API-247 API-249 API-250 API-256 COL-230 COL-231 COL-232 ${JSON.stringify(options ?? 'none')} in the ${form} on ${carried?.join() ?? 'no finalizers'}: ${String(outcome)}`, async () => {
        const { json: created } = await server.post(path, make(carried));
        const watch = await server.watch(`${path}?watch=true&resourceVersion=${created.metadata?.resourceVersion}`);
        const query =
          form === 'query' && options !== undefined
            ? `?${new URLSearchParams(Object.entries(options).map(([k, v]): [string, string] => [k, String(v)]))}`
            : '';
        const { status, json } = await server.delete(`${path}/x${query}`, form === 'body' ? options : undefined);
        expect(status).toBe(200);
        const event = await watch.next();
        if (outcome === 'removed') {
          expect(json).toEqual({
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Success',
            details: { name: 'x', kind: path.split('/').at(-1), uid: created.metadata?.uid },
          });
          expect(event).toMatchObject({
            type: 'DELETED',
            object: { metadata: { name: 'x', uid: created.metadata?.uid } },
          });
          expect(Number(event?.object.metadata?.resourceVersion)).toBeGreaterThan(
            Number(created.metadata?.resourceVersion),
          );
          expect((await server.get(`${path}/x`)).status).toBe(404);
        } else {
          expect(json.metadata).toMatchObject({
            finalizers: outcome,
            deletionTimestamp: '2026-11-21T12:00:00Z',
            deletionGracePeriodSeconds: 0,
          });
          expect(event).toMatchObject({ type: 'MODIFIED' });
          expect((await server.get(`${path}/x`)).json).toEqual(json);
        }
        watch.close();
      });
    }
  }
});

describe('delete', () => {
  it('API-240 with a body the query is ignored', async () => {
    await server.post(configMaps, configMap('x'));
    const { json } = await server.delete(`${configMaps}/x?propagationPolicy=Background`, {
      propagationPolicy: 'Orphan',
    });
    expect(json.metadata?.finalizers).toEqual(['orphan']);
  });

  it('API-240 null as body is no options', async () => {
    await server.post(configMaps, configMap('x'));
    const { status, json } = await server.request('DELETE', `${configMaps}/x`, {
      headers: { 'content-type': 'application/json' },
      body: 'null',
    });
    expect([status, json.status]).toEqual([200, 'Success']);
  });

  it('API-240 options as protobuf, as YAML, and an undecodable body', async () => {
    const { encodeProtobuf } = await import('../../api/codec/protobuf/protobuf.ts');
    await server.post(configMaps, configMap('x'));
    const asProtobuf = await server.request('DELETE', `${configMaps}/x`, {
      body: encodeProtobuf({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' }),
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    });
    expect(asProtobuf.json.metadata?.finalizers).toEqual(['orphan']);
    const asYaml = await server.request('DELETE', `${configMaps}/x`, {
      body: 'propagationPolicy: Foreground\n',
      headers: { 'content-type': 'application/yaml' },
    });
    expect(asYaml.json.metadata?.finalizers).toEqual(['foregroundDeletion']);
    const broken = await server.request('DELETE', `${configMaps}/x`, {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(broken.status).toBe(400);
    expect((await server.get(`${configMaps}/x`)).json.metadata?.finalizers).toEqual(['foregroundDeletion']);
  });

  it('API-241 COL-233 contradicting and unknown options are 422', async () => {
    await server.post(configMaps, configMap('x'));
    const both = await server.delete(`${configMaps}/x`, { orphanDependents: true, propagationPolicy: 'Orphan' });
    expect(both.status).toBe(422);
    expect(both.json.message).toBe(
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    );
    const unknown = await server.delete(`${configMaps}/x?propagationPolicy=x`);
    expect(unknown.json.message).toContain(
      'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
    );
  });

  it('API-242 COL-234 preconditions that do not hold are 409 and change nothing', async () => {
    const { json } = await server.post(configMaps, configMap('x'));
    const { uid, resourceVersion } = json.metadata ?? {};
    const other = await server.delete(`${configMaps}/x`, { preconditions: { uid: 'other' } });
    expect(other.status).toBe(409);
    expect(other.json).toMatchObject({
      reason: 'Conflict',
      details: { kind: 'ConfigMap' },
      message: `Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    });
    const old = await server.delete(`${configMaps}/x?resourceVersion=1`);
    expect(old.json.message).toBe(
      `Operation cannot be fulfilled on ConfigMap "x": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
    expect((await server.delete(`${configMaps}/x`, { preconditions: { uid, resourceVersion } })).status).toBe(200);
  });

  it('API-243 a missing object is 404', async () => {
    const { status, json } = await server.delete(`${configMaps}/x`);
    expect(status).toBe(404);
    expect(json).toMatchObject({ message: 'configmaps "x" not found', details: { name: 'x', kind: 'configmaps' } });
  });

  it('API-248 jobs deleted without a policy warn, single and as a collection', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const job = (name: string) => ({
      kind: 'Job',
      apiVersion: 'batch/v1',
      metadata: { name },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
    });
    await server.post(jobs, job('a'));
    const warning = expect.stringContaining('child pods are preserved by default when jobs are deleted');
    expect((await server.delete(`${jobs}/a`)).headers['warning']).toEqual([warning]);
    expect((await server.delete(jobs)).headers['warning']).toEqual([warning]);
    expect((await server.delete(`${jobs}/a?propagationPolicy=Orphan`)).headers['warning']).toBeUndefined();
  });

  it.each([
    ['pods', { spec: { containers: [{ name: 'c', image: 'i' }] } }],
    ['services', { spec: { ports: [{ port: 80 }] } }],
    ['serviceaccounts', {}],
    ['podtemplates', { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }],
    ['resourcequotas', {}],
  ])('API-250 removed %s are answered with the object', async (resource, rest) => {
    const path = `/api/v1/namespaces/default/${resource}`;
    const created = await server.post(path, { metadata: { name: 'x' }, ...rest });
    expect(created.status).toBe(201);
    const { status, json } = await server.delete(`${path}/x`);
    expect(status).toBe(200);
    expect(json.metadata).toMatchObject({ name: 'x', uid: created.json.metadata?.uid });
    expect((await server.get(`${path}/x`)).status).toBe(404);
  });

  describe('API-251 an update that takes the last finalizer removes the object', () => {
    beforeEach(async () => {
      await server.post(configMaps, configMap('x', { metadata: { finalizers: ['example.com/a'] } }));
      await server.delete(`${configMaps}/x`);
    });

    it.each([
      [
        'PUT',
        async () => {
          const { json } = await server.get(`${configMaps}/x`);
          return server.put(`${configMaps}/x`, { ...json, metadata: { ...json.metadata, finalizers: [] } });
        },
      ],
      ['merge patch', () => server.patch(`${configMaps}/x`, { metadata: { finalizers: null } })],
      ['JSON patch', () => server.patch(`${configMaps}/x`, [{ op: 'remove', path: '/metadata/finalizers/0' }], 'json')],
      [
        'strategic patch',
        () =>
          server.patch(
            `${configMaps}/x`,
            { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
            'strategic',
          ),
      ],
    ])('by %s; watchers see DELETED only', async (_name, update) => {
      const { json: stored } = await server.get(`${configMaps}/x`);
      const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${stored.metadata?.resourceVersion}`);
      const { status, json } = await update();
      expect(status).toBe(200);
      expect(json).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'x' } });
      expect(json.metadata?.finalizers ?? []).toEqual([]);
      expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'x' } } });
      expect((await server.get(`${configMaps}/x`)).status).toBe(404);
      watch.close();
    });

    it('an update that leaves one does not', async () => {
      const { status } = await server.patch(`${configMaps}/x`, { metadata: { labels: { a: 'b' } } });
      expect(status).toBe(200);
      expect((await server.get(`${configMaps}/x`)).json.metadata).toMatchObject({
        labels: { a: 'b' },
        finalizers: ['example.com/a'],
      });
    });
  });

  it('API-252 a repeated DELETE switches the policy and nothing else', async () => {
    await server.post(configMaps, configMap('x', { metadata: { finalizers: ['example.com/a'], generation: 1 } }));
    const first = await server.delete(`${configMaps}/x`);
    clock.advance(5000);
    const same = await server.delete(`${configMaps}/x`);
    expect(same.json).toEqual(first.json);
    const switched = await server.delete(`${configMaps}/x`, { propagationPolicy: 'Foreground' });
    expect(switched.json.metadata).toMatchObject({
      finalizers: ['example.com/a', 'foregroundDeletion'],
      deletionTimestamp: first.json.metadata?.deletionTimestamp,
      generation: 2,
    });
    const orphaned = await server.delete(`${configMaps}/x`, { propagationPolicy: 'Orphan' });
    expect(orphaned.json.metadata?.finalizers).toEqual(['example.com/a', 'orphan']);
  });

  it('API-254 202 only for an object that stays although orphanDependents is false', async () => {
    await server.post(configMaps, configMap('x', { metadata: { finalizers: ['example.com/a'] } }));
    expect((await server.delete(`${configMaps}/x`, { orphanDependents: false })).status).toBe(202);
    expect((await server.delete(`${configMaps}/x`, { propagationPolicy: 'Background' })).status).toBe(200);
  });

  it('API-257 a dry run answers as if, and changes nothing', async () => {
    const { json: created } = await server.post(configMaps, configMap('x'));
    const removed = await server.delete(`${configMaps}/x`, { dryRun: ['All'] });
    expect(removed.json).toMatchObject({ kind: 'Status', status: 'Success' });
    const kept = await server.delete(`${configMaps}/x?dryRun=All&propagationPolicy=Orphan`);
    expect(kept.json.metadata).toMatchObject({ finalizers: ['orphan'], deletionTimestamp: '2026-11-21T12:00:00Z' });
    expect((await server.get(`${configMaps}/x`)).json).toEqual(created);
    await server.post(configMaps, configMap('y', { metadata: { finalizers: ['foregroundDeletion'] } }));
    const odd = await server.delete(`${configMaps}/y`, { dryRun: ['All'], propagationPolicy: 'Background' });
    expect(odd.status).toBe(200);
    expect(odd.json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(odd.json.metadata?.name).toBeUndefined();
    expect((await server.get(`${configMaps}/y`)).status).toBe(200);
  });

  it('API-259 a later create of the same name is another object', async () => {
    const { json: first } = await server.post(configMaps, configMap('x'));
    await server.delete(`${configMaps}/x`);
    const { json: second } = await server.post(configMaps, configMap('x'));
    expect(second.metadata?.uid).not.toBe(first.metadata?.uid);
    expect(Number(second.metadata?.resourceVersion)).toBeGreaterThan(Number(first.metadata?.resourceVersion) + 1);
  });
});

describe('deletion of a collection', () => {
  async function fill(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        server.post(
          configMaps,
          configMap(`c${String(i).padStart(3, '0')}`, { metadata: { labels: { odd: String(i % 2) } } }),
        ),
      ),
    );
  }

  it('API-270 API-274 deletes what is selected and answers the list as it was', async () => {
    await fill(150);
    const { status, json } = await server.delete(`${configMaps}?labelSelector=odd%3D1`);
    expect(status).toBe(200);
    expect(json.kind).toBe('ConfigMapList');
    expect(json.items).toHaveLength(75);
    const left = await server.get(configMaps);
    expect(left.json.items).toHaveLength(75);
    expect(left.json.items.every((item) => item.metadata?.labels?.['odd'] === '0')).toBe(true);
  });

  it('API-271 COL-236 each object gets the options', async () => {
    await fill(3);
    await server.delete(configMaps, { propagationPolicy: 'Orphan' });
    const { json } = await server.get(configMaps);
    expect(json.items.map((item) => item.metadata?.finalizers)).toEqual([['orphan'], ['orphan'], ['orphan']]);
  });

  it('API-272 with limit only the first page goes', async () => {
    await fill(5);
    expect((await server.delete(`${configMaps}?limit=2`)).json.items).toHaveLength(2);
    expect((await server.get(configMaps)).json.items.map((item) => item.metadata?.name)).toEqual([
      'c002',
      'c003',
      'c004',
    ]);
  });

  it('COL-236 a dry run deletes nothing', async () => {
    await fill(3);
    expect((await server.delete(`${configMaps}?dryRun=All`)).status).toBe(200);
    expect((await server.get(configMaps)).json.items).toHaveLength(3);
  });

  it('API-273 namespaces have none', async () => {
    expect((await server.delete('/api/v1/namespaces')).status).toBe(405);
  });
});

describe('pods', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (spec: object = {}, finalizers?: string[]) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', ...(finalizers === undefined ? {} : { finalizers }) },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

  it('API-310 a pod without a node, or one that has ended, goes at once', async () => {
    await server.post(pods, pod());
    await server.delete(`${pods}/p`);
    expect((await server.get(`${pods}/p`)).status).toBe(404);
    await server.post(pods, pod({ nodeName: 'n' }));
    await server.patch(`${pods}/p/status`, { status: { phase: 'Succeeded' } });
    await server.delete(`${pods}/p`);
    expect((await server.get(`${pods}/p`)).status).toBe(404);
  });

  it('API-311 API-253 API-313 API-312 LIFE-501 LIFE-502 grace: started, not lengthened, shortened, over', async () => {
    await server.post(pods, pod({ nodeName: 'n' }));
    const first = await server.delete(`${pods}/p`);
    expect(first.status).toBe(200);
    expect(first.json.metadata).toMatchObject({
      deletionTimestamp: '2026-11-21T12:00:30Z',
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    const longer = await server.delete(`${pods}/p`, { gracePeriodSeconds: 60, propagationPolicy: 'Orphan' });
    expect(longer.json).toEqual(first.json);
    const shorter = await server.delete(`${pods}/p`, { gracePeriodSeconds: 10 });
    expect(shorter.json.metadata).toMatchObject({
      deletionTimestamp: '2026-11-21T12:00:10Z',
      deletionGracePeriodSeconds: 10,
    });
    const patched = await server.patch(`${pods}/p`, { metadata: { labels: { a: 'b' } } });
    expect(patched.json.metadata?.deletionGracePeriodSeconds).toBe(10);
    expect((await server.patch(`${pods}/p`, { metadata: { finalizers: [] } })).status).toBe(200);
    expect((await server.get(`${pods}/p`)).status).toBe(200);
    const killed = await server.delete(`${pods}/p`, { gracePeriodSeconds: 0 });
    expect(killed.json).toMatchObject({ kind: 'Pod', metadata: { name: 'p' } });
    expect((await server.get(`${pods}/p`)).status).toBe(404);
  });

  it('API-312 with finalizers it stays, grace 0, until the last one goes', async () => {
    await server.post(pods, pod({ nodeName: 'n' }, ['example.com/a']));
    const { json } = await server.delete(`${pods}/p?gracePeriodSeconds=0`);
    expect(json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/a'] });
    await server.patch(`${pods}/p`, { metadata: { finalizers: null } });
    expect((await server.get(`${pods}/p`)).status).toBe(404);
  });
});
