import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import type { AdmissionPlugin } from '../../../src/apiserver/admission/chain/admission-chain.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';
import { newForbidden } from '../../../src/api/status-error.ts';
import { samples } from '../samples.ts';

/** Sections 8 to 12 through the handler. */

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const ns = '/api/v1/namespaces/default';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
const sampleOf = (kind: string) => {
  const sample = samples.find((candidate) => candidate.kind === kind);
  if (sample === undefined) throw new Error(`no sample of ${kind}`);
  return sample;
};

/** Notes what each phase of admission is shown, and does something about it. */
function recording(seen: unknown[], change: (object: KubeObject) => void = () => undefined): AdmissionPlugin {
  const shown = (object: KubeObject | undefined): object => structuredClone(object ?? {});
  return {
    name: 'Recording',
    admit({ object, name, operation }) {
      seen.push(['admit', operation, name, shown(object)]);
      if (object !== undefined) change(object);
    },
    validate({ object, name, operation }) {
      seen.push(['validate', operation, name, shown(object)]);
    },
  };
}

describe('API-151 the order of work', () => {
  it('strict decoding comes before admission', async () => {
    const seen: unknown[] = [];
    const recorded = await startTestServer({ admission: [recording(seen)] });
    await recorded.post(`${configMaps}?fieldValidation=Strict`, { ...configMap('a'), nosuch: 1 });
    expect(seen).toEqual([]);
  });

  it('mutating admission sees defaults and equal owners merged, but neither name nor uid; validating admission sees all', async () => {
    const seen: [string, string, string, KubeObject][] = [];
    const recorded = await startTestServer({ admission: [recording(seen)] });
    const sample = sampleOf('Deployment');
    const { json } = await recorded.post(sample.collection, {
      ...sample.object,
      metadata: { generateName: 'd-', ownerReferences: [owner, owner], uid: 'x' },
      status: { replicas: 5 },
    });
    const [mutating, validating] = seen;
    expect(seen).toHaveLength(2);
    expect(mutating).toEqual(['admit', 'CREATE', '', expect.objectContaining({ kind: 'Deployment' })]);
    expect(mutating?.[3]).toMatchObject({ metadata: { ownerReferences: [owner] }, spec: { replicas: 1 } });
    expect(mutating?.[3].metadata).not.toHaveProperty('name');
    const { resourceVersion: _version, ...metadata } = json.metadata ?? {};
    expect(validating).toEqual(['validate', 'CREATE', json.metadata?.name, { ...json, metadata }]);
  });

  it('additions of mutating admission are merged and judged like fields that the client sent', async () => {
    const adding = await startTestServer({
      admission: [
        recording([], (object) => {
          const meta = (object.metadata ??= {});
          meta.ownerReferences = [...(meta.ownerReferences ?? []), owner];
          if (meta.name === 'bad') meta.labels = { a: 'b c' };
        }),
      ],
    });
    const { json } = await adding.post(configMaps, configMap('a', { metadata: { ownerReferences: [owner] } }));
    expect(json.metadata?.ownerReferences).toEqual([owner]);
    const bad = await adding.post(configMaps, configMap('bad'));
    expect([bad.status, bad.json.message]).toEqual([
      422,
      expect.stringContaining('metadata.labels: Invalid value: "b c"'),
    ]);
    expect((await adding.get(`${configMaps}/bad`)).status).toBe(404);
  });

  it('an invalid object never reaches validating admission, and an object that validating admission refuses is not stored', async () => {
    const seen: unknown[] = [];
    const refusing: AdmissionPlugin = {
      name: 'Refusing',
      validate({ name, info }) {
        seen.push(name);
        if (name === 'refused') throw newForbidden(info, name, 'no');
      },
    };
    const judged = await startTestServer({ admission: [refusing] });
    expect((await judged.post(configMaps, configMap('UPPER'))).status).toBe(422);
    expect(seen).toEqual([]);
    const refused = await judged.post(configMaps, configMap('refused'));
    expect([refused.status, refused.json.message]).toEqual([403, 'configmaps "refused" is forbidden: no']);
    expect((await judged.get(`${configMaps}/refused`)).status).toBe(404);
  });

  it('API-340 a namespace that is missing is noticed before any other plug-in is asked', async () => {
    const seen: unknown[] = [];
    const recorded = await startTestServer({ admission: [recording(seen)] });
    expect((await recorded.post('/api/v1/namespaces/nosuch/configmaps', configMap('a'))).status).toBe(404);
    expect(seen).toEqual([]);
  });
});

describe('creating', () => {
  it('API-154 in a namespace that was made a moment ago, over and over', async () => {
    for (let i = 0; i < 20; i++) {
      expect((await server.post('/api/v1/namespaces', { metadata: { name: `n${i}` } })).status).toBe(201);
      expect((await server.post(`/api/v1/namespaces/n${i}/configmaps`, configMap('a'))).status).toBe(201);
    }
  });

  it('API-156 with a name in the path only below an object', async () => {
    await server.post(`${ns}/pods`, sampleOf('Pod').object);
    const paths = [`${ns}/pods/a-pod`, `${configMaps}/a`, `${deployments}/a`, '/api/v1/namespaces/default'];
    for (const path of paths) expect([path, (await server.post(path, {})).status]).toEqual([path, 405]);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a-pod' } };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a-pod' }, target: { name: 'n' } };
    expect((await server.post(`${ns}/pods/a-pod/binding`, binding)).status).toBe(201);
    expect((await server.post(`${ns}/pods/a-pod/eviction`, eviction)).status).toBe(201);
    expect((await server.post(`${ns}/serviceaccounts/nobody/token`, {})).status).toBe(404);
  });
});

describe('updating', () => {
  it.each(['v1', 'apps/v1', 'batch/v1', 'rbac.authorization.k8s.io/v1', 'coordination.k8s.io/v1', 'policy/v1'])(
    'API-172 API-173 what PUT does without a version, and to what is not there, kinds of %s',
    async (apiVersion) => {
      for (const { collection, kind, object } of samples.filter((sample) => sample.apiVersion === apiVersion)) {
        const target = `${collection}/${object.metadata?.name}`;
        const creates = ['Endpoints', 'Event', 'LimitRange', 'Service', 'Lease', 'Role', 'RoleBinding', 'ClusterRole'];
        const missing = await server.put(target, object);
        expect([kind, missing.status]).toEqual([kind, creates.includes(kind) ? 201 : 404]);
        await server.post(collection, object);
        const { json: stored } = await server.get(target);
        const { resourceVersion: _version, ...metadata } = stored.metadata ?? {};
        const overwritten = await server.put(target, { ...stored, metadata });
        expect([kind, overwritten.status]).toEqual([kind, ['Lease', 'PodDisruptionBudget'].includes(kind) ? 422 : 200]);
        expect((await server.put(target, stored)).status).toBe(200);
      }
    },
  );

  const put = (target: string, object: object) => ({
    method: 'PUT',
    target,
    body: JSON.stringify(object),
    type: 'application/json',
  });
  const patch = (kind: string, target: string, body: unknown) => ({
    method: 'PATCH',
    target,
    body: JSON.stringify(body),
    type: `application/${kind}`,
  });
  it.each([
    [
      'PUT',
      (target: string, object: KubeObject) =>
        put(target, { ...object, metadata: { ...object.metadata, finalizers: [] } }),
    ],
    ['a merge patch', (target: string) => patch('merge-patch+json', target, { metadata: { finalizers: null } })],
    [
      'a strategic merge patch',
      (target: string) =>
        patch('strategic-merge-patch+json', target, {
          metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/f'] },
        }),
    ],
    [
      'a JSON patch',
      (target: string) => patch('json-patch+json', target, [{ op: 'remove', path: '/metadata/finalizers' }]),
    ],
    [
      'PUT to status',
      (target: string, object: KubeObject) =>
        put(`${target}/status`, { ...object, metadata: { ...object.metadata, finalizers: [] } }),
    ],
    [
      'a patch of status',
      (target: string) => patch('merge-patch+json', `${target}/status`, { metadata: { finalizers: [] } }),
    ],
  ])('API-176 API-251 %s that takes the last finalizer removes what is being deleted', async (_what, request) => {
    const sample = sampleOf('Deployment');
    const target = `${sample.collection}/a-deployment`;
    await server.post(sample.collection, {
      ...sample.object,
      metadata: { name: 'a-deployment', finalizers: ['example.com/f'] },
    });
    await server.delete(target);
    const { json: stored } = await server.get(target);
    const watch = await server.watch(
      `${sample.collection}?watch=1&resourceVersion=${stored.metadata?.resourceVersion}`,
    );
    const { method, body, type, ...rest } = request(target, stored);
    const answer = await server.request(method, rest.target, { body, headers: { 'content-type': type } });
    expect([answer.status, answer.json.metadata?.name, answer.json.metadata?.finalizers]).toEqual([
      200,
      'a-deployment',
      undefined,
    ]);
    expect((await server.get(target)).status).toBe(404);
    await server.post(sample.collection, sample.object);
    expect((await watch.take(2)).map(({ type: event }) => event)).toEqual(['DELETED', 'ADDED']);
    watch.close();
  });

  it.each([
    ['merge', { spec: { replicas: 4 } }],
    ['strategic', { spec: { replicas: 4 } }],
    ['json', [{ op: 'add', path: '/spec/replicas', value: 4 }]],
  ] as const)('API-200 a %s patch of /scale and of /status', async (type, scale) => {
    const sample = sampleOf('Deployment');
    await server.post(sample.collection, sample.object);
    const target = `${sample.collection}/a-deployment`;
    const scaled = await server.patch(`${target}/scale`, scale, type);
    expect(scaled.json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a-deployment' },
      spec: { replicas: 4 },
    });
    const status =
      type === 'json'
        ? [{ op: 'add', path: '/status/replicas', value: 4 }]
        : { status: { replicas: 4 }, spec: { replicas: 9 } };
    const reported = await server.patch(`${target}/status`, status, type);
    expect(reported.json).toMatchObject({ kind: 'Deployment', spec: { replicas: 4 }, status: { replicas: 4 } });
  });
});

describe('API-195 strategic merge patches', () => {
  const container = (name: string, extra: object = {}) => ({ name, image: name, ...extra });
  const containersOf = async (patch: object): Promise<unknown> => {
    const { status, json } = await server.patch(
      `${deployments}/a-deployment`,
      { spec: { template: { spec: patch } } },
      'strategic',
    );
    expect(status).toBe(200);
    const { spec } = json as {
      spec?: { template: { spec: { containers: { name: string; image: string; env?: { name: string }[] }[] } } };
    };
    return spec?.template.spec.containers.map(
      ({ name, image, env }) => `${name}=${image}${(env ?? []).map((e) => ` ${e.name}`).join('')}`,
    );
  };
  beforeEach(async () => {
    const { object, collection } = sampleOf('Deployment');
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [container('a', { env: [{ name: 'X' }] }), container('b'), container('c')] },
    };
    await server.post(collection, { ...object, spec: { ...(object['spec'] as object), template } });
  });

  it.each([
    ['merges by name', { containers: [{ name: 'b', image: 'new' }] }, ['a=a X', 'b=new', 'c=c']],
    ['adds what is new', { containers: [container('d')] }, ['d=d', 'a=a X', 'b=b', 'c=c']],
    ['deletes by name', { containers: [{ name: 'b', $patch: 'delete' }] }, ['a=a X', 'c=c']],
    ['replaces the list', { containers: [{ $patch: 'replace' }, container('z')] }, ['z=z']],
    [
      'orders',
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] },
      ['c=c', 'a=a X', 'b=b'],
    ],
    [
      'merges lists in elements of lists',
      { containers: [{ name: 'a', env: [{ name: 'Y' }] }] },
      ['a=a Y X', 'b=b', 'c=c'],
    ],
  ])('%s', async (_what, patch, expected) => {
    expect(await containersOf(patch)).toEqual(expected);
  });

  it('maps merge key by key, null deletes; retained keys drop the others; primitive lists with a strategy are united', async () => {
    const target = `${deployments}/a-deployment`;
    await server.patch(target, { metadata: { labels: { a: '1', b: '2' }, finalizers: ['x.io/a'] } }, 'strategic');
    const merged = await server.patch(
      target,
      { metadata: { labels: { a: null, c: '3' }, finalizers: ['x.io/b'] } },
      'strategic',
    );
    expect(merged.json.metadata).toMatchObject({ labels: { b: '2', c: '3' }, finalizers: ['x.io/b', 'x.io/a'] });
    const strategy = { $retainKeys: ['type'], type: 'Recreate' };
    const recreate = await server.patch(target, { spec: { strategy } }, 'strategic');
    expect(recreate.json).toMatchObject({ spec: { strategy: { type: 'Recreate' } } });
    const fewer = await server.patch(
      target,
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.io/a'] } },
      'strategic',
    );
    expect(fewer.json.metadata?.finalizers).toEqual(['x.io/b']);
  });
});

describe('API-236 API-237 dry runs', () => {
  const query = '?dryRun=All';
  it('do all but write, in every verb', async () => {
    const sample = sampleOf('Deployment');
    const target = `${sample.collection}/a-deployment`;
    await server.post(sample.collection, sample.object);
    const { text: stored, json: object } = await server.get(target);
    const before = await server.store.currentRevision();
    const created = await server.post(sample.collection + query, {
      ...sample.object,
      metadata: { generateName: 'd-' },
    });
    expect([created.status, created.json.metadata?.name]).toEqual([201, expect.stringMatching(/^d-.{5}$/)]);
    expect(created.json).toMatchObject({
      metadata: { uid: expect.any(String), creationTimestamp: expect.any(String) },
      spec: { replicas: 1 },
    });
    expect(created.json.metadata).not.toHaveProperty('resourceVersion');
    expect((await server.post(sample.collection + query, sample.object)).status).toBe(409);
    expect((await server.post(sample.collection + query, {})).status).toBe(422);
    const changed = { ...object, spec: { ...(object['spec'] as object), replicas: 7 } };
    const replaced = await server.put(target + query, changed);
    expect(replaced.json).toMatchObject({ spec: { replicas: 7 }, metadata: { generation: 2 } });
    expect((await server.patch(target + query, { spec: { replicas: 8 } })).json).toMatchObject({
      spec: { replicas: 8 },
    });
    expect((await server.patch(`${target}/scale${query}`, { spec: { replicas: 8 } })).json).toMatchObject({
      spec: { replicas: 8 },
    });
    expect((await server.patch(`${target}/status${query}`, { status: { replicas: 8 } })).json).toMatchObject({
      status: { replicas: 8 },
    });
    expect((await server.delete(target + query)).json.status).toBe('Success');
    const kept = await server.delete(target, { dryRun: ['All'], propagationPolicy: 'Foreground' });
    expect(kept.json.metadata).toMatchObject({
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: expect.any(String),
    });
    expect((await server.delete(sample.collection + query)).json.items).toHaveLength(1);
    expect((await server.get(target)).text).toBe(stored);
    expect(await server.store.currentRevision()).toBe(before);
  });
});

describe('the size of an object', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';
  const widget = (name: string, extra: object = {}) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name },
    ...extra,
  });
  beforeEach(async () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const { object } = sampleOf('CustomResourceDefinition');
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: open } };
    await server.post(definitions, { ...object, spec: { ...(object['spec'] as object), versions: [version] } });
    await expect.poll(async () => (await server.get(widgets)).status).toBe(200);
  });

  it('API-007 no row of patches makes one larger than a request may be, and it can still be deleted', async () => {
    await server.post(widgets, widget('a', { metadata: { name: 'a', finalizers: ['example.com/f'] } }));
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++)
      statuses.push((await server.patch(`${widgets}/a`, { [`p${i}`]: 'x'.repeat(1_000_000) })).status);
    expect(statuses).toEqual([200, 200, 200, 413]);
    const { json } = await server.patch(`${widgets}/a`, { p9: 'x'.repeat(1_000_000) });
    expect([json.reason, json.message]).toEqual([
      'RequestEntityTooLarge',
      'Request entity too large: limit is 3145728',
    ]);
    expect(
      (await server.delete(`${widgets}/a`, { propagationPolicy: 'Foreground' })).json.metadata?.finalizers,
    ).toEqual(['example.com/f', 'foregroundDeletion']);
    expect((await server.patch(`${widgets}/a`, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await server.get(`${widgets}/a`)).status).toBe(404);
  });

  it('API-155 what is too large only by its managed fields is stored without them', async () => {
    const small = await server.post(`${widgets}?fieldManager=m`, widget('small', { spec: { a: 1 } }));
    expect(small.json.metadata?.managedFields).toHaveLength(1);
    const length = 9_000;
    const fields = Object.fromEntries(Array.from({ length }, (_, i) => [`${'field-'.repeat(6)}${i}`, 1]));
    const spec = { a: fields, b: fields, c: fields, d: fields, e: fields };
    const { status, json } = await server.post(`${widgets}?fieldManager=m`, widget('large', { spec }));
    expect([status, json.metadata?.managedFields]).toEqual([201, undefined]);
    expect((await server.get(`${widgets}/large`)).json['spec']).toEqual(spec);
  });
});
