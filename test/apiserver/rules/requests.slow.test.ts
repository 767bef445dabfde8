import { beforeAll, describe, expect, it } from 'vitest';
import { decodeProtobuf } from '../../../src/api/codec/protobuf/protobuf.ts';
import { parseYaml } from '../../../src/api/codec/yaml/yaml.ts';
import type { AuthorizationAttributes } from '../../../src/apiserver/authorization/authorizer.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';

/** Sections 2 to 4: what goes for every request, through the handler. */

const asked: AuthorizationAttributes[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    authorizer: {
      authorize: (attributes) => {
        asked.push(attributes);
        return { allowed: true, reason: '' };
      },
    },
  });
  await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
});

const deployments = '/apis/apps/v1/namespaces/default/deployments';

describe('paths and verbs', () => {
  it.each([
    ['GET', `${configMaps}/a`, { verb: 'get', group: '', resource: 'configmaps', namespace: 'default', name: 'a' }],
    ['GET', `${configMaps}/a?watch=1`, { verb: 'get', name: 'a' }],
    ['HEAD', `${configMaps}/a`, { verb: 'get', name: 'a' }],
    ['GET', configMaps, { verb: 'list', name: '' }],
    ['GET', '/api/v1/configmaps', { verb: 'list', namespace: '' }],
    ['GET', `${configMaps}?watch=0`, { verb: 'list' }],
    ['GET', `${configMaps}?watch=1&timeoutSeconds=1`, { verb: 'watch' }],
    ['GET', `${configMaps}?fieldSelector=metadata.name%3Da`, { verb: 'list', name: 'a' }],
    ['GET', `${configMaps}?fieldSelector=metadata.name%3Da&watch=1`, { verb: 'watch', name: 'a' }],
    ['POST', `${configMaps}?dryRun=All`, { verb: 'create', name: '' }],
    ['PUT', `${configMaps}/a?dryRun=All`, { verb: 'update', name: 'a' }],
    ['PATCH', `${configMaps}/a?dryRun=All`, { verb: 'patch', name: 'a' }],
    ['DELETE', `${configMaps}/a?dryRun=All`, { verb: 'delete', name: 'a' }],
    ['DELETE', `${configMaps}?dryRun=All`, { verb: 'deletecollection', name: '' }],
    ['GET', `${deployments}/d/status`, { verb: 'get', group: 'apps', resource: 'deployments', subresource: 'status' }],
    [
      'GET',
      '/api/v1/namespaces/default',
      { verb: 'get', resource: 'namespaces', namespace: 'default', name: 'default' },
    ],
    [
      'GET',
      '/api/v1/namespaces/default/status',
      { resource: 'namespaces', subresource: 'status', namespace: 'default' },
    ],
    ['GET', '/apis/apps/v1', { isResource: false, verb: 'get', path: '/apis/apps/v1' }],
  ] as const)('API-001 API-002 %s %s is asked for as %j', async (method, target, expected) => {
    asked.length = 0;
    const controller = new AbortController();
    await server.send(method, target, { signal: controller.signal });
    controller.abort();
    expect(asked).toEqual([expect.objectContaining(expected)]);
  });

  it.each([
    ['POST', '/version'],
    ['PUT', '/api'],
    ['POST', '/apis'],
    ['DELETE', '/apis/apps'],
    ['PATCH', '/apis/apps/v1'],
    ['POST', '/openapi/v3'],
    ['POST', '/openapi/v3/api/v1'],
  ])('API-005 %s %s is 405', async (method, path) => {
    const { status, json } = await server.request(method, path);
    expect([status, json.kind, json.reason, json.message]).toEqual([
      405,
      'Status',
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    ]);
  });

  it('API-010 one header a warning, escaped', async () => {
    const { headers } = await server.post(`${configMaps}?dryRun=All`, { ...configMap('w'), 'a"b\\': 1, c: 2 });
    expect(headers['warning']).toEqual([
      String.raw`299 - "unknown field \"a\\\"b\\\\\""`,
      String.raw`299 - "unknown field \"c\""`,
    ]);
  });

  it('API-010 a HorizontalPodAutoscaler is accepted with the warning that nothing is scaled', async () => {
    const spec = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } };
    const target = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const { status, headers } = await server.post(target, { metadata: { name: 'h' }, spec });
    const text = 'kubegc runs no controller of HorizontalPodAutoscalers: the object is stored, and nothing is scaled';
    expect([status, headers['warning']]).toEqual([201, [`299 - "${text}"`]]);
  });

  it('API-014 every field of the version is text, the minor digits only', async () => {
    const { json } = await server.get('/version');
    for (const value of Object.values(json)) expect(value).toBeTypeOf('string');
    expect(json).toMatchObject({ major: '1', minor: expect.stringMatching(/^\d+$/) });
  });
});

describe('representations', () => {
  const json = 'application/json';
  const yaml = 'application/yaml';
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const decode = (type: string, bytes: Uint8Array): unknown => {
    if (type === protobuf) return decodeProtobuf(bytes);
    return type === yaml ? parseYaml(Buffer.from(bytes).toString()) : JSON.parse(Buffer.from(bytes).toString());
  };

  it.each([
    [`${configMaps}/a`, json, 'PartialObjectMetadata'],
    [`${configMaps}/a`, yaml, 'PartialObjectMetadata'],
    [`${configMaps}/a`, protobuf, 'PartialObjectMetadata'],
    [`${configMaps}/a`, json, 'Table'],
    [`${configMaps}/a`, yaml, 'Table'],
    [configMaps, json, 'PartialObjectMetadataList'],
    [configMaps, yaml, 'PartialObjectMetadataList'],
    [configMaps, protobuf, 'PartialObjectMetadataList'],
    [configMaps, json, 'Table'],
    [configMaps, yaml, 'Table'],
  ])('API-023 API-024 API-026 %s as %s;as=%s has the plain media type', async (target, type, as) => {
    for (const version of ['v1', 'v1beta1']) {
      const { status, headers, bytes } = await server.get(target, {
        accept: `${type};as=${as};g=meta.k8s.io;v=${version}`,
      });
      expect([status, headers['content-type']]).toEqual([200, type]);
      expect(decode(type, bytes)).toMatchObject({ kind: as, apiVersion: `meta.k8s.io/${version}` });
    }
  });

  it.each([
    [json, json],
    [`${json};as=Table;g=meta.k8s.io;v=v1`, json],
    [`${json};stream=watch`, json],
    [protobuf, `${protobuf};stream=watch`],
    [`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, `${protobuf};stream=watch`],
    [`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1`, `${protobuf};stream=watch`],
  ])('API-026 API-134 a watch as %s is %s', async (accept, type) => {
    const watch = await server.watch(`${configMaps}?watch=1`, { accept });
    expect([watch.response.status, watch.response.headers['content-type']]).toEqual([200, type]);
    watch.close();
  });

  it.each(['v1', 'v1beta1'])('API-024 API-523 a watch of metadata as protobuf, %s', async (version) => {
    const accept = `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`;
    const watch = await server.watch(`${configMaps}?watch=1`, { accept });
    const { body } = watch.response;
    if (body instanceof Uint8Array) throw new Error('no stream');
    const { value } = await body[Symbol.asyncIterator]().next();
    const bytes = Buffer.from(value as Uint8Array);
    expect(bytes.readUInt32BE(0)).toBe(bytes.length - 4);
    const object = bytes.subarray(bytes.indexOf('k8s\0'));
    expect(decodeProtobuf(object)).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: { name: 'a', namespace: 'default' },
    });
    watch.close();
  });

  it.each([
    [undefined, json],
    ['', json],
    ['*/*', json],
    [`${json};charset=utf-8`, json],
    [`${json};q=0.5,${yaml}`, yaml],
    [`text/html,${yaml};q=0.1,*/*;q=0.01`, yaml],
    [`${protobuf},${json}`, protobuf],
    [`${protobuf}, */*`, protobuf],
    [`${json};as=Nosuch;g=meta.k8s.io;v=v1,${json}`, json],
    [`${json};sv=1,${yaml}`, yaml],
  ])('API-020 API-021 Accept %s is answered in %s', async (accept, type) => {
    const { status, headers, bytes } = await server.get(`${configMaps}/a`, accept === undefined ? {} : { accept });
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect(decode(type, bytes)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } });
  });

  it('API-028 a body without a content type is JSON', async () => {
    const body = JSON.stringify(configMap('typeless'));
    expect((await server.request('POST', `${configMaps}?dryRun=All`, { body })).status).toBe(201);
  });
});

describe('errors', () => {
  const invalid = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } };
  it.each([
    ['404', 'GET', `${configMaps}/x`, undefined, { name: 'x', kind: 'configmaps' }],
    ['404 in a group', 'GET', `${deployments}/x`, undefined, { name: 'x', group: 'apps', kind: 'deployments' }],
    ['409', 'POST', configMaps, configMap('a'), { name: 'a', kind: 'configmaps' }],
    [
      '409 by version',
      'PUT',
      `${configMaps}/a`,
      configMap('a', { metadata: { resourceVersion: '1' } }),
      { name: 'a', kind: 'configmaps' },
    ],
    ['403', 'DELETE', '/api/v1/namespaces/default', undefined, { name: 'default', kind: 'namespaces' }],
    [
      '409 by precondition',
      'DELETE',
      `${configMaps}/a`,
      { preconditions: { uid: 'x' } },
      { name: 'a', kind: 'ConfigMap' },
    ],
    ['405', 'PUT', configMaps, {}, {}],
  ])('API-040 details of a %s', async (_what, method, target, body, details) => {
    const { json } = await server.request(method, target, body === undefined ? {} : { body });
    expect(json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: expect.any(String),
      reason: expect.any(String),
      details,
      code: expect.any(Number),
    });
  });

  it('API-040 API-042 a 422 names the kind, and each finding as a cause', async () => {
    const { json } = await server.post(deployments, invalid);
    expect(json).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { name: 'd', group: 'apps', kind: 'Deployment' },
    });
    expect(json.message).toMatch(/^Deployment\.apps "d" is invalid: \[spec\.selector: Required value, .*\]$/);
    expect(json.details?.causes).toContainEqual({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: 'spec.selector',
    });
    const other = await server.post(configMaps, configMap('x', { metadata: { labels: { a: 'b c' } } }));
    expect(other.json.details).toMatchObject({
      name: 'x',
      kind: 'ConfigMap',
      causes: [{ reason: 'FieldValueInvalid', field: 'metadata.labels' }],
    });
    expect(other.json.details).not.toHaveProperty('group');
  });

  it('API-041 seconds to wait are a header too', async () => {
    const { json, headers } = await server.get(`${configMaps}?resourceVersion=999999`);
    expect(json).toMatchObject({ code: 504, details: { retryAfterSeconds: 1 } });
    expect(headers['retry-after']).toBe('1');
  });

  it('API-043 a Status with the uid reports a deleted object', async () => {
    const made = await server.post(deployments, {
      metadata: { name: 'gone' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const { status, json } = await server.delete(`${deployments}/gone`);
    expect(status).toBe(200);
    expect(json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'gone', group: 'apps', kind: 'deployments', uid: made.json.metadata?.uid },
    });
  });
});
