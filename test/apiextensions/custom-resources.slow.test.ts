import { beforeEach, describe, expect, it } from 'vitest';
import { type Json, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { definition, definitions, establish, version, warningsOf, widget, widgets } from './definition-fixture.ts';
import { until } from '../program/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const object = (properties: object, rest: object = {}): object => ({ type: 'object', ...rest, properties });
const text = { type: 'string' };
const number = { type: 'integer' };

/** A definition of widgets with this under `spec`. */
const withSpec = (properties: object, extra: object = {}, rest: object = {}): Promise<Json> =>
  establish(
    server,
    definition({
      versions: [
        version({
          schema: object({
            spec: object(properties, rest),
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          }),
          extra,
        }),
      ],
    }),
  );

const strictTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('reading and writing', () => {
  it('API-459 what was created is read, listed and watched with its fields in their order', async () => {
    await withSpec({ z: number, a: text, list: { type: 'array', items: { type: 'number' } } });
    const watch = await server.watch(`${widgets}?watch=true`);
    const created = await server.post(widgets, widget('a', { spec: { z: 1, a: 'x', list: [1, 1.5, -3] } }));
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: expect.objectContaining({ name: 'a', namespace: 'default', generation: 1, uid: expect.any(String) }),
      spec: { z: 1, a: 'x', list: [1, 1.5, -3] },
    });
    expect(created.text).toContain('"spec":{"z":1,"a":"x","list":[1,1.5,-3]}');
    expect((await server.get(`${widgets}/a`)).json).toEqual(created.json);
    const { json } = await server.get(widgets);
    expect(json).toMatchObject({ kind: 'WidgetList', apiVersion: 'example.com/v1' });
    expect(json.items).toEqual([created.json]);
    expect(await watch.next()).toEqual({ type: 'ADDED', object: created.json });
    watch.close();
  });

  it('API-455 a watch from the version of an object that is gone begins with its deletion', async () => {
    await withSpec({});
    const { json } = await server.post(widgets, widget('setup-instance'));
    await server.delete(`${widgets}/setup-instance`);
    const watch = await server.watch(`${widgets}?watch=true&resourceVersion=${json.metadata?.resourceVersion}`);
    expect(await watch.summary(1)).toEqual(['DELETED setup-instance']);
    watch.close();
  });

  it('API-468 PUT needs a resourceVersion and creates nothing', async () => {
    await withSpec({ a: text });
    expect(
      (await server.put(`${widgets}/a`, { ...widget('a'), metadata: { name: 'a', resourceVersion: '1' } })).status,
    ).toBe(404);
    const { json } = await server.post(widgets, widget('a', { spec: { a: 'x' } }));
    const blind = await server.put(`${widgets}/a`, widget('a', { spec: { a: 'y' } }));
    expect([blind.status, blind.json.message]).toEqual([
      422,
      'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    expect((await server.put(`${widgets}/a`, { ...json, spec: { a: 'y' } })).json['spec']).toEqual({ a: 'y' });
    expect((await server.put(`${widgets}/a`, { ...json, spec: { a: 'z' } })).status).toBe(409);
  });

  it('API-468 API-190 all patches but the strategic one', async () => {
    await withSpec({ a: text, list: { type: 'array', items: text } });
    await server.post(widgets, widget('a', { spec: { a: 'x', list: ['1'] } }));
    expect((await server.patch(`${widgets}/a`, { spec: { a: null } })).json['spec']).toEqual({ list: ['1'] });
    const patch = [{ op: 'add', path: '/spec/list/-', value: '2' }];
    expect((await server.patch(`${widgets}/a`, patch, 'json')).json['spec']).toEqual({ list: ['1', '2'] });
    const strategic = await server.patch(`${widgets}/a`, {}, 'strategic');
    expect([strategic.status, strategic.json.reason]).toEqual([415, 'UnsupportedMediaType']);
    expect(strategic.json.message).toMatch(
      /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
    );
  });

  it('API-077 a write that changes nothing is none', async () => {
    await withSpec({ a: { type: 'string', default: 'd' } });
    const { json } = await server.post(widgets, widget('a', { spec: {} }));
    expect((await server.patch(`${widgets}/a`, { spec: { a: 'd', unknown: 1 } })).json).toEqual(json);
    expect((await server.put(`${widgets}/a`, { ...json, spec: { unknown: 1 } })).json).toEqual(json);
  });

  it('API-073 nobody sets a deletionTimestamp by writing it; a write of status keeps metadata', async () => {
    await withSpec({}, { subresources: { status: {} } });
    const { json: created } = await server.post(widgets, widget('a'));
    const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z' };
    const refused = await server.patch(`${widgets}/a`, { metadata });
    expect([refused.status, refused.json.message]).toEqual([
      422,
      'Widget.example.com "a" is invalid: metadata.deletionTimestamp: Invalid value: "2030-01-01T00:00:00Z": field is immutable',
    ]);
    expect((await server.put(`${widgets}/a`, widget('a', { metadata }))).status).toBe(422);
    const status = await server.patch(`${widgets}/a/status`, { metadata, status: { ready: true } });
    expect([status.status, status.json['status']]).toEqual([200, { ready: true }]);
    expect(status.json.metadata).not.toHaveProperty('deletionTimestamp');
    expect((await server.get(`${widgets}/a`)).json.metadata?.uid).toBe(created.metadata?.uid);
  });

  it('API-474 owners, finalizers and deletion are those of any object', async () => {
    await withSpec({});
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', blockOwnerDeletion: true }];
    await server.post(widgets, widget('a', { metadata: { ownerReferences, finalizers: ['example.com/x'] } }));
    const deleted = await server.request('DELETE', `${widgets}/a?propagationPolicy=Foreground`);
    expect(deleted.json.metadata).toMatchObject({
      finalizers: ['example.com/x', 'foregroundDeletion'],
      deletionTimestamp: expect.any(String),
      ownerReferences,
    });
    const added = await server.patch(`${widgets}/a`, { metadata: { finalizers: ['example.com/x', 'example.com/y'] } });
    expect(added.json.message).toContain(
      'Widget.example.com "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added',
    );
    expect((await server.patch(`${widgets}/a`, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await server.get(`${widgets}/a`)).json.message).toBe('widgets.example.com "a" not found');
    await server.post(widgets, widget('b'));
    expect((await server.delete(`${widgets}/b`)).json).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { group: 'example.com', kind: 'widgets' },
    });
    await server.post(widgets, widget('c'));
    await server.post(widgets, widget('d', { metadata: { labels: { keep: 'me' } } }));
    await server.delete(`${widgets}?labelSelector=!keep`);
    expect((await server.get(widgets)).json.items.map(({ metadata }) => metadata?.name)).toEqual(['d']);
  });

  it('API-071 finalizers may be called anything; what is odd is remarked on', async () => {
    await withSpec({});
    const { status, headers } = await server.post(
      widgets,
      widget('a', { metadata: { finalizers: ['mine', 'my.own', 'a/b'] } }),
    );
    expect(status).toBe(201);
    expect(warningsOf(headers)).toEqual([
      'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "my.own": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ]);
    expect(warningsOf((await server.patch(`${widgets}/a`, { metadata: { labels: { a: 'b' } } })).headers)).toEqual([]);
  });

  it('API-150 of the right kind and version only', async () => {
    await withSpec({});
    const wrongVersion = await server.post(widgets, { ...widget('a'), apiVersion: 'example.com/v2' });
    expect([wrongVersion.status, wrongVersion.json.message]).toEqual([
      400,
      'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    ]);
    expect((await server.post(widgets, { ...widget('a'), kind: 'Other' })).status).toBe(422);
  });

  it('cluster-scoped ones live outside of namespaces', async () => {
    await establish(server, definition({ scope: 'Cluster' }));
    expect((await server.post('/apis/example.com/v1/widgets', widget('a'))).json.metadata?.namespace).toBeUndefined();
    expect((await server.post(widgets, widget('a'))).status).toBe(404);
  });
});

describe('the schema', () => {
  const bars = {
    size: { type: 'integer', minimum: 1, default: 3 },
    feeling: { type: 'string', enum: ['Great', 'Down'] },
    ports: {
      type: 'array',
      items: object({ port: number, name: text }, { required: ['port'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
    },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    maybe: { type: 'string', nullable: true },
  };
  beforeEach(() => withSpec(bars));

  it('API-461 API-462 prunes and defaults', async () => {
    const spec = {
      unknown: 1,
      free: { a: { b: 1 } },
      ports: [{ port: 1, x: 2 }],
      feeling: null,
      maybe: null,
      size: null,
    };
    const { json } = await server.post(widgets, widget('a', { spec, other: {} }));
    expect(json['spec']).toEqual({ free: { a: { b: 1 } }, ports: [{ port: 1 }], maybe: null, size: 3 });
    expect(json['other']).toBeUndefined();
  });

  it('API-234 unknown fields are reported, by default as warnings', async () => {
    const body = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","labls":{}},"spec":{"x":1,"size":1,"size":2,"template":{"apiVersion":"v1","kind":"K","metadata":{"nam":"n"}}}}`;
    const headers = { 'content-type': 'application/json' };
    const words = [
      'duplicate field "spec.size"',
      'unknown field "metadata.labls"',
      'unknown field "spec.x"',
      'unknown field "spec.template.metadata.nam"',
    ];
    const strict = await server.request('POST', `${widgets}?fieldValidation=Strict`, { body, headers });
    expect(strict.status).toBe(400);
    expect(strict.json.message).toBe(
      `Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${words.join(', ')}`,
    );
    const warned = await server.request('POST', widgets, { body, headers });
    expect([warned.status, warningsOf(warned.headers)]).toEqual([201, words]);
    expect(warned.json['spec']).toEqual({ size: 2, template: { apiVersion: 'v1', kind: 'K', metadata: {} } });
    const patched = await server.request('PATCH', `${widgets}/a?fieldValidation=Strict`, {
      body: '{"spec":{"y":1}}',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect([patched.status, patched.json.message]).toEqual([
      422,
      expect.stringContaining('strict decoding error: unknown field "spec.y"'),
    ]);
  });

  it('API-231 API-234 duplicate keys of YAML are reported first, by their lines', async () => {
    const body = `apiVersion: example.com/v1
kind: Widget
metadata:
  name: a
spec:
  x: 1
  x: 2
  size: 1
  size: 2
  b: {}
`;
    const headers = { 'content-type': 'application/yaml' };
    const lines = ['line 7: key "x" already set in map', 'line 9: key "size" already set in map'];
    const unknown = ['unknown field "spec.b"', 'unknown field "spec.x"'];
    const strict = await server.request('POST', `${widgets}?fieldValidation=Strict`, { body, headers });
    expect([strict.status, strict.json.message]).toEqual([
      400,
      `Widget in version "v1" cannot be handled as a Widget: strict decoding error: yaml: unmarshal errors:\n  ${lines.join('\n  ')}, ${unknown.join(', ')}`,
    ]);
    const warned = await server.request('POST', widgets, { body, headers });
    expect([warned.status, warningsOf(warned.headers)]).toEqual([201, [...lines, ...unknown]]);
  });

  it('API-460 API-472 is obeyed, in the words of Kubernetes', async () => {
    const spec = {
      size: 0,
      feeling: 'bad',
      ports: [{ port: 1 }, { port: 1 }, { name: 'x' }],
      tags: ['a', 'a'],
      template: { kind: '' },
    };
    const { status, json } = await server.post(widgets, widget('a', { spec }));
    expect(status).toBe(422);
    expect(json).toMatchObject({ reason: 'Invalid', details: { name: 'a', group: 'example.com', kind: 'Widget' } });
    expect(json.details?.causes?.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      'spec.feeling: Unsupported value: "bad": supported values: "Great", "Down"',
      'spec.ports[2].port: Required value',
      'spec.template.apiVersion: Required value',
      'spec.template.kind: Invalid value: "": must not be empty',
      'spec.ports[1]: Duplicate value: {"port":1}',
      'spec.tags[1]: Duplicate value: "a"',
    ]);
    expect(json.message).toMatch(/^Widget\.example\.com "a" is invalid: \[spec\.size: Invalid value: 0: /);
    const types = await server.post(widgets, widget('a', { spec: { feeling: 1 } }));
    expect(types.json.details?.causes?.[0]).toEqual({
      reason: 'FieldValueTypeInvalid',
      field: 'spec.feeling',
      message: 'Invalid value: "integer": spec.feeling in body must be of type string: "integer"',
    });
  });

  it('API-460 metadata is checked as everywhere', async () => {
    const { json } = await server.post(widgets, widget('A_b'));
    expect(json.message).toMatch(
      /^Widget\.example\.com "A_b" is invalid: metadata\.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain/,
    );
    const wrong = await server.post(widgets, { ...widget('a'), metadata: { name: 'a', labels: [] } });
    expect([wrong.status, wrong.json.message]).toEqual([
      400,
      expect.stringContaining('cannot unmarshal array into Go struct field'),
    ]);
  });

  it('API-236 a dry run is judged alike and stores nothing', async () => {
    expect((await server.post(`${widgets}?dryRun=All`, widget('a', { spec: {} }))).json['spec']).toEqual({ size: 3 });
    expect((await server.post(`${widgets}?dryRun=All`, widget('a', { spec: { size: 0 } }))).status).toBe(422);
    expect((await server.get(widgets)).json.items).toEqual([]);
  });

  it('API-470 what was there before a stricter schema may stay, what changes must obey it', async () => {
    await server.post(widgets, widget('a', { spec: { size: 1, feeling: 'Down' } }));
    const { json: found } = await server.get(`${definitions}/widgets.example.com`);
    const schema = object({
      spec: object({ ...bars, size: { ...bars.size, minimum: 2 }, feeling: { type: 'string', enum: ['Great'] } }),
    });
    await server.put(`${definitions}/widgets.example.com`, {
      ...found,
      spec: { ...(found['spec'] as object), versions: [version({ schema })] },
    });
    expect((await server.patch(`${widgets}/a`, { spec: { maybe: 'x' } })).status).toBe(200);
    const worse = await server.patch(`${widgets}/a`, { spec: { size: 0 } });
    expect(worse.json.message).toBe(
      'Widget.example.com "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 2',
    );
    expect((await server.patch(`${widgets}/a`, { spec: { size: 2, feeling: 'Great' } })).status).toBe(200);
    expect((await server.post(widgets, widget('b', { spec: { feeling: 'Down' } }))).status).toBe(422);
  });

  it('API-461 API-462 a new schema shows what was stored in its own light, and ends watches that saw the old one', async () => {
    await server.post(widgets, widget('a', { spec: { free: { a: 1 }, maybe: 'x' } }));
    const watch = await server.watch(`${widgets}?watch=true`);
    await watch.next();
    const { json: found } = await server.get(`${definitions}/widgets.example.com`);
    const schema = object({ spec: object({ size: number, colour: { type: 'string', default: 'red' } }) });
    await server.put(`${definitions}/widgets.example.com`, {
      ...found,
      spec: { ...(found['spec'] as object), versions: [version({ schema })] },
    });
    expect(await watch.next()).toBeUndefined();
    const wanted = { size: 3, colour: 'red' };
    expect((await server.get(`${widgets}/a`)).json['spec']).toEqual(wanted);
    expect((await server.get(widgets)).json.items[0]?.['spec']).toEqual(wanted);
    const again = await server.watch(`${widgets}?watch=true`);
    expect((await again.next())?.object['spec']).toEqual(wanted);
    await server.patch(`${widgets}/a`, { metadata: { labels: { seen: 'yes' } } });
    expect((await again.next())?.object['spec']).toEqual(wanted);
    const { kv } = await server.store.get('/registry/example.com/widgets/default/a');
    expect(JSON.parse(Buffer.from(kv?.value ?? []).toString())).toMatchObject({ spec: wanted });
    await server.patch(`${widgets}/a`, { spec: { size: 4 } });
    expect((await again.next())?.object['spec']).toEqual({ size: 4, colour: 'red' });
    again.close();
  });
});

describe('subresources', () => {
  const scale = {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.size',
    labelSelectorPath: '.status.selector',
  };

  it('API-465 status is written apart, and writes nothing else', async () => {
    const status = object({ phase: { type: 'string', enum: ['Up'] } });
    await establish(
      server,
      definition({
        versions: [
          version({ schema: object({ spec: object({ a: number }), status }), extra: { subresources: { status: {} } } }),
        ],
      }),
    );
    const { json } = await server.post(widgets, widget('a', { spec: { a: 1 }, status: { phase: 'Up' } }));
    expect(json['status']).toBeUndefined();
    const changed = await server.put(`${widgets}/a/status`, {
      ...json,
      metadata: { ...json.metadata, labels: { a: 'b' } },
      spec: { a: 2 },
      status: { phase: 'Up' },
    });
    expect(changed.json).toMatchObject({ spec: { a: 1 }, status: { phase: 'Up' }, metadata: { generation: 1 } });
    expect(changed.json.metadata?.labels).toBeUndefined();
    expect((await server.patch(`${widgets}/a`, { spec: { a: 3 }, status: { phase: 'Down' } })).json).toMatchObject({
      spec: { a: 3 },
      status: { phase: 'Up' },
    });
    const wrong = await server.patch(`${widgets}/a/status`, { status: { phase: 'Down' } });
    expect(wrong.json.message).toBe(
      'Widget.example.com "a" is invalid: status.phase: Unsupported value: "Down": supported values: "Up"',
    );
    expect((await server.get(`${widgets}/a/status`)).json).toMatchObject({ status: { phase: 'Up' } });
    expect((await server.get(`${widgets}/a/scale`)).status).toBe(404);
  });

  it('API-465 without it, status is a field like others and its path is 404', async () => {
    await withSpec({});
    expect((await server.post(widgets, widget('a', { status: { b: 1 } }))).json['status']).toEqual({ b: 1 });
    expect((await server.get(`${widgets}/a/status`)).status).toBe(404);
  });

  it.each([
    ['with status', { status: {} }, [1, 2, 2, 2]],
    ['without', undefined, [1, 2, 3, 3]],
  ])('API-466 generation %s', async (_what, subresources, wanted) => {
    await withSpec({ a: number }, subresources === undefined ? {} : { subresources });
    const generations = [
      (await server.post(widgets, widget('a', { metadata: { generation: 7 } }))).json.metadata?.generation,
    ];
    for (const patch of [{ spec: { a: 1 } }, { status: { b: 1 } }, { metadata: { labels: { a: 'b' } } }]) {
      generations.push((await server.patch(`${widgets}/a`, patch)).json.metadata?.generation);
    }
    expect(generations).toEqual(wanted);
  });

  it('API-467 scale', async () => {
    await withSpec({ size: { type: 'integer' } }, { subresources: { status: {}, scale } });
    const { json } = await server.post(widgets, widget('a', { spec: {} }));
    const missing = await server.get(`${widgets}/a/scale`);
    expect([missing.status, missing.json.message]).toEqual([
      500,
      'Internal error occurred: the spec replicas field ".spec.size" does not exist',
    ]);
    const empty = await server.patch(`${widgets}/a/scale`, { metadata: { labels: { a: 'b' } } });
    expect([empty.status, empty.json.message]).toEqual([400, 'the spec replicas field ".spec.size" cannot be empty']);
    const scaled = await server.patch(`${widgets}/a/scale`, { spec: { replicas: 4 } });
    expect(scaled.json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', uid: json.metadata?.uid },
      spec: { replicas: 4 },
      status: { replicas: 0 },
    });
    await server.patch(`${widgets}/a/status`, { status: { size: 2, selector: 'a=b' } });
    const { json: current } = await server.get(`${widgets}/a/scale`);
    expect(current).toMatchObject({ spec: { replicas: 4 }, status: { replicas: 2, selector: 'a=b' } });
    expect((await server.put(`${widgets}/a/scale`, { ...current, spec: { replicas: 5 } })).json).toMatchObject({
      spec: { replicas: 5 },
    });
    expect((await server.put(`${widgets}/a/scale`, { ...current, spec: { replicas: 6 } })).status).toBe(409);
    expect((await server.get(`${widgets}/a`)).json).toMatchObject({ spec: { size: 5 }, metadata: { generation: 3 } });
    const table = await server.get(`${widgets}/a/scale`, { accept: strictTable });
    expect(
      (table.json as unknown as { columnDefinitions: { name: string }[] }).columnDefinitions.map(({ name }) => name),
    ).toEqual(['Name', 'Desired', 'Available', 'Age']);
    const odd = await server.patch(`${widgets}/a`, { spec: { size: -1 } });
    expect(odd.json.message).toBe(
      'Widget.example.com "a" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer',
    );
  });

  it('API-467 API-210 an apply to the scale of what has no number yet sets it, and has it from then on', async () => {
    await withSpec({ size: { type: 'integer' }, a: text }, { subresources: { status: {}, scale } });
    const apply = (at: string, manager: string, body: object) =>
      server.request('PATCH', `${widgets}/${at}?fieldManager=${manager}`, {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    const scaleTo = (spec: object): object => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a' },
      spec,
    });
    const owners = async (): Promise<unknown[]> =>
      ((await server.get(`${widgets}/a`)).json.metadata?.managedFields ?? []).map(
        ({ manager, apiVersion, subresource, fieldsV1 }) => [manager, apiVersion, subresource, fieldsV1?.['f:spec']],
      );
    await apply('a', 'main', widget('a', { spec: { a: 'x' } }));
    const nothing = await apply('a/scale', 'scaler', scaleTo({}));
    expect([nothing.status, nothing.json.message]).toEqual([
      400,
      'the spec replicas field ".spec.size" cannot be empty',
    ]);
    const { status, json } = await apply('a/scale', 'scaler', scaleTo({ replicas: 3 }));
    expect([status, json['spec']]).toEqual([200, { replicas: 3 }]);
    expect(await owners()).toEqual([
      ['scaler', 'example.com/v1', 'scale', { 'f:size': {} }],
      ['main', 'example.com/v1', undefined, { 'f:a': {} }],
    ]);
    for (const manager of ['main', 'scaler']) {
      const refused = await apply('a', manager, widget('a', { spec: { a: 'x', size: 4 } }));
      expect([refused.status, refused.json.message]).toEqual([
        409,
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.size',
      ]);
    }
    // The same number is shared with whoever applies it to the object, and stays when one of the two goes.
    expect((await apply('a', 'main', widget('a', { spec: { a: 'x', size: 3 } }))).status).toBe(200);
    expect((await apply('a/scale', 'scaler', scaleTo({}))).json['spec']).toEqual({ replicas: 3 });
    expect(await owners()).toEqual([['main', 'example.com/v1', undefined, { 'f:a': {}, 'f:size': {} }]]);
  });
});

describe('versions', () => {
  const v1 = version({ schema: object({ spec: object({ a: text, old: text }) }) });
  const v2 = version({
    name: 'v2',
    storage: false,
    schema: object({ spec: object({ a: text, fresh: { type: 'string', default: 'd' } }) }),
  });
  const widgets2 = widgets.replace('v1', 'v2');

  const stored = async (name: string): Promise<unknown> => {
    const { kv } = await server.store.get(`/registry/example.com/widgets/default/${name}`);
    return JSON.parse(Buffer.from(kv?.value ?? []).toString());
  };

  it('API-463 all show the same objects, each in its own light', async () => {
    await establish(server, definition({ versions: [v1, v2, version({ name: 'v3', served: false, storage: false })] }));
    await server.post(widgets, widget('a', { spec: { a: 'x', old: 'y' } }));
    const second = { ...widget('b', { spec: { a: 'z', fresh: 'f' } }), apiVersion: 'example.com/v2' };
    expect((await server.post(widgets2, second)).json).toMatchObject({ apiVersion: 'example.com/v2' });
    const shown = async (path: string): Promise<unknown[]> =>
      (await server.get(path)).json.items.map(({ apiVersion, spec }) => [apiVersion, spec]);
    expect(await shown(widgets)).toEqual([
      ['example.com/v1', { a: 'x', old: 'y' }],
      ['example.com/v1', { a: 'z' }],
    ]);
    expect(await shown(widgets2)).toEqual([
      ['example.com/v2', { a: 'x', fresh: 'd' }],
      ['example.com/v2', { a: 'z', fresh: 'd' }],
    ]);
    expect((await server.get(widgets.replace('v1', 'v3'))).status).toBe(404);
    const watch = await server.watch(`${widgets2}?watch=true`);
    expect((await watch.take(2)).map(({ object: { apiVersion } }) => apiVersion)).toEqual([
      'example.com/v2',
      'example.com/v2',
    ]);
    await server.patch(`${widgets}/a`, { spec: { a: 'w' } });
    expect((await watch.next())?.object).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 'w' } });
    watch.close();
    const patched = await server.patch(`${widgets2}/a`, { spec: { a: 'v' } });
    expect(patched.json).toMatchObject({
      apiVersion: 'example.com/v2',
      metadata: { generation: 3 },
      spec: { a: 'v', fresh: 'd' },
    });
  });

  it('API-463 objects stay readable when another version becomes that of storage', async () => {
    await establish(server, definition({ versions: [v1, v2] }));
    await server.post(widgets, widget('a', { spec: { a: 'x', old: 'y' } }));
    const { json } = await server.get(`${definitions}/widgets.example.com`);
    const versions = [
      { ...v1, storage: false },
      { ...v2, storage: true },
    ];
    await server.put(`${definitions}/widgets.example.com`, {
      ...json,
      spec: { ...(json['spec'] as object), versions },
    });
    expect((await server.get(`${widgets}/a`)).json['spec']).toEqual({ a: 'x', old: 'y' });
    expect((await server.get(`${widgets2}/a`)).json['spec']).toEqual({ a: 'x', fresh: 'd' });
    await server.patch(`${widgets}/a`, { metadata: { labels: { touched: 'yes' } } });
    expect((await server.get(`${widgets}/a`)).json['spec']).toEqual({ a: 'x' });
  });

  it.each(['PATCH', 'PUT'])(
    'API-473 API-077 when the storage version moves, a %s that changes nothing else moves an object, once',
    async (method) => {
      const [first, second] = [version({ name: 'v1' }), version({ name: 'v2', storage: false })];
      await establish(server, definition({ versions: [first, second] }));
      await server.post(widgets, widget('a', { spec: { a: 'x' } }));
      const versions = [
        { ...first, storage: false },
        { ...second, storage: true },
      ];
      await server.patch(`${definitions}/widgets.example.com`, { spec: { versions } });
      const write = async (): Promise<Json> =>
        (method === 'PUT'
          ? await server.put(`${widgets}/a`, (await server.get(`${widgets}/a`)).json)
          : await server.patch(`${widgets}/a`, {})
        ).json;
      const { json: before } = await server.get(`${widgets}/a`);
      const moved = await write();
      expect(moved).toMatchObject({ apiVersion: 'example.com/v1', metadata: { generation: 1 }, spec: { a: 'x' } });
      expect(moved.metadata?.resourceVersion).not.toBe(before.metadata?.resourceVersion);
      expect(await stored('a')).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 'x' } });
      expect(await write()).toEqual(moved);
    },
  );

  it('API-461 API-077 what another schema makes of an object is written, even where it is as long as before', async () => {
    await withSpec({ old: text });
    await server.post(widgets, widget('a', { spec: { old: 'x' } }));
    const versions = [version({ schema: object({ spec: object({ new: { type: 'string', default: 'd' } }) }) })];
    await server.patch(`${definitions}/widgets.example.com`, { spec: { versions } });
    expect((await server.get(`${widgets}/a`)).json['spec']).toEqual({ new: 'd' });
    expect((await server.patch(`${widgets}/a`, {})).status).toBe(200);
    expect(await stored('a')).toMatchObject({ spec: { new: 'd' } });
  });

  it('API-215 API-223 without a webhook an apply ends where a manager writes in a version that lacks a field', async () => {
    await establish(server, definition({ versions: [v1, v2] }));
    const apply = (at: string, manager: string, spec: object) =>
      server.request('PATCH', `${at}/a?fieldManager=${manager}`, {
        body: JSON.stringify({ ...widget('a', { spec }), apiVersion: `example.com/${at === widgets ? 'v1' : 'v2'}` }),
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    expect((await apply(widgets, 'one', { a: 'x' })).status).toBe(201);
    const { status, json } = await apply(widgets2, 'two', { a: 'x' });
    expect([status, json.reason, json.message]).toEqual([500, undefined, '.spec.fresh: field not declared in schema']);
    // Where both know all fields, each goes by its own names.
    const conflict = await apply(widgets, 'three', { a: 'y' });
    expect([conflict.status, conflict.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "one": .spec.a',
    ]);
    const patched = await server.patch(`${widgets2}/a?fieldManager=two`, { spec: { a: 'z' } });
    expect(patched.json.metadata?.managedFields?.map(({ manager }) => manager)).toEqual(['one']);
  });

  it('API-222 who had a part of a list that is atomic by now has all of it', async () => {
    const listOf = (listType: object): object =>
      version({
        schema: object({
          spec: object({
            a: text,
            list: { type: 'array', items: object({ name: text, v: text }, { required: ['name'] }), ...listType },
          }),
        }),
      });
    const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
    await establish(server, definition({ versions: [listOf(map)] }));
    const apply = (manager: string, list: object[], force = false) =>
      server.request('PATCH', `${widgets}/a?fieldManager=${manager}&force=${force}`, {
        body: JSON.stringify(widget('a', { spec: { list } })),
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    await apply('one', [{ name: 'x', v: '1' }]);
    await apply('two', [{ name: 'y', v: '1' }]);
    const { json } = await server.get(`${definitions}/widgets.example.com`);
    const versions = [listOf({ 'x-kubernetes-list-type': 'atomic' })];
    await server.put(`${definitions}/widgets.example.com`, {
      ...json,
      spec: { ...(json['spec'] as object), versions },
    });
    const refused = await apply('one', [{ name: 'x', v: '1' }]);
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "two": .spec.list',
    ]);
    const owners = (answer: typeof refused): unknown[] =>
      (answer.json.metadata?.managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1?.['f:spec']]);
    expect(owners(await server.patch(`${widgets}/a?fieldManager=three`, { spec: { a: 'x' } }))).toEqual([
      ['one', { 'f:list': {} }],
      ['two', { 'f:list': {} }],
      ['three', { 'f:a': {} }],
    ]);
    const forced = await apply('one', [{ name: 'x', v: '1' }], true);
    expect([forced.json['spec'], owners(forced)]).toEqual([
      { a: 'x', list: [{ name: 'x', v: '1' }] },
      [
        ['one', { 'f:list': {} }],
        ['three', { 'f:a': {} }],
      ],
    ]);
  });

  it('a deprecated version says so with each answer', async () => {
    const old = { ...v1, deprecated: true };
    await establish(
      server,
      definition({
        versions: [
          old,
          v2,
          { ...version({ name: 'v1beta1', storage: false }), deprecated: true, deprecationWarning: 'gone soon' },
        ],
      }),
    );
    expect(warningsOf((await server.get(widgets)).headers)).toEqual([
      'example.com/v1 Widget is deprecated; use example.com/v2 Widget',
    ]);
    expect(warningsOf((await server.get(widgets2)).headers)).toEqual([]);
    expect(warningsOf((await server.get(widgets.replace('v1', 'v1beta1'))).headers)).toEqual(['gone soon']);
  });
});

describe('selecting and showing', () => {
  it('API-469 by the fields of the version', async () => {
    const schema = object({ spec: object({ colour: text, on: { type: 'boolean' }, size: number }) });
    const selectableFields = [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.on' }];
    await establish(server, definition({ versions: [version({ schema, extra: { selectableFields } })] }));
    const select = async (selector: string): Promise<unknown> => {
      const { status, json } = await server.get(`${widgets}?fieldSelector=${encodeURIComponent(selector)}`);
      return status === 200 ? json.items.map(({ metadata }) => metadata?.name) : json.message;
    };
    await server.post(widgets, widget('red', { spec: { colour: 'red', on: true } }));
    await server.post(widgets, widget('blue', { spec: { colour: 'blue', size: 1 } }));
    expect(await select('spec.colour=red')).toEqual(['red']);
    expect(await select('spec.colour!=red,metadata.namespace=default')).toEqual(['blue']);
    expect(await select('spec.on=')).toEqual(['blue']);
    expect(await select('spec.size=1')).toBe('field label not supported: spec.size');
    const watch = await server.watch(`${widgets}?watch=true&fieldSelector=spec.colour%3Dgreen`);
    await server.patch(`${widgets}/blue`, { spec: { colour: 'green' } });
    await server.patch(`${widgets}/blue`, { spec: { colour: 'grey' } });
    expect(await watch.summary(2)).toEqual(['ADDED blue', 'DELETED blue']);
    watch.close();
    await server.delete(`${widgets}?fieldSelector=spec.colour%3Dred`);
    expect((await server.get(widgets)).json.items).toHaveLength(1);
  });

  interface Table extends Json {
    columnDefinitions: { name: string; type: string; description: string; priority: number }[];
    rows: (Json & { cells: unknown[] })[];
  }

  it('API-435 in columns of its own', async () => {
    const additionalPrinterColumns = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Colour', type: 'string', jsonPath: '.spec.colour', description: 'what it looks like', priority: 1 },
      { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ];
    await withSpec({ size: number, colour: text }, { additionalPrinterColumns });
    await server.post(widgets, widget('a', { spec: { size: 3 } }));
    const { json } = await server.get(widgets, { accept: strictTable });
    const table = json as Table;
    expect(table.columnDefinitions.map(({ name, description, priority }) => [name, description, priority])).toEqual([
      ['Name', expect.any(String), 0],
      ['Size', 'Custom resource definition column (in JSONPath format): .spec.size', 0],
      ['Colour', 'what it looks like', 1],
      ['Since', 'Custom resource definition column (in JSONPath format): .metadata.creationTimestamp', 0],
    ]);
    expect(table.rows.map(({ cells }) => cells)).toEqual([['a', 3, null, expect.stringMatching(/^\d+s$/)]]);
    const watch = await server.watch(`${widgets}?watch=true`, { accept: strictTable });
    const [event] = await watch.take(1);
    expect((event!.object as Table).rows[0]?.cells.slice(0, 3)).toEqual(['a', 3, null]);
    watch.close();
  });

  it('API-435 by age without columns, and up to the first that cannot be read', async () => {
    await withSpec({});
    const names = async (): Promise<string[]> =>
      ((await server.get(widgets, { accept: strictTable })).json as Table).columnDefinitions.map(({ name }) => name);
    expect(await names()).toEqual(['Name', 'Age']);
    const { json } = await server.get(`${definitions}/widgets.example.com`);
    const additionalPrinterColumns = [
      { name: 'A', type: 'string', jsonPath: '.spec.a' },
      { name: 'B', type: 'string', jsonPath: '.spec[' },
      { name: 'C', type: 'string', jsonPath: '.spec.c' },
    ];
    await server.put(`${definitions}/widgets.example.com`, {
      ...json,
      spec: { ...(json['spec'] as object), versions: [version({ extra: { additionalPrinterColumns } })] },
    });
    expect(await names()).toEqual(['Name', 'A']);
  });

  it('API-417 OpenAPI describes it, as it is now', async () => {
    const port = { 'x-kubernetes-int-or-string': true, description: 'where to knock' };
    await withSpec({ port });
    const schemaOf = async (): Promise<Record<string, unknown>> => {
      const { json } = await server.get('/openapi/v3/apis/example.com/v1');
      const { components } = json as unknown as { components: { schemas: Record<string, Record<string, unknown>> } };
      return components.schemas['com.example.v1.Widget'] ?? {};
    };
    expect(await schemaOf()).toMatchObject({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
      properties: {
        apiVersion: { type: 'string' },
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: { properties: { port: { ...port, anyOf: [{ type: 'integer' }, { type: 'string' }] } } },
      },
    });
    const { json } = await server.get(`${definitions}/widgets.example.com`);
    const schema = object({ spec: object({ door: text }) });
    await server.put(`${definitions}/widgets.example.com`, {
      ...json,
      spec: { ...(json['spec'] as object), versions: [version({ schema })] },
    });
    expect((await schemaOf())['properties']).toMatchObject({ spec: { properties: { door: text } } });
    await server.delete(`${definitions}/widgets.example.com`);
    await until('the document is gone', async () =>
      (await server.get('/openapi/v3/apis/example.com/v1')).status === 404 ? true : undefined,
    );
  });
});

describe('server-side apply', () => {
  const apply = (name: string, spec: object, manager: string, extra = '') =>
    server.request('PATCH', `${widgets}/${name}?fieldManager=${manager}${extra}`, {
      body: JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec }),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });

  beforeEach(() =>
    withSpec({
      colour: { type: 'string', default: 'red' },
      ports: {
        type: 'array',
        items: object({ port: number, name: text }, { required: ['port'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port'],
      },
    }),
  );

  it('API-210 API-222 lists of a definition are shared by their keys', async () => {
    const created = await apply('a', { ports: [{ port: 1, name: 'one' }] }, 'first');
    expect([created.status, created.json['spec']]).toEqual([201, { ports: [{ port: 1, name: 'one' }], colour: 'red' }]);
    const shared = await apply('a', { ports: [{ port: 2 }] }, 'second');
    expect(shared.json['spec']).toEqual({ ports: [{ port: 1, name: 'one' }, { port: 2 }], colour: 'red' });
    const conflict = await apply('a', { ports: [{ port: 1, name: 'uno' }] }, 'second');
    expect([conflict.status, conflict.json.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "first": .spec.ports[port=1].name',
    ]);
    const less = await apply('a', {}, 'first');
    expect(less.json['spec']).toEqual({ ports: [{ port: 2 }], colour: 'red' });
  });

  it('API-223 fields that are not declared are refused, and what the schema forbids', async () => {
    const unknown = await apply('a', { size: 1 }, 'first');
    expect([unknown.status, unknown.json.message]).toEqual([
      500,
      'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.size: field not declared in schema',
    ]);
    expect((await apply('a', { ports: [{ port: 1 }, { name: 'x' }] }, 'first')).status).toBeGreaterThanOrEqual(400);
  });

  it('API-457 does not create while the definition goes', async () => {
    await server.post(widgets, widget('held', { metadata: { finalizers: ['example.com/x'] } }));
    await server.delete(`${definitions}/widgets.example.com`);
    expect((await apply('b', {}, 'first')).status).toBe(403);
    expect((await apply('held', { colour: 'blue' }, 'first')).status).toBe(200);
  });
});
