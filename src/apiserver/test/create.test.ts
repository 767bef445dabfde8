import { beforeEach, describe, expect, it } from 'vitest';
import { configMap, configMaps, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('create', () => {
  it('API-150 answers 201 with the stored object', async () => {
    const created = await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
    const read = await server.get(`${configMaps}/a`);
    expect(read.status).toBe(200);
    expect(read.json).toEqual(created.json);
  });

  it('API-060 the server decides uid and creationTimestamp and wipes what only it may set', async () => {
    const { json } = await server.post(
      configMaps,
      configMap('a', {
        metadata: {
          uid: 'mine',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          selfLink: '/x',
        },
      }),
    );
    expect(json.metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: expect.stringMatching(uuid),
      creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
    });
    expect(json.metadata?.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
  });

  it('API-060 a resourceVersion in the body is refused, empty and 0 are not', async () => {
    const refused = await server.post(configMaps, configMap('a', { metadata: { resourceVersion: '5' } }));
    expect(refused.status).toBe(500);
    expect(refused.json).toMatchObject({ message: 'resourceVersion should not be set on objects to be created' });
    expect(refused.json.reason).toBeUndefined();
    for (const [i, resourceVersion] of ['', '0'].entries()) {
      expect((await server.post(configMaps, configMap(`b${i}`, { metadata: { resourceVersion } }))).status).toBe(201);
    }
  });

  it('API-061 generateName gets five characters, and another try when the name is taken', async () => {
    const { json } = await server.post(configMaps, configMap('', { metadata: { generateName: 'web-' } }));
    expect(json.metadata?.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    // The same seed produces the same names: two servers over one store collide on every first try.
    const twin = await startTestServer({ store: server.store, seed: 1 });
    const other = await startTestServer({ store: server.store, seed: 1 });
    const one = await twin.post(configMaps, configMap('', { metadata: { generateName: 'x-' } }));
    const two = await other.post(configMaps, configMap('', { metadata: { generateName: 'x-' } }));
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.json.metadata?.name).not.toBe(two.json.metadata?.name);
  });

  it('API-061 after eight names that are taken it is 409', async () => {
    const constant = {
      float: () => 0,
      integer: () => 0,
      uuid: () => 'u',
      bytes: (n: number) => new Uint8Array(n),
      pick: <T>(xs: readonly T[]) => xs[0] as T,
    };
    const stuck = await startTestServer({ random: constant });
    expect((await stuck.post(configMaps, configMap('', { metadata: { generateName: 'x-' } }))).status).toBe(201);
    const { status, json } = await stuck.post(configMaps, configMap('', { metadata: { generateName: 'x-' } }));
    expect(status).toBe(409);
    expect(json).toMatchObject({
      reason: 'AlreadyExists',
      message: 'configmaps "x-bbbbb" already exists, the server was not able to generate a unique name for the object',
      details: { retryAfterSeconds: 1 },
    });
  });

  it('API-062 neither name nor generateName', async () => {
    const { status, json } = await server.post(configMaps, { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} });
    expect(status).toBe(422);
    expect(json.message).toBe(
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
  });

  it.each(['.', '..', 'a/b', 'a%b', 'UPPER', 'a'.repeat(254)])('API-063 the name %s is refused', async (name) => {
    const { status, json } = await server.post(configMaps, configMap(name));
    expect(status).toBe(422);
    expect(json.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'metadata.name' });
  });

  it.each([
    ['/api/v1/namespaces', {}],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { rules: [] }],
  ])('API-064 a namespace in the body of what has none is taken away: %s', async (path, fields) => {
    const metadata = { name: 'x', namespace: 'default' };
    const { status, json } = await server.post(path, { metadata, ...fields });
    expect([status, json.metadata?.namespace]).toEqual([201, undefined]);
    const again = await server.patch(`${path}/x`, { metadata: { namespace: 'default', labels: { a: 'b' } } });
    expect([again.status, again.json.metadata?.namespace]).toEqual([200, undefined]);
  });

  it('API-064 another namespace in the body is 400, none is filled in', async () => {
    const { status, json } = await server.post(configMaps, configMap('a', { metadata: { namespace: 'other' } }));
    expect(status).toBe(400);
    expect(json.message).toBe('the namespace of the provided object does not match the namespace sent on the request');
    expect((await server.post(configMaps, configMap('a'))).json.metadata?.namespace).toBe('default');
  });

  it('API-065 API-150 apiVersion and kind must be the endpoint’s, and the one that is missing is', async () => {
    const version = await server.post(configMaps, { ...configMap('a'), apiVersion: 'v2' });
    expect(version.status).toBe(400);
    expect(version.json.message).toBe('the API version in the data (v2) does not match the expected API version (v1)');
    const kind = await server.post(configMaps, { ...configMap('a'), kind: 'Secret' });
    expect(kind.status).toBe(400);
    for (const given of [{}, { kind: 'ConfigMap' }, { apiVersion: 'v1' }]) {
      const { status, json } = await server.post(configMaps, { ...given, metadata: { generateName: 'a-' } });
      expect([given, status, json.apiVersion, json.kind]).toEqual([given, 201, 'v1', 'ConfigMap']);
    }
  });

  it.each([
    ['an empty body', ''],
    ['broken JSON', '{"kind":'],
    ['a list', '[]'],
    ['a number', '3'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
  ])('API-150 %s is 400', async (_name, body) => {
    const { status, json } = await server.request('POST', configMaps, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest' });
  });

  it('API-150 null is an object without fields, and so without a name', async () => {
    const { status, json } = await server.request('POST', configMaps, {
      body: 'null',
      headers: { 'content-type': 'application/json' },
    });
    expect([status, json.message]).toEqual([
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ]);
  });

  it('API-028 an unknown content type is 415', async () => {
    const { status, json } = await server.request('POST', configMaps, {
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(status).toBe(415);
    expect(json).toMatchObject({
      reason: 'UnsupportedMediaType',
      message: expect.stringMatching(
        /^the body of the request was in an unknown format - accepted media types include: application\/json/,
      ),
    });
  });

  it('API-028 YAML bodies', async () => {
    const { status, json } = await server.request('POST', configMaps, {
      body: 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: q}\ndata: {k: "yes"}\n',
      headers: { 'content-type': 'application/yaml' },
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ data: { k: 'yes' } });
  });

  it('API-029 protobuf bodies, answered in what the client takes', async () => {
    const { encodeProtobuf } = await import('../../api/codec/protobuf/protobuf.ts');
    const { status, json } = await server.request('POST', configMaps, {
      body: encodeProtobuf(configMap('p', { data: { k: 'v' } })),
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf', accept: 'application/json' },
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ metadata: { name: 'p' }, data: { k: 'v' } });
    const broken = await server.request('POST', configMaps, {
      body: Buffer.from([0x6b, 0x38, 0x73, 0x00, 0xff, 0xff]),
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    });
    expect(broken.status).toBe(400);
  });

  it('API-070 equal owner references are merged, with a warning', async () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' };
    const { status, json, headers } = await server.post(
      configMaps,
      configMap('a', { metadata: { ownerReferences: [owner, owner, { ...owner, name: 'q' }] } }),
    );
    expect(status).toBe(201);
    expect(json.metadata?.ownerReferences).toEqual([owner, { ...owner, name: 'q' }]);
    expect(String(headers['warning'])).toContain('duplicate UID(s) observed: u1');
  });

  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  it.each([
    ['metadata.ownerReferences.apiVersion', [{ ...owner, apiVersion: '' }]],
    ['metadata.ownerReferences.kind', [{ ...owner, kind: '' }]],
    ['metadata.ownerReferences.name', [{ ...owner, name: '' }]],
    ['metadata.ownerReferences.uid', [{ ...owner, uid: '' }]],
    ['metadata.ownerReferences', [{ ...owner, kind: 'Event' }]],
    [
      'metadata.ownerReferences',
      [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: true },
      ],
    ],
  ])('API-067 API-068 COL-235 %s of %j is refused', async (field, ownerReferences) => {
    const { status, json } = await server.post(configMaps, configMap('a', { metadata: { ownerReferences } }));
    expect([status, json.details?.causes?.[0]?.field]).toEqual([422, field]);
  });

  it('API-069 COL-235 whether an owner exists is not asked', async () => {
    const { status } = await server.post(configMaps, configMap('a', { metadata: { ownerReferences: [owner] } }));
    expect(status).toBe(201);
  });

  it.each([[['x']], [['orphan', 'foregroundDeletion']], [['example.com/x y']]])(
    'API-071 COL-233 the finalizers %j are refused',
    async (finalizers) => {
      const { status, json } = await server.post(configMaps, configMap('a', { metadata: { finalizers } }));
      expect([status, json.reason]).toEqual([422, 'Invalid']);
      expect(json.message).toContain('metadata.finalizers');
    },
  );

  it('API-074 generation starts at 1 where it is counted, and stays what the client sent elsewhere', async () => {
    const pod = await server.post('/api/v1/namespaces/default/pods', {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'p', generation: 7 },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    expect(pod.json.metadata?.generation).toBe(1);
    expect(
      (await server.post(configMaps, configMap('a', { metadata: { generation: 7 } }))).json.metadata?.generation,
    ).toBe(7);
    expect((await server.post(configMaps, configMap('b'))).json.metadata?.generation).toBeUndefined();
  });

  it('API-152 status in the body is dropped; pods and namespaces start with one', async () => {
    const pod = await server.post('/api/v1/namespaces/default/pods', {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running' },
    });
    expect(pod.json['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    const deployment = await server.post('/apis/apps/v1/namespaces/default/deployments', {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
      status: { replicas: 5 },
    });
    expect(deployment.status).toBe(201);
    expect(deployment.json['status']).toEqual({});
  });

  it('API-153 over an existing name it is 409, also when the existing one is terminating', async () => {
    await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/x'] } }));
    const again = await server.post(configMaps, configMap('a'));
    expect(again.status).toBe(409);
    expect(again.json).toMatchObject({ reason: 'AlreadyExists', message: 'configmaps "a" already exists' });
    await server.delete(`${configMaps}/a`);
    const terminating = await server.post(configMaps, configMap('a'));
    expect(terminating.status).toBe(409);
    expect(terminating.json.message).toBe('object is being deleted: configmaps "a" already exists');
  });

  it('API-154 a missing namespace is 404; one made a moment ago is there', async () => {
    const target = '/api/v1/namespaces/x/configmaps';
    const missing = await server.post(target, configMap('a'));
    expect(missing.status).toBe(404);
    expect(missing.json).toMatchObject({ reason: 'NotFound', message: 'namespaces "x" not found' });
    await server.post('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'x' } });
    expect((await server.post(target, configMap('a'))).status).toBe(201);
  });

  it('API-231 Strict names unknown and duplicate fields', async () => {
    const { status, json } = await server.request('POST', `${configMaps}?fieldValidation=Strict`, {
      body: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"dta":{},"data":{"k":"1","k":"2"}}',
    });
    expect(status).toBe(400);
    expect(json.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta", duplicate field "data.k"',
    );
  });

  it('API-230 API-232 Warn is the default: one warning each, the last duplicate wins', async () => {
    const { status, json, headers } = await server.request('POST', configMaps, {
      body: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"dta":{},"data":{"k":"1","k":"2"}}',
    });
    expect(status).toBe(201);
    expect(json['data']).toEqual({ k: '2' });
    expect(json['dta']).toBeUndefined();
    expect(headers['warning']).toEqual(['299 - "unknown field \\"dta\\""', '299 - "duplicate field \\"data.k\\""']);
    const ignored = await server.request('POST', `${configMaps}?fieldValidation=Ignore`, {
      body: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b"},"dta":{}}',
    });
    expect(ignored.headers['warning']).toBeUndefined();
  });

  describe('API-231 API-232 findings come in the order of upstream', () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const json = `{
  "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"app": "a", "app": "b"}},
  "spec": {
    "unknown1": {"x": 1, "x": 2},
    "unknownDupe": "1",
    "unknownDupe": "2",
    "paused": true,
    "paused": false,
    "selector": {"matchLabels": {"app": "b"}},
    "template": {"metadata": {"labels": {"app": "b"}}, "spec": {"containers": [
      {"name": "c", "image": "i", "unknownNested": 1, "imagePullPolicy": "Always", "imagePullPolicy": "Never"}
    ]}}
  }
}`;
    const yaml = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
spec:
  unknown1: val1
  unknownDupe: valDupe
  unknownDupe: valDupe2
  paused: true
  paused: false
  selector: {matchLabels: {app: b}}
  template:
    metadata: {labels: {app: b}}
    spec:
      containers:
      - name: c
        image: i
        unknownNested: val1
        imagePullPolicy: Always
        imagePullPolicy: Never
`;
    const ofJson = [
      'duplicate field "metadata.labels.app"',
      'unknown field "spec.unknown1"',
      'unknown field "spec.unknownDupe"',
      'duplicate field "spec.paused"',
      'unknown field "spec.template.spec.containers[0].unknownNested"',
      'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
    ];
    const lines = [
      'line 8: key "unknownDupe" already set in map',
      'line 10: key "paused" already set in map',
      'line 20: key "imagePullPolicy" already set in map',
    ];
    const unknown = [
      'unknown field "spec.template.spec.containers[0].unknownNested"',
      'unknown field "spec.unknown1"',
      'unknown field "spec.unknownDupe"',
    ];

    it.each([
      ['application/json', json, ofJson, ofJson.join(', ')],
      [
        'application/yaml',
        yaml,
        [...lines, ...unknown],
        `yaml: unmarshal errors:\n  ${lines.join('\n  ')}, ${unknown.join(', ')}`,
      ],
    ])('of %s, in a create and an update', async (contentType, body, warnings, text) => {
      const headers = { 'content-type': contentType };
      for (const [method, target] of [
        ['POST', deployments],
        ['PUT', `${deployments}/a`],
      ] as const) {
        const strict = await server.request(method, `${target}?fieldValidation=Strict`, { body, headers });
        expect([strict.status, strict.json.message]).toEqual([
          400,
          `Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ${text}`,
        ]);
        const warned = await server.request(method, target, { body, headers });
        expect(warned.status).toBe(method === 'POST' ? 201 : 200);
        expect(warned.headers['warning']).toEqual(
          warnings.map((one) => `299 - "${one.replaceAll('"', String.raw`\"`)}"`),
        );
        const ignored = await server.request(method, `${target}?fieldValidation=Ignore&dryRun=All`, { body, headers });
        expect(ignored.headers['warning']).toBeUndefined();
      }
    });
  });

  it('API-233 a wrong JSON type is 400 whatever the validation', async () => {
    const { status, json } = await server.post(`${configMaps}?fieldValidation=Ignore`, {
      ...configMap('a'),
      data: { k: 3 },
    });
    expect(status).toBe(400);
    expect(json.message).toMatch(/cannot unmarshal number into Go struct field ConfigMap\.data/);
  });

  it('API-236 API-237 a dry run stores nothing and has no resourceVersion', async () => {
    const { status, json } = await server.post(`${configMaps}?dryRun=All`, configMap('a'));
    expect(status).toBe(201);
    expect(json.metadata?.uid).toMatch(uuid);
    expect(json.metadata?.resourceVersion).toBeUndefined();
    expect((await server.get(`${configMaps}/a`)).status).toBe(404);
    await server.post(configMaps, configMap('a'));
    expect((await server.post(`${configMaps}?dryRun=All`, configMap('a'))).status).toBe(409);
  });
});
