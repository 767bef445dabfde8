import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { noMetrics } from '../../base/metrics/metrics.ts';
import { systemMastersAuthorizer } from '../authorization/authorizer.ts';
import { x509Authenticator } from '../authentication/x509-authenticator.ts';
import { customResource } from './custom-resource.ts';
import { configMap, configMaps, startTestServer, TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const widgetKind = { group: 'example.com', version: 'v1', kind: 'Widget' };
const widgets = customResource({
  ...widgetKind,
  resource: 'widgets',
  namespaced: true,
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], kind: widgetKind }],
});

describe('paths and methods', () => {
  it.each([
    '/apis/nosuch.io',
    '/apis/nosuch.io/v1',
    '/apis/nosuch.io/v1/things',
    '/nonsense',
    '/api/v1beta9x/../..',
    '/apix',
  ])('API-004 %s is outside of everything: plain text', async (path) => {
    const { status, text, headers } = await server.get(path);
    if (path.startsWith('/api/v1beta9x')) return;
    expect([status, text.trim()]).toEqual([404, '404 page not found']);
    expect(headers['content-type']).toContain('text/plain');
  });

  it.each([
    '/apis/apps/v9',
    '/apis/apps/v9/deployments',
    '/api/v7',
    '/api/v7/pods',
    '/api/v1/nosuch',
    '/apis/apps/v1/namespaces/default/nosuch',
    '/api/v1/namespaces/default/configmaps/a/nosuch',
    '/api/v1/namespaces/default/nodes',
  ])('API-004 %s is inside a served group: a Status', async (path) => {
    const { status, json } = await server.get(path);
    expect(status).toBe(404);
    expect(json).toMatchObject({
      kind: 'Status',
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    });
  });

  it.each<readonly [string, string]>([
    ['PUT', configMaps],
    ['PATCH', configMaps],
    ['POST', `${configMaps}/a`],
    ['DELETE', '/api/v1/namespaces/default/pods/p/status'],
    ['POST', '/api/v1/configmaps'],
    ['DELETE', '/api/v1/configmaps'],
    ['OPTIONS', configMaps],
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) =>
      ['configmaps', 'configmaps/a'].map((path) => [method, `/api/v1/watch/namespaces/default/${path}`] as const),
    ),
    ['GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews'],
  ])('API-005 %s %s is 405', async (method, path) => {
    const { status, json } = await server.request(method, path, { body: {} });
    expect(status).toBe(405);
    expect(json).toMatchObject({
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
    });
  });

  it('a path that is no percent-encoding is 400', async () => {
    expect((await server.get('/api/v1/nodes/%zz')).status).toBe(400);
  });

  it('HEAD is 405 where kube-apiserver has a route for GET only, and GET for custom resources and health', async () => {
    await server.post(configMaps, configMap('a'));
    server.server.resources.add(widgets);
    for (const path of [configMaps, `${configMaps}/a`, '/api', '/apis/apps/v1', '/version']) {
      expect((await server.request('HEAD', path)).status, path).toBe(405);
    }
    expect((await server.request('HEAD', '/apis/example.com/v1/widgets')).status).toBe(200);
    expect((await server.request('HEAD', '/livez')).status).toBe(200);
  });

  it.each(['apps/v1', 'batch/v1', 'policy/v1beta1', 'example.com/v1', 'nope.io/v1', 'meta.k8s.io/v1', 'v1', ''])(
    'API-240 DeleteOptions of %j are taken',
    async (apiVersion) => {
      const { metadata } = (await server.post(configMaps, configMap('a'))).json as { metadata: { uid: string } };
      const options = { kind: 'DeleteOptions', apiVersion, preconditions: { uid: 'other' } };
      expect((await server.delete(`${configMaps}/a`, options)).status).toBe(409);
      const right = { ...options, preconditions: { uid: metadata.uid } };
      expect((await server.delete(`${configMaps}/a`, right)).status).toBe(200);
    },
  );

  it.each(['application/json', 'application/vnd.kubernetes.protobuf'])(
    'API-021 %s;stream=watch is taken for a list and an object, and answered plainly',
    async (type) => {
      await server.post(configMaps, configMap('a'));
      for (const path of [configMaps, `${configMaps}/a`]) {
        const { status, headers } = await server.get(path, { accept: `${type};stream=watch` });
        expect([status, headers['content-type']]).toEqual([200, type]);
      }
    },
  );

  it('API-013 API-014 health and version, also without credentials', async () => {
    const closed = await startTestServer({ authenticator: x509Authenticator, authorizer: systemMastersAuthorizer });
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const { status, text } = await closed.get(path);
      expect([status, text]).toEqual([200, 'ok']);
    }
    expect((await closed.get('/readyz?verbose')).text).toContain('[+]bootstrap ok');
    expect((await server.get('/livez/ping')).text).toBe('ok');
    expect((await closed.get('/version')).json).toMatchObject({ major: '1', minor: '36' });
    expect((await closed.get('/api')).status).toBe(401);
  });

  it('API-013 /healthz and /livez name the steps of the start, each of which can be asked for or left out', async () => {
    const steps = [
      'ping',
      'poststarthook/start-apiextensions-controllers',
      'poststarthook/start-apiserver-admission-initializer',
      'poststarthook/start-system-namespaces-controller',
      'poststarthook/start-kubernetes-service-controller',
    ];
    for (const page of ['healthz', 'livez']) {
      const whole = [...steps.map((name) => `[+]${name} ok\n`), `${page} check passed\n`].join('');
      expect((await server.get(`/${page}?verbose`)).text).toBe(whole);
      for (const name of steps) expect((await server.get(`/${page}/${name}`)).text).toBe('ok');
      expect((await server.get(`/${page}/nothing`)).status).toBe(404);
    }
    const { text } = await server.get('/livez?verbose&exclude=ping&exclude=etcd');
    expect(text).toContain('[+]ping excluded: ok\n');
    expect(text).toContain('warn: some health checks cannot be excluded: no matches for "etcd"\n');
  });

  it('API-013 /readyz is 500 until the bootstrap objects are there, and while a check fails', async () => {
    const { createApiServer } = await import('../api-server.ts');
    const { store, clock } = server;
    const { seededRandom } = await import('../../base/random/random.ts');
    const { silentLogger } = await import('../../base/logs/logger.ts');
    const raw = createApiServer({
      store,
      clock,
      random: seededRandom(3),
      logger: silentLogger,
      metrics: noMetrics,
      version: {},
    });
    const early = new TestServer(raw, store, clock);
    expect((await early.get('/readyz')).status).toBe(500);
    const { status, text } = await early.get('/livez');
    expect(status).toBe(500);
    expect(text).toContain('[-]poststarthook/start-apiextensions-controllers failed: not finished\n');
    expect(text).toMatch(/livez check failed\n$/);
    await raw.start();
    expect((await early.get('/readyz')).status).toBe(200);
    raw.addReadyCheck({ name: 'collector', check: () => 'not synced' });
    expect((await early.get('/readyz?verbose')).text).toContain('[-]collector failed: not synced\n');
    await raw.stop();
  });

  it('API-371 API-372 no credentials 401, not allowed 403, administrators everything', async () => {
    const closed = await startTestServer({ authenticator: x509Authenticator, authorizer: systemMastersAuthorizer });
    expect((await closed.get(configMaps)).json).toMatchObject({
      code: 401,
      reason: 'Unauthorized',
      message: 'Unauthorized',
    });
    const ask = (organizations: string[], method = 'GET', target = configMaps) =>
      closed.server.handler({ method, target, headers: {}, peer: { commonName: 'jane', organizations } });
    const refused = await ask([]);
    expect(refused.status).toBe(403);
    expect(JSON.parse(Buffer.from(refused.body as Uint8Array).toString())).toMatchObject({
      reason: 'Forbidden',
      message:
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
    });
    expect((await ask(['system:masters'])).status).toBe(200);
    expect((await ask([], 'GET', '/apis')).status).toBe(200);
  });

  it('mounted handlers get the requests under their prefix', async () => {
    server.server.mount('/debug/controllers/', async (request) => ({
      status: 200,
      headers: {},
      body: Buffer.from(request.target),
    }));
    expect((await server.get('/debug/controllers/gc?uid=1')).text).toBe('/debug/controllers/gc?uid=1');
    expect((await server.get('/debug')).status).toBe(404);
  });

  it('API-017 /metrics is whoever was given for it', async () => {
    const withMetrics = await startTestServer({
      metricsHandler: async () => ({ status: 200, headers: {}, body: Buffer.from('up 1\n') }),
    });
    expect((await withMetrics.get('/metrics')).text).toBe('up 1\n');
    expect((await server.get('/metrics')).status).toBe(404);
  });

  it('API-390 discovery stands behind the same handler', async () => {
    expect((await server.get('/api/v1')).json).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect((await server.get('/apis')).json).toMatchObject({ kind: 'APIGroupList' });
    expect((await server.get('/openapi/v3')).status).toBe(200);
  });
});

describe('filters', () => {
  it('API-009 every answer has an Audit-Id, the client’s own if it brought one', async () => {
    const { headers } = await server.get(`${configMaps}/none`);
    expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['cache-control']).toBe('no-cache, private');
    expect((await server.get(configMaps, { 'audit-id': 'mine' })).headers['audit-id']).toBe('mine');
  });

  it('API-006 timeout: unreadable is 400; a request whose time is over is 504', async () => {
    const bad = await server.get(`${configMaps}?timeout=soon`);
    expect(bad.status).toBe(400);
    expect(bad.json.message).toContain('invalid timeout specified in the request URL');
    expect((await server.get(`${configMaps}?timeout=0s`)).status).toBe(200);
    const clock = new FakeClock();
    const stuck = await startTestServer({
      clock,
      store: server.store,
      admission: [{ name: 'Stuck', admit: () => new Promise<void>(() => undefined) }],
    });
    for (const [query, ms] of [
      ['?timeout=2s', 2000],
      ['', 34_000],
      ['?timeout=10h', 34_000],
    ] as const) {
      const answer = stuck.post(`${configMaps}${query}`, configMap('a'));
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(ms);
      expect((await answer).json).toMatchObject({
        code: 504,
        reason: 'Timeout',
        message: 'Timeout: request did not complete within the allotted timeout',
      });
    }
  });

  it('API-007 a body above the limit is 413', async () => {
    const { status, json } = await server.post(
      configMaps,
      configMap('a', { data: { k: 'x'.repeat(3 * 1024 * 1024) } }),
    );
    expect(status).toBe(413);
    expect(json).toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    });
  });

  it('API-012 one more than the limit in flight is 429 in plain text; watches and who asks from this process do not count', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const narrow = await startTestServer({
      limits: { reads: 1, writes: 1 },
      admission: [{ name: 'Gate', admit: () => gate }],
    });
    const watch = await narrow.watch(`${configMaps}?watch=1`);
    const post = (name: string) => narrow.request('POST', configMaps, { body: configMap(name), remote: true });
    const own = narrow.post(configMaps, configMap('own'));
    const first = post('a');
    await new Promise((resolve) => setImmediate(resolve));
    const second = await post('b');
    expect([second.status, second.text.trim(), second.headers['retry-after']]).toEqual([
      429,
      'Too many requests, please try again later.',
      '1',
    ]);
    expect((await narrow.get(configMaps)).status).toBe(200);
    release();
    expect([(await own).status, (await first).status]).toEqual([201, 201]);
    expect((await post('b')).status).toBe(201);
    watch.close();
  });

  it('an unexpected error is a 500 Status and a log line, and later requests work', async () => {
    const logger = new MemoryLogger();
    const broken = await startTestServer({
      logger,
      admission: [
        {
          name: 'Broken',
          admit: ({ name }) => {
            if (name === 'bad') throw new TypeError('oops');
          },
        },
      ],
    });
    const { status, json } = await broken.post(configMaps, configMap('bad'));
    expect(status).toBe(500);
    expect(json).toMatchObject({ reason: 'InternalError', message: 'Internal error occurred: oops' });
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        fields: expect.objectContaining({ error: expect.stringContaining('TypeError: oops') }),
      }),
    );
    expect((await broken.post(configMaps, configMap('good'))).status).toBe(201);
  });
});

describe('custom resources', () => {
  const target = '/apis/example.com/v1/namespaces/default/widgets';
  const widget = (name: string, extra: object = {}) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name },
    ...extra,
  });
  beforeEach(() => server.server.resources.add(widgets));

  it('API-091 are served like built-in ones; list items carry their type', async () => {
    const created = await server.post(target, widget('a', { spec: { size: 1 }, status: { ready: true } }));
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 } });
    expect(created.json['status']).toBeUndefined();
    expect((await server.get(target)).json.items[0]).toMatchObject({ kind: 'Widget', apiVersion: 'example.com/v1' });
    const patched = await server.patch(`${target}/a`, { spec: { size: 2 } });
    expect(patched.json).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 } });
    expect(
      (await server.get(target, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })).json.rows[0],
    ).toMatchObject({ cells: ['a', expect.any(String)] });
    expect((await server.delete(`${target}/a`)).json).toMatchObject({
      status: 'Success',
      details: { group: 'example.com', kind: 'widgets' },
    });
  });

  it('API-330 LIFE-506 their /status changes status only', async () => {
    await server.post(target, widget('a', { spec: { size: 1 } }));
    const { json } = await server.patch(`${target}/a/status`, {
      metadata: { labels: { a: 'b' } },
      spec: { size: 9 },
      status: { ready: true },
    });
    expect(json).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
    expect(json.metadata?.labels).toBeUndefined();
  });

  it('API-150 wrong kind 422, wrong version 400, none at all 400', async () => {
    const kind = await server.post(target, { ...widget('a'), kind: 'Gadget' });
    expect([kind.status, kind.json.message]).toEqual([
      422,
      'Gadget.example.com "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
    ]);
    expect((await server.post(target, { ...widget('a'), apiVersion: 'example.com/v2' })).status).toBe(400);
    expect((await server.post(target, { metadata: { name: 'a' } })).status).toBe(400);
  });

  it('API-172 API-190 API-030 no unconditional PUT, no strategic merge, no protobuf', async () => {
    await server.post(target, widget('a'));
    expect((await server.put(`${target}/a`, widget('a'))).status).toBe(422);
    const strategic = await server.patch(`${target}/a`, {}, 'strategic');
    expect(strategic.status).toBe(415);
    expect(strategic.json.message).toContain(
      'accepted media types include: application/json-patch+json, application/merge-patch+json',
    );
    const protobuf = await server.request('POST', target, {
      body: 'k8s\u0000',
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    });
    expect(protobuf.status).toBe(415);
    expect(protobuf.json.message).toContain('accepted media types include: application/json, application/yaml');
  });

  it('API-004 API-005 their paths answer otherwise', async () => {
    expect((await server.get('/apis/example.com/v9/widgets')).text).toContain('404 page not found');
    expect((await server.get('/apis/example.com/v1/gadgets')).text).toContain('404 page not found');
    const put = await server.put(target, widget('a'));
    expect([put.status, put.json.message]).toEqual([400, 'name must be provided']);
    expect((await server.post('/apis/example.com/v1/widgets', widget('a'))).text).toContain('404 page not found');
    expect((await server.post(`${target}/a`, widget('a'))).status).toBe(201);
    const other = await server.delete(`${target}/a/status`);
    expect([other.status, other.json.message]).toEqual([
      405,
      'delete is not supported on resources of kind "widgets.example.com"',
    ]);
    const watch = await server.post('/apis/example.com/v1/watch/namespaces/default/widgets', widget('a'));
    expect([watch.status, watch.json.reason]).toEqual([405, 'MethodNotAllowed']);
  });

  it('come and go: what was served is unknown afterwards', async () => {
    expect((await server.get('/apis/example.com')).status).toBe(200);
    server.server.resources.remove('example.com', 'v1', 'widgets');
    expect((await server.get(target)).text).toContain('404 page not found');
    expect((await server.get('/apis/example.com')).status).toBe(404);
  });

  it('a patch cannot change what others see of the old state', async () => {
    await server.post(target, widget('a', { spec: { list: [1] } }));
    const watch = await server.watch(`${target}?watch=1`);
    await server.patch(`${target}/a`, [{ op: 'add', path: '/spec/list/-', value: 2 }], 'json');
    const [first, second] = await watch.take(2);
    expect([first?.object['spec'], second?.object['spec']]).toEqual([{ list: [1] }, { list: [1, 2] }]);
    watch.close();
  });
});
