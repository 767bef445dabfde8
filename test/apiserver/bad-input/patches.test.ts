import { describe, expect, it } from 'vitest';
import {
  type BadRequest,
  BadInputServer,
  deployments,
  refusal,
  type Row,
  startingWith,
  widgets,
  WITNESS,
} from './refusal.ts';

const rig = new BadInputServer();
const { refuses } = rig;

type PatchType = 'json-patch' | 'merge-patch' | 'strategic-merge-patch';

function patch(type: PatchType, body: unknown, target = WITNESS): BadRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'PATCH', target, body: text, headers: { 'content-type': `application/${type}+json` } };
}

const json = (...operations: object[]): BadRequest => patch('json-patch', operations);
const merges = ['merge-patch', 'strategic-merge-patch'] as const;
const rejected = 'the server rejected our request due to an error in our request';

describe('API-194 JSON patches', () => {
  refuses('malformed', [
    ['cut', patch('json-patch', '[{"op":"add"'), refusal(400, 'error decoding patch: unexpected end of JSON input')],
    ['empty', patch('json-patch', ''), refusal(400, 'error decoding patch: unexpected end of JSON input')],
    [
      'no JSON',
      patch('json-patch', '[x]'),
      refusal(400, "error decoding patch: invalid character 'x' looking for beginning of value"),
    ],
    [
      'no UTF-8',
      { ...patch('json-patch', ''), body: Buffer.from([0x5b, 0xff, 0x5d]) },
      refusal(400, 'json parse error: invalid UTF-8'),
    ],
    ...Object.entries({ '{}': 'object', '3': 'number', '"x"': 'string' }).map(([body, found]): Row => [
      body,
      patch('json-patch', body),
      refusal(
        400,
        `error decoding patch: json: cannot unmarshal ${found} into Go value of type []handlers.jsonPatchOp`,
      ),
    ]),
    [
      'no object',
      patch('json-patch', '[3]'),
      refusal(400, 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'),
    ],
    [
      'a path that is no text',
      json({ op: 'add', path: 3 }),
      refusal(
        400,
        'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
      ),
    ],
    [
      'deep',
      patch('json-patch', `[{"op":"add","path":"/x","value":${'['.repeat(3000)}${']'.repeat(3000)}}]`),
      refusal(400, 'error decoding patch: exceeded max depth'),
    ],
  ]);
  refuses(
    'what they hit is not there, and nothing before it counts',
    [
      { op: 'nosuch', path: '/data' },
      { op: 'add', path: 'data' },
      { op: 'add', path: '/data/k/x', value: 1 },
      { op: 'add', path: '/nosuch/x', value: 1 },
      { op: 'remove', path: '/nosuch' },
      { op: 'remove', path: '' },
      { op: 'replace', path: '/nosuch/x', value: 'x' },
      { op: 'replace', path: '', value: null },
      { op: 'replace', path: '', value: 'x' },
      { op: 'add' },
      { op: 'test', path: '/data/k', value: 'w' },
      { op: 'test', path: '/data/nosuch', value: 'w' },
      { op: 'move', path: '/data/x' },
      { op: 'move', from: '/nosuch', path: '/data/x' },
      { op: 'move', from: '/data', path: '/data/k' },
      { op: 'copy', from: '/nosuch/x', path: '/data/x' },
      { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/f' },
      { op: 'add', path: '/__proto__/x', value: 1 },
      { op: 'add', path: '/constructor/prototype/x', value: 1 },
    ].map((operation): Row => [
      JSON.stringify(operation),
      json({ op: 'add', path: '/data/before', value: 'x' }, operation),
      refusal(422, rejected),
    ]),
  );
  refuses('more than they may', [
    [
      '10,001 operations',
      json(...Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: 'v' }))),
      refusal(413, 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'),
    ],
    [
      'a document that doubles',
      json(
        { op: 'add', path: '/x', value: { a: 'x'.repeat(100) } },
        ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/x', path: `/x/k${i}` })),
      ),
      refusal(422, rejected),
    ],
  ]);
  refuses('what they leave is no such object', [
    ['a list', json({ op: 'replace', path: '', value: [] }), refusal(400, 'the patch does not leave an object')],
    [
      'no kind',
      json({ op: 'remove', path: '/kind' }),
      refusal(400, 'the kind in the data () does not match the expected kind (ConfigMap)'),
    ],
    [
      'a kind that is no text',
      json({ op: 'replace', path: '/kind', value: { toString: 1 } }),
      refusal(400, 'json: cannot unmarshal object into Go struct field .kind of type string'),
    ],
    [
      'a list as metadata',
      json({ op: 'replace', path: '/metadata', value: [] }),
      refusal(
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
      ),
    ],
    [
      'no metadata',
      json({ op: 'remove', path: '/metadata' }),
      refusal(400, 'the name of the object (witness based on URL) was undeterminable: name must be provided'),
    ],
  ]);
  refuses('API-199 Strict', [
    [
      'an unknown member',
      { ...json({ op: 'add', path: '/data/x', vlaue: 'y', value: 'z' }), target: `${WITNESS}?fieldValidation=Strict` },
      refusal(
        422,
        /^ "" is invalid: patch: Invalid value: ".*": strict decoding error: json patch unknown field "\[0\]\.vlaue"$/,
      ),
    ],
    [
      'a member twice',
      {
        ...patch('json-patch', '[{"op":"add","path":"/data/x","value":"y","value":"z"}]'),
        target: `${WITNESS}?fieldValidation=Strict`,
      },
      refusal(422, /strict decoding error: json patch duplicate field "\[0\]\.value"$/),
    ],
  ]);

  it('API-199 Warn reports the same and goes on', async () => {
    const { status, headers } = await rig.server.request('PATCH', `${WITNESS}?dryRun=All`, {
      body: '[{"op":"add","path":"/data/x","value":"y","from":"","vlaue":1}]',
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect([status, headers['warning']]).toEqual([200, [String.raw`299 - "json patch unknown field \"[0].vlaue\""`]]);
  });

  it.each(['json-patch', 'strategic-merge-patch'])('API-192 null is a %s that changes nothing', async (type) => {
    const { status, text } = await rig.server.request('PATCH', `${WITNESS}?dryRun=All`, {
      body: 'null',
      headers: { 'content-type': `application/${type}+json` },
    });
    expect([status, text]).toEqual([200, (await rig.server.get(WITNESS)).text]);
  });
});

describe.each(merges)('API-193 API-195 %s', (type) => {
  const where = type === 'merge-patch' ? 'error decoding patch: ' : '';
  const bad = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ';
  refuses('malformed', [
    ['cut', patch(type, '{'), refusal(400, `${where}unexpected end of JSON input`)],
    ['empty', patch(type, ''), refusal(400, `${where}unexpected end of JSON input`)],
    ...(type === 'merge-patch' ? [['null', patch(type, 'null'), refusal(400, 'Invalid JSON Patch')] as Row] : []),
    ...Object.entries({ '[]': 'array', '3': 'number', '"x"': 'string', true: 'bool' }).map(([body, found]): Row => [
      body,
      patch(type, body),
      refusal(400, `${where}json: cannot unmarshal ${found} into Go value of type map[string]interface {}`),
    ]),
    ['deep', patch(type, `{"x":${'['.repeat(3000)}${']'.repeat(3000)}}`), refusal(400, `${where}exceeded max depth`)],
  ]);
  refuses('fields', [
    [
      'metadata',
      patch(type, { metadata: 3 }),
      refusal(400, `${bad}number into Go struct field ConfigMap.metadata of type v1.ObjectMeta`),
    ],
    [
      'data',
      patch(type, { data: 'x' }),
      refusal(400, `${bad}string into Go struct field ConfigMap.data of type map[string]string`),
    ],
    [
      'finalizers',
      patch(type, { metadata: { finalizers: 'x' } }),
      refusal(400, `${bad}string into Go struct field ConfigMap.metadata.finalizers of type []string`),
    ],
    [
      'resourceVersion',
      patch(type, { metadata: { resourceVersion: 5 } }),
      refusal(400, `${bad}number into Go struct field ConfigMap.metadata.resourceVersion of type string`),
    ],
    [
      'an unknown finalizer',
      patch(type, { metadata: { finalizers: ['x'] } }),
      refusal(
        422,
        'ConfigMap "witness" is invalid: metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ),
    ],
    [
      'an empty owner',
      patch(type, { metadata: { ownerReferences: [{}] } }),
      refusal(422, /metadata\.ownerReferences\.uid: Invalid value: "": must not be empty/),
    ],
    [
      'a label',
      patch(type, { metadata: { labels: { a: 'b c' } } }),
      refusal(422, startingWith('ConfigMap "witness" is invalid: metadata.labels: Invalid value: "b c": ')),
    ],
    [
      'an annotation',
      patch(type, { metadata: { annotations: { 'a b': 'c' } } }),
      refusal(422, startingWith('ConfigMap "witness" is invalid: metadata.annotations: Invalid value: "a b": ')),
    ],
  ]);
  refuses('API-073 API-174 API-191 what no patch changes', [
    [
      'name',
      patch(type, { metadata: { name: 'b' } }),
      refusal(400, 'the name of the object (b) does not match the name on the URL (witness)'),
    ],
    [
      'name, by taking it away',
      patch(type, { metadata: { name: null } }),
      refusal(400, 'the name of the object (witness based on URL) was undeterminable: name must be provided'),
    ],
    [
      'namespace',
      patch(type, { metadata: { namespace: 'b' } }),
      refusal(400, 'the namespace of the provided object does not match the namespace sent on the request'),
    ],
    [
      'uid',
      patch(type, { metadata: { uid: 'x' } }),
      refusal(422, 'ConfigMap "witness" is invalid: metadata.uid: Invalid value: "x": field is immutable'),
    ],
    [
      'resourceVersion',
      patch(type, { metadata: { resourceVersion: '1' } }),
      refusal(409, /the object has been modified/),
    ],
    [
      'kind',
      patch(type, { kind: 'Secret' }),
      refusal(400, 'the kind in the data (Secret) does not match the expected kind (ConfigMap)'),
    ],
    [
      'no kind',
      patch(type, { kind: null }),
      refusal(400, 'the kind in the data () does not match the expected kind (ConfigMap)'),
    ],
    [
      'a kind that is no text',
      patch(type, { kind: { toString: 1 } }),
      refusal(400, 'json: cannot unmarshal object into Go struct field .kind of type string'),
    ],
    [
      'apiVersion',
      patch(type, { apiVersion: 'v2' }),
      refusal(400, 'the API version in the data (v2) does not match the expected API version (v1)'),
    ],
  ]);
  refuses('API-198 API-199 options', [
    [
      'force',
      patch(type, {}, `${WITNESS}?force=true`),
      refusal(
        422,
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
      ),
    ],
    [
      'an unknown field',
      patch(type, { nosuch: 1 }, `${WITNESS}?fieldValidation=Strict`),
      refusal(422, /^ "" is invalid: patch: Invalid value: .*: strict decoding error: unknown field "nosuch"$/),
    ],
    [
      'a field twice',
      patch(type, '{"data":{"k":"1","k":"2"}}', `${WITNESS}?fieldValidation=Strict`),
      refusal(422, /strict decoding error: duplicate field "data\.k"$/),
    ],
  ]);

  it('a key that objects inherit is a key like any other', async () => {
    for (const text of [
      '{"metadata":{"__proto__":{"x":1}}}',
      '{"__proto__":{"x":1}}',
      '{"constructor":{"prototype":{"x":1}}}',
    ]) {
      const { method = '', target, ...rest } = patch(type, text, `${WITNESS}?dryRun=All`);
      expect((await rig.server.request(method, target, rest)).status).toBe(200);
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('API-196 strategic merge patches', () => {
  const spec = (part: object): BadRequest =>
    patch('strategic-merge-patch', { spec: { template: { spec: part } } }, `${deployments}/d`);
  refuses('elements and directives', [
    [
      'no merge key',
      spec({ containers: [{ image: 'x' }] }),
      refusal(500, 'map: map[image:x] does not contain declared merge key: name'),
    ],
    [
      'no merge key to delete by',
      spec({ containers: [{ $patch: 'delete' }] }),
      refusal(500, 'map: map[$patch:delete] does not contain declared merge key: name'),
    ],
    ['elements that are text', spec({ containers: ['x'] }), refusal(400, 'list element types are not identical')],
    ['lists of lists', spec({ containers: [[]] }), refusal(422, rejected)],
    [
      'an unknown directive',
      spec({ containers: [{ $patch: 'x', name: 'c' }] }),
      refusal(400, 'unknown patch type: x in map: map[$patch:x name:c]'),
    ],
    ['a directive that is none', spec({ $patch: 3 }), refusal(400, 'unknown patch type: 3 in map: map[$patch:3]')],
    [
      'deleting from a list with text',
      patch('strategic-merge-patch', { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } }),
      refusal(400, 'invalid patch format of primitive list'),
    ],
    [
      'an order that is no list',
      patch('strategic-merge-patch', { metadata: { '$setElementOrder/finalizers': 3 } }),
      refusal(400, 'invalid patch format of setElementOrder list'),
    ],
    [
      'an order without what is patched',
      patch('strategic-merge-patch', { metadata: { '$setElementOrder/finalizers': ['a/b'], finalizers: ['c/d'] } }),
      refusal(400, "The order in patch list doesn't match $setElementOrder list"),
    ],
    [
      'content beside the retained keys',
      patch(
        'strategic-merge-patch',
        { spec: { strategy: { $retainKeys: ['type'], rollingUpdate: {} } } },
        `${deployments}/d`,
      ),
      refusal(422, rejected),
    ],
    [
      'retained keys that are no list',
      patch('strategic-merge-patch', { spec: { strategy: { $retainKeys: 3 } } }, `${deployments}/d`),
      refusal(400, 'invalid patch format of retainKeys'),
    ],
    [
      'an object where a list is',
      spec({ containers: { a: 1 } }),
      refusal(
        400,
        /cannot unmarshal object into Go struct field Deployment\.spec\.template\.spec\.containers of type \[\]v1\.Container$/,
      ),
    ],
  ]);
});

describe('API-190 types of patches', () => {
  const typed = (type: string, target = WITNESS): BadRequest => ({
    method: 'PATCH',
    target,
    body: '{}',
    headers: { 'content-type': type },
  });
  const custom = startingWith(
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json',
  );
  refuses('unknown', [
    ...['application/json', 'text/plain', '', ';'].map((type): Row => [
      type,
      typed(type),
      refusal(415, '415: Unsupported Media Type'),
    ]),
    ['none', { method: 'PATCH', target: WITNESS, body: '{}' }, refusal(415, '415: Unsupported Media Type')],
    ['strategic, custom', typed('application/strategic-merge-patch+json', `${widgets}/w`), refusal(415, custom)],
    ['unknown, custom', typed('text/plain', `${widgets}/w`), refusal(415, custom)],
  ]);
  refuses(
    'API-192 of nothing',
    (['json-patch', ...merges] as const).map((type): Row => [
      type,
      patch(type, type === 'json-patch' ? [] : {}, WITNESS.replace('witness', 'nosuch')),
      refusal(404, 'configmaps "nosuch" not found'),
    ]),
  );
});
