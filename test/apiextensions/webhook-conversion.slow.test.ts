import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { TestServer } from '../../src/apiserver/test/test-server.ts';
import {
  type Behaviour,
  configuration,
  type Reaction,
  type ReceivedReview,
  validating,
  type WebhookServer,
  webhookTest,
} from '../admission/webhook-server.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const addresses = (version: string, namespace = 'default'): string =>
  `/apis/stable.example.com/${version}/namespaces/${namespace}/addresses`;

interface Address extends KubeObject {
  spec?: { hostPort?: string; host?: string; port?: string; note?: string };
}

/** v1 has `hostPort`, v2 has `host` and `port`. */
function convert(object: Address, desired: string): Address {
  const { hostPort = ':', host = '', port = '', note } = object.spec ?? {};
  const [splitHost, splitPort] = hostPort.split(':');
  const kept = note === undefined ? {} : { note };
  const spec = desired.endsWith('/v1')
    ? { hostPort: `${host}:${port}`, ...kept }
    : { host: splitHost ?? '', port: splitPort ?? '', ...kept };
  return { ...object, apiVersion: desired, spec };
}

function converted(review: ReceivedReview, objects: readonly KubeObject[], extra: object = {}): Reaction {
  const { uid } = review.request;
  const { apiVersion } = review;
  const response = { uid, result: { status: 'Success' }, convertedObjects: objects, ...extra };
  return { body: { kind: 'ConversionReview', apiVersion, response } };
}

const converting: Behaviour = (review) =>
  converted(
    review,
    review.request.objects.map((object) => convert(object, review.request.desiredAPIVersion)),
  );

function definition(clientConfig: object, extra: object = {}): KubeObject {
  const text = { type: 'string' };
  const version = (name: string, properties: object): object => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { note: text, ...properties } } },
      },
    },
    ...(name === 'v2' ? { selectableFields: [{ jsonPath: '.spec.host' }] } : {}),
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'addresses.stable.example.com' },
    spec: {
      group: 'stable.example.com',
      scope: 'Namespaced',
      names: { plural: 'addresses', kind: 'Address' },
      versions: [version('v1', { hostPort: text }), version('v2', { host: text, port: text })],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'], ...extra } },
    },
  };
}

const address = (version: string, name: string, spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: `stable.example.com/${version}`,
  kind: 'Address',
  metadata: { name, ...metadata },
  spec,
});

let hook: WebhookServer;
let server: TestServer;

async function define(extra: object = {}): Promise<void> {
  const { status, json } = await server.post(definitions, definition(hook.at('/convert'), extra));
  expect([status, json.message]).toEqual([201, undefined]);
  await expect.poll(async () => (await server.get(addresses('v2'))).status).toBe(200);
  hook.calls.length = 0;
}

webhookTest([], (test) => {
  ({ hook, server } = test);
});
afterEach(async () => {
  await server.delete(validating);
  await server.delete(`${definitions}/addresses.stable.example.com`);
  await expect.poll(async () => (await server.get(`${definitions}/addresses.stable.example.com`)).status).toBe(404);
});

describe('API-464 objects are shown in the version that is asked for', () => {
  it('and kept in the storage version', async () => {
    hook.behaviour = converting;
    await define();
    const first = await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    expect(first.status).toBe(201);
    expect(hook.calls).toEqual([]);
    const second = await server.post(addresses('v2'), address('v2', 'b', { host: 'h', port: '2' }));
    expect([second.status, second.json.apiVersion, second.json['spec']]).toEqual([
      201,
      'stable.example.com/v2',
      { host: 'h', port: '2' },
    ]);
    const stored = await server.store.get('/registry/stable.example.com/addresses/default/b');
    expect(JSON.parse(Buffer.from(stored.kv?.value ?? []).toString())).toMatchObject({
      apiVersion: 'stable.example.com/v1',
      spec: { hostPort: 'h:2' },
    });
    expect((await server.get(`${addresses('v1')}/b`)).json['spec']).toEqual({ hostPort: 'h:2' });
    expect((await server.get(`${addresses('v2')}/a`)).json['spec']).toEqual({ host: 'h', port: '1' });
    const [, call] = hook.calls;
    expect(call).toMatchObject({
      target: '/convert',
      review: {
        kind: 'ConversionReview',
        apiVersion: 'apiextensions.k8s.io/v1',
        request: { desiredAPIVersion: 'stable.example.com/v2' },
      },
    });
  });

  it('a list is one call, however long, and its continuation another', async () => {
    hook.behaviour = converting;
    await define();
    for (const name of ['a', 'b', 'c'])
      await server.post(addresses('v1'), address('v1', name, { hostPort: `${name}:1` }));
    const { json } = await server.get(addresses('v2'));
    expect(json.items.map((item) => [item.apiVersion, (item as Address).spec?.host])).toEqual(
      ['a', 'b', 'c'].map((name) => ['stable.example.com/v2', name]),
    );
    expect(hook.calls).toHaveLength(1);
    expect(hook.requests[0]?.objects).toHaveLength(3);
    const page = await server.get(`${addresses('v2')}?limit=2`);
    expect(page.json.items).toHaveLength(2);
    expect(hook.requests[1]?.objects).toHaveLength(2);
  });

  it('when the storage version moves, old objects are seen through it and move with their next write', async () => {
    hook.behaviour = converting;
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    const at = `${definitions}/addresses.stable.example.com`;
    const { json: current } = await server.get(at);
    const { versions } = current['spec'] as { versions: { name: string }[] };
    const moved = versions.map((version) => ({ ...version, storage: version.name === 'v2' }));
    expect((await server.patch(at, { spec: { versions: moved } })).status).toBe(200);
    hook.calls.length = 0;
    expect((await server.get(`${addresses('v2')}/a`)).json['spec']).toEqual({ host: 'h', port: '1' });
    expect((await server.get(`${addresses('v1')}/a`)).json['spec']).toEqual({ hostPort: 'h:1' });
    expect(hook.requests.map(({ desiredAPIVersion }) => desiredAPIVersion)).toEqual(['stable.example.com/v2']);
    await server.patch(`${addresses('v1')}/a`, { spec: { hostPort: 'h:2' } });
    const { kv } = await server.store.get('/registry/stable.example.com/addresses/default/a');
    expect(JSON.parse(Buffer.from(kv?.value ?? []).toString())).toMatchObject({
      apiVersion: 'stable.example.com/v2',
      spec: { host: 'h', port: '2' },
    });
  });

  it('a table has the columns of the converted objects', async () => {
    hook.behaviour = converting;
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    const { status, json } = await server.get(`${addresses('v2')}?includeObject=Object`, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    });
    expect([status, json.rows[0]?.object['spec']]).toEqual([200, { host: 'h', port: '1' }]);
  });

  it('a watch, from its first state on, through changes and the end of an object', async () => {
    hook.behaviour = converting;
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    const watch = await server.watch(`${addresses('v2')}?watch=true`);
    await server.patch(`${addresses('v1')}/a`, { spec: { hostPort: 'h:2' } });
    await server.delete(`${addresses('v1')}/a`);
    const events = await watch.take(3);
    expect(events.map(({ type, object }) => [type, object.apiVersion, object['spec']])).toEqual([
      ['ADDED', 'stable.example.com/v2', { host: 'h', port: '1' }],
      ['MODIFIED', 'stable.example.com/v2', { host: 'h', port: '2' }],
      ['DELETED', 'stable.example.com/v2', { host: 'h', port: '2' }],
    ]);
    const versions = events.map(({ object }) => Number(object.metadata?.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
    watch.close();
  });

  it('API-469 fields of the version select, in lists and watches', async () => {
    hook.behaviour = converting;
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'x:1' }));
    await server.post(addresses('v1'), address('v1', 'b', { hostPort: 'y:1' }));
    const { json } = await server.get(`${addresses('v2')}?fieldSelector=spec.host%3Dy`);
    expect(json.items.map(({ metadata }) => metadata?.name)).toEqual(['b']);
    const watch = await server.watch(`${addresses('v2')}?watch=true&fieldSelector=spec.host%3Dy`);
    await server.patch(`${addresses('v1')}/b`, { spec: { hostPort: 'z:1' } });
    await server.patch(`${addresses('v1')}/a`, { spec: { hostPort: 'y:9' } });
    expect(await watch.summary(3)).toEqual(['ADDED b', 'DELETED b', 'ADDED a']);
    watch.close();
  });
});

describe('API-464 writes through another version', () => {
  it('PUT, patch and apply change what is stored; one that changes nothing does not', async () => {
    hook.behaviour = converting;
    await define();
    const { json: created } = await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    const at = `${addresses('v2')}/a`;
    const read = (await server.get(at)).json;
    const put = await server.put(at, { ...read, spec: { host: 'h', port: '2' } });
    expect([put.status, put.json['spec']]).toEqual([200, { host: 'h', port: '2' }]);
    const same = await server.put(at, put.json);
    expect(same.json.metadata?.resourceVersion).toBe(put.json.metadata?.resourceVersion);
    await server.patch(at, { spec: { port: '3' } });
    await server.patch(at, [{ op: 'replace', path: '/spec/host', value: 'g' }], 'json');
    const applied = await server.request('PATCH', `${at}?fieldManager=me`, {
      body: JSON.stringify(address('v2', 'a', { note: 'mine' })),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect([applied.status, applied.json['spec']]).toEqual([200, { host: 'g', port: '3', note: 'mine' }]);
    const { json } = await server.get(`${addresses('v1')}/a`);
    expect(json['spec']).toEqual({ hostPort: 'g:3', note: 'mine' });
    expect(json.metadata?.uid).toBe(created.metadata?.uid);
    expect(
      json.metadata?.managedFields?.map(({ manager, operation, apiVersion }) => [manager, operation, apiVersion]),
    ).toContainEqual(['me', 'Apply', 'stable.example.com/v2']);
  });

  const apply = (version: string, manager: string, spec: object, query = '') =>
    server.request('PATCH', `${addresses(version)}/a?fieldManager=${manager}${query}`, {
      body: JSON.stringify(address(version, 'a', spec)),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  const managers = async (): Promise<[string, string, object][]> => {
    const { json } = await server.get(`${addresses('v1')}/a`);
    const entries = (json.metadata?.managedFields ?? []).toSorted((x, y) =>
      (x.manager ?? '') < (y.manager ?? '') ? -1 : 1,
    );
    return entries.map(({ manager = '', apiVersion = '', fieldsV1 }) => [
      manager,
      apiVersion.split('/')[1] ?? '',
      ((fieldsV1 as { 'f:spec'?: object })['f:spec'] ?? {}) as object,
    ]);
  };

  it('API-213 API-215 a conflict names the field in the version of its manager, whose entry keeps that version', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1', note: 'kept' });
    const conflict = await apply('v2', 'two', { port: '2' });
    expect([conflict.status, conflict.json.message, conflict.json.details?.causes]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "one": .spec.hostPort',
      [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.hostPort' }],
    ]);
    // The same value is shared; nobody loses anything.
    expect((await apply('v2', 'two', { port: '1' })).status).toBe(200);
    expect(await managers()).toEqual([
      ['one', 'v1', { 'f:hostPort': {}, 'f:note': {} }],
      ['two', 'v2', { 'f:port': {} }],
    ]);
    const back = await apply('v1', 'one', { hostPort: 'h:9', note: 'kept' });
    expect([back.status, back.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "two": .spec.port',
    ]);
    expect((await apply('v2', 'two', { port: '3' }, '&force=true')).json['spec']).toEqual({
      host: 'h',
      port: '3',
      note: 'kept',
    });
    expect(await managers()).toEqual([
      ['one', 'v1', { 'f:note': {} }],
      ['two', 'v2', { 'f:port': {} }],
    ]);
  });

  it('API-214 what is applied no more goes, in whatever version it was applied; what others have elsewhere stays', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1', note: 'mine' });
    await apply('v2', 'two', { host: 'h' });
    // `two` has the host, and so holds the whole of what v1 calls hostPort.
    const { json } = await apply('v2', 'one', {});
    expect(json['spec']).toEqual({ host: 'h', port: '1' });
    expect(await managers()).toEqual([
      ['one', 'v2', {}],
      ['two', 'v2', { 'f:host': {} }],
    ]);
  });

  it('API-214 API-215 who goes on in another version has one entry, in the new one', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1', note: 'kept' });
    const { status, json } = await apply('v2', 'one', { host: 'h', port: '2' });
    expect([status, json['spec']]).toEqual([200, { host: 'h', port: '2' }]);
    expect(await managers()).toEqual([['one', 'v2', { 'f:host': {}, 'f:port': {} }]]);
  });

  it('API-216 an update takes fields from a manager of another version', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1', note: 'old' });
    const at = `${addresses('v2')}/a?fieldManager=two`;
    await server.patch(at, { spec: { note: 'new' } });
    expect(await managers()).toEqual([
      ['one', 'v1', { 'f:hostPort': {} }],
      ['two', 'v2', { 'f:note': {} }],
    ]);
    const { json: read } = await server.get(`${addresses('v2')}/a`);
    await server.put(at, { ...read, spec: { host: 'other', port: '1', note: 'new' } });
    expect(await managers()).toEqual([['two', 'v2', { 'f:host': {}, 'f:note': {} }]]);
  });

  it('API-215 a version that is served no more can still be converted to; one that is gone stands in the way of an apply', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1' });
    const at = `${definitions}/addresses.stable.example.com`;
    const { json: current } = await server.get(at);
    const [first, second] = (current['spec'] as { versions: object[] }).versions;
    const versions = [
      { ...first, served: false, storage: false },
      { ...second, storage: true },
    ];
    expect((await server.patch(at, { spec: { versions } })).status).toBe(200);
    const refused = await apply('v2', 'two', { host: 'g' });
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "one": .spec.hostPort',
    ]);
    await server.patch(`${addresses('v2')}/a?fieldManager=three`, { spec: { note: 'n' } });
    await server.patch(`${at}/status`, { status: { storedVersions: ['v2'] } });
    expect((await server.patch(at, { spec: { versions: versions.slice(1) } })).status).toBe(200);
    const blocked = await apply('v2', 'two', { port: '1' });
    expect([blocked.status, blocked.json.reason, blocked.json.message]).toEqual([
      500,
      undefined,
      'request to convert CR to an invalid group/version: stable.example.com/v1',
    ]);
    // An update goes through, and leaves it all to whoever had it.
    const updated = await server.patch(`${addresses('v2')}/a?fieldManager=four`, { spec: { host: 'g' } });
    expect(updated.status).toBe(200);
    expect(updated.json.metadata?.managedFields?.map(({ manager }) => manager)).toEqual(['one', 'three']);
  });

  it('API-464 without an answer to what managers want to know an apply is refused, an update is not', async () => {
    hook.behaviour = converting;
    await define();
    await apply('v1', 'one', { hostPort: 'h:1' });
    await apply('v2', 'two', { note: 'n' });
    hook.behaviour = (review, call) =>
      review.request.desiredAPIVersion.endsWith('v2') ? 'reset' : converting(review, call);
    const { status, json } = await apply('v1', 'one', { hostPort: 'h:2' });
    expect([status, json.reason, json.message]).toEqual([
      500,
      undefined,
      expect.stringMatching(/^conversion webhook for stable.example.com\/v1, Kind=Address failed: /),
    ]);
    const updated = await server.patch(`${addresses('v1')}/a?fieldManager=three`, { spec: { hostPort: 'h:3' } });
    expect([updated.status, (updated.json as Address).spec?.hostPort]).toEqual([200, 'h:3']);
    expect((await managers()).map(([manager]) => manager)).toEqual(['one', 'two']);
  });

  it('a deletion answers in the version it came through', async () => {
    hook.behaviour = converting;
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }, { finalizers: ['x/y'] }));
    const { status, json } = await server.delete(`${addresses('v2')}/a`);
    expect([status, json.apiVersion, json['spec']]).toEqual([200, 'stable.example.com/v2', { host: 'h', port: '1' }]);
    await server.patch(`${addresses('v2')}/a`, { metadata: { finalizers: null } });
    expect((await server.get(`${addresses('v1')}/a`)).status).toBe(404);
  });

  it('API-355 an admission webhook gets the version its rule names', async () => {
    hook.behaviour = (review, call) =>
      review.kind === 'ConversionReview'
        ? converting(review, call)
        : {
            body: {
              kind: 'AdmissionReview',
              apiVersion: review.apiVersion,
              response: { uid: review.request.uid, allowed: true },
            },
          };
    await define();
    const rules = [
      { operations: ['*'], apiGroups: ['stable.example.com'], apiVersions: ['v1'], resources: ['addresses'] },
    ];
    await server.post(validating, configuration('Validating', 'test', { clientConfig: hook.at('/validate'), rules }));
    await server.post(addresses('v2'), address('v2', 'a', { host: 'h', port: '1' }));
    const asked = hook.requests.find(({ operation }) => operation === 'CREATE');
    expect(asked).toMatchObject({
      kind: { version: 'v1' },
      requestKind: { version: 'v2' },
      object: { apiVersion: 'stable.example.com/v1', spec: { hostPort: 'h:1' } },
    });
  });

  it('a change of labels and annotations by the webhook counts, a change of other metadata does not', async () => {
    hook.behaviour = (review) =>
      converted(
        review,
        review.request.objects.map((object) => ({
          ...convert(object, review.request.desiredAPIVersion),
          metadata: { ...object.metadata, labels: { seen: 'yes' }, generation: 77, finalizers: ['no/way'] },
        })),
      );
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }, { labels: { old: 'gone' } }));
    const { json } = await server.get(`${addresses('v2')}/a`);
    expect(json.metadata).toMatchObject({ labels: { seen: 'yes' }, generation: 1 });
    expect(json.metadata?.finalizers).toBeUndefined();
  });

  it('v1beta1 is spoken where it is listed first', async () => {
    hook.behaviour = (review, call) => {
      const { body } = converting(review, call) as { body: { response: object } };
      return { body: { ...body, response: { ...body.response, uid: 'whatever' } } };
    };
    await define({ conversionReviewVersions: ['v1beta1', 'v1'] });
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    expect((await server.get(`${addresses('v2')}/a`)).status).toBe(200);
    expect(hook.calls[0]?.review.apiVersion).toBe('apiextensions.k8s.io/v1beta1');
  });
});

describe('API-464 a webhook that does not convert', () => {
  const prefix = 'conversion webhook for stable.example.com/v1, Kind=Address ';
  const change =
    (edit: (object: KubeObject) => unknown): Behaviour =>
    (review) =>
      converted(
        review,
        review.request.objects.map((object) => edit(convert(object, review.request.desiredAPIVersion)) as KubeObject),
      );
  it.each<[string, Behaviour, string]>([
    [
      'answers no response',
      () => ({ body: { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' } }),
      'failed: no response provided',
    ],
    [
      'answers another kind',
      () => ({ body: { kind: 'X', apiVersion: 'y/v1' } }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got y/v1, Kind=X',
    ],
    [
      'answers another uid',
      (review) => converted(review, [], { uid: 'other' }),
      'failed: expected response.uid="<uid>", got "other"',
    ],
    [
      'refuses',
      (review) => converted(review, [], { result: { status: 'Failed', message: 'cannot' } }),
      'failed: cannot',
    ],
    [
      'refuses without a word',
      (review) => converted(review, [], { result: { status: 'Failed' } }),
      "failed: response.result.status was 'Failed', not 'Success'",
    ],
    ['answers too few', (review) => converted(review, []), 'returned 0 objects, expected 1'],
    [
      'answers another version',
      change((object) => ({ ...object, apiVersion: 'stable.example.com/v3' })),
      'returned invalid object at index 0: invalid groupVersion (expected stable.example.com/v2, received stable.example.com/v3)',
    ],
    [
      'answers another kind of object',
      change((object) => ({ ...object, kind: 'Street' })),
      'returned invalid object at index 0: invalid kind (expected Address, received Street)',
    ],
    [
      'renames',
      change((object) => ({ ...object, metadata: { ...object.metadata, name: 'b' } })),
      'returned invalid object: must have the same name: a != b',
    ],
    [
      'moves',
      change((object) => ({ ...object, metadata: { ...object.metadata, namespace: 'n' } })),
      'returned invalid object: must have the same namespace: default != n',
    ],
    [
      'loses the metadata',
      change(({ metadata: _metadata, ...object }) => object),
      'returned invalid metadata: missing metadata in converted object',
    ],
    [
      'makes labels that are none',
      change((object) => ({ ...object, metadata: { ...object.metadata, labels: { a: 1 } } })),
      'returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object',
    ],
    [
      'answers 500',
      () => ({ status: 500, text: 'boom' }),
      'failed: an error on the server ("boom") has prevented the request from succeeding',
    ],
    ['resets', () => 'reset', 'failed: Post "<url>": EOF'],
  ])('%s', async (_name, behaviour, why) => {
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    hook.behaviour = behaviour;
    const { status, json } = await server.get(`${addresses('v2')}/a`);
    const text = why.replace('<uid>', hook.requests[0]?.uid ?? '').replace('<url>', hook.url('/convert'));
    expect([status, json.message, json.reason]).toEqual([500, prefix + text, undefined]);
    expect((await server.get(addresses('v2'))).status).toBe(500);
    // A request that needs no conversion still succeeds.
    expect((await server.get(`${addresses('v1')}/a`)).status).toBe(200);
  });

  it('API-464 refuses metadata as well: 500 for an object, 429 for a list and for a watch that begins with one', async () => {
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    hook.behaviour = () => 'reset';
    const as = (kind: string) => ({ accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` });
    const one = as('PartialObjectMetadata');
    const watchList = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const answers = [
      await server.get(`${addresses('v2')}/a`, one),
      await server.get(addresses('v2'), as('PartialObjectMetadataList')),
      await server.get(`${addresses('v2')}?${watchList}`, one),
      await server.get(`${addresses('v2')}?watch=true&resourceVersion=0`, one),
    ];
    const busy = [429, 'storage is (re)initializing'];
    expect(answers.map(({ status }) => status)).toEqual([500, 429, 429, 429]);
    expect(answers.slice(1).map(({ status, json }) => [status, json.message])).toEqual([busy, busy, busy]);
    // In the version in which the object is stored, and again once the webhook answers.
    expect((await server.get(addresses('v1'), as('PartialObjectMetadataList'))).status).toBe(200);
    hook.behaviour = converting;
    const { status, json } = await server.get(addresses('v2'), as('PartialObjectMetadataList'));
    expect([status, json.items.map(({ metadata }) => metadata?.name)]).toEqual([200, ['a']]);
  });

  it('ends a watch with its error', async () => {
    await define();
    hook.behaviour = () => 'reset';
    const watch = await server.watch(`${addresses('v2')}?watch=true&resourceVersion=0`);
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    const event = await watch.next();
    expect([event?.type, event?.object.code]).toEqual(['ERROR', 500]);
    expect(await watch.next()).toBeUndefined();
  });

  it('does not stop the definition and its objects from being deleted', async () => {
    await define();
    await server.post(addresses('v1'), address('v1', 'a', { hostPort: 'h:1' }));
    hook.behaviour = () => 'reset';
    await server.delete(`${definitions}/addresses.stable.example.com`);
    await expect.poll(async () => (await server.get(`${definitions}/addresses.stable.example.com`)).status).toBe(404);
    expect(hook.calls).toEqual([]);
  });
});

describe('API-464 what a definition says of its webhook is judged', () => {
  const path = 'spec.conversion.';
  it.each<[object, object, string]>([
    [{}, {}, `${path}webhookClientConfig: Required value: exactly one of url or service is required`],
    [
      { url: 'http://x' },
      {},
      `${path}webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
    [{ url: 'https://x' }, { conversionReviewVersions: [] }, `${path}conversionReviewVersions: Required value`],
    [
      { url: 'https://x' },
      { conversionReviewVersions: ['v7'] },
      `${path}conversionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1`,
    ],
  ])('%j %j', async (clientConfig, extra, error) => {
    const { status, json } = await server.post(definitions, definition(clientConfig, extra));
    expect([status, json.message]).toEqual([
      422,
      `CustomResourceDefinition.apiextensions.k8s.io "addresses.stable.example.com" is invalid: ${error}`,
    ]);
  });
});
