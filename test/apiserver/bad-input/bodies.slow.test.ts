import { describe, expect, it } from 'vitest';
import { MAX_YAML_TOKENS } from '../../../src/api/codec/yaml/yaml-tokens.ts';
import { encodeProtobuf } from '../../../src/api/codec/protobuf/protobuf.ts';
import { configMap, configMaps } from '../../../src/apiserver/test/test-server.ts';
import {
  BadInputServer,
  JSON_TYPE,
  ns,
  post,
  PROTOBUF_TYPE,
  refusal,
  type Row,
  startingWith,
  widgets,
  WITNESS,
  YAML_TYPE,
} from './refusal.ts';

const rig = new BadInputServer();
const { refuses } = rig;

const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): ';
const notJson = `${unrecognized}couldn't get version/kind; json parse error: `;
const cannotUnmarshal = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ';
const nested = (depth: number, open = '[', close = ']'): string => open.repeat(depth) + close.repeat(depth);
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

describe('bodies', () => {
  refuses('JSON that is none', [
    ['empty', post(''), refusal(400, `${notJson}unexpected end of JSON input (<empty>)`)],
    ['blanks', post('  ', JSON_TYPE), refusal(400, startingWith(notJson))],
    ['cut', post('{"metadata":{"name":"x"', JSON_TYPE), refusal(400, startingWith(notJson))],
    ['a word', post('hello', JSON_TYPE), refusal(400, /json parse error: .*\(68656c6c6f\)$/)],
    ['something after it', post('{"metadata":{"name":"x"}}{}', JSON_TYPE), refusal(400, startingWith(notJson))],
    ['a byte order mark', post('\ufeff{"metadata":{"name":"x"}}', JSON_TYPE), refusal(400, startingWith(notJson))],
    ['a raw NUL', post('{"metadata":{"name":"x\u0000"}}', JSON_TYPE), refusal(400, startingWith(notJson))],
    [
      'no UTF-8',
      post(bytes('{"metadata":{"name":"', [0xff, 0xfe], '"}}'), JSON_TYPE),
      refusal(400, startingWith(`${notJson}invalid UTF-8`)),
    ],
    ...['9'.repeat(400), '1e400', '-1e400', `${'9'.repeat(300)}e20`].map((number): Row => [
      `the number ${number.slice(0, 8)}`,
      post(`{"metadata":{"name":"x"},"x":${number}}`, JSON_TYPE),
      refusal(400, startingWith(`${notJson}a number is too large`)),
    ]),
    [
      'an integer beyond 64 bits',
      post('{"metadata":{"name":"x","generation":9223372036854775808}}', JSON_TYPE),
      refusal(
        400,
        startingWith(`${cannotUnmarshal}number 9223372036854775808 into Go struct field ConfigMap.metadata.generation`),
      ),
    ],
    ...(['[', '{"a":'] as const).map((open): Row => [
      `100,000 times ${open}`,
      post(`{"x":${open.repeat(100_000)}`, JSON_TYPE),
      refusal(400, startingWith(`${notJson}exceeded max depth`)),
    ]),
  ]);

  refuses(
    'JSON that is no object',
    (
      [
        ['[]', 'array'],
        ['3', 'number'],
        ['"x"', 'string'],
        ['true', 'bool'],
      ] as const
    ).map(([body, found]): Row => [
      body,
      post(body, JSON_TYPE),
      refusal(400, startingWith(`${notJson}json: cannot unmarshal ${found} into Go value`)),
    ]),
  );

  refuses('API-233 values of the wrong type', [
    [
      'metadata',
      post({ metadata: 'x' }),
      refusal(400, `${cannotUnmarshal}string into Go struct field ConfigMap.metadata of type v1.ObjectMeta`),
    ],
    [
      'metadata, list',
      post({ metadata: [] }),
      refusal(400, `${cannotUnmarshal}array into Go struct field ConfigMap.metadata of type v1.ObjectMeta`),
    ],
    [
      'name',
      post({ metadata: { name: 1 } }),
      refusal(400, `${cannotUnmarshal}number into Go struct field ConfigMap.metadata.name of type string`),
    ],
    [
      'labels',
      post({ metadata: { name: 'x', labels: ['a'] } }),
      refusal(400, `${cannotUnmarshal}array into Go struct field ConfigMap.metadata.labels of type map[string]string`),
    ],
    [
      'finalizers',
      post({ metadata: { name: 'x', finalizers: 'a' } }),
      refusal(400, `${cannotUnmarshal}string into Go struct field ConfigMap.metadata.finalizers of type []string`),
    ],
    [
      'ownerReferences',
      post({ metadata: { name: 'x', ownerReferences: {} } }),
      refusal(
        400,
        `${cannotUnmarshal}object into Go struct field ConfigMap.metadata.ownerReferences of type []v1.OwnerReference`,
      ),
    ],
    [
      'an owner',
      post({ metadata: { name: 'x', ownerReferences: ['a'] } }),
      refusal(
        400,
        `${cannotUnmarshal}string into Go struct field ConfigMap.metadata.ownerReferences of type v1.OwnerReference`,
      ),
    ],
    [
      'a flag',
      post({ metadata: { name: 'x', ownerReferences: [{ controller: 'yes' }] } }),
      refusal(
        400,
        `${cannotUnmarshal}string into Go struct field ConfigMap.metadata.ownerReferences.controller of type bool`,
      ),
    ],
    [
      'a number',
      post({ metadata: { name: 'x', generation: 1.5 } }),
      refusal(400, `${cannotUnmarshal}number 1.5 into Go struct field ConfigMap.metadata.generation of type int64`),
    ],
    ...['1e2', '1.0', '1E0', '-1.0e+1', '100e-2'].map((number): Row => [
      `the integer ${number}`,
      post(`{"metadata":{"name":"x","generation":${number}}}`, JSON_TYPE),
      refusal(
        400,
        `${cannotUnmarshal}number ${number} into Go struct field ConfigMap.metadata.generation of type int64`,
      ),
    ]),
    [
      'an integer in a list, with an exponent',
      {
        target: `${ns}/pods`,
        body: '{"metadata":{"name":"x"},"spec":{"securityContext":{"supplementalGroups":[1, 1e2]}}}',
      },
      refusal(400, /number 1e2 into Go struct field Pod\.spec\.securityContext\.supplementalGroups of type int64$/),
    ],
    [
      'an integer or string, with a point',
      { target: `${ns}/services`, body: '{"metadata":{"name":"x"},"spec":{"ports":[{"port":1,"targetPort":80.0}]}}' },
      refusal(400, /number 80\.0 into Go struct field Service\.spec\.ports\.targetPort of type int32$/),
    ],
    [
      'a time',
      post({ metadata: { name: 'x', creationTimestamp: 'yesterday' } }),
      refusal(400, /parsing time "yesterday" as "2006-01-02T15:04:05Z07:00"/),
    ],
    [
      'a value of data',
      post({ metadata: { name: 'x' }, data: { k: 1 } }),
      refusal(400, `${cannotUnmarshal}number into Go struct field ConfigMap.data of type string`),
    ],
    [
      'kind',
      post({ kind: 3, apiVersion: 'v1' }),
      refusal(400, /json: cannot unmarshal number into Go struct field \.kind of type string/),
    ],
    [
      'base64',
      { target: `${ns}/secrets`, body: { metadata: { name: 'x' }, data: { k: '%%%' } } },
      refusal(400, /illegal base64 data/),
    ],
  ]);

  refuses('API-028 YAML', [
    [
      'empty, which is an object without fields',
      post('', YAML_TYPE),
      refusal(422, /metadata\.name: Required value: name or generateName is required/),
    ],
    [
      'only separators, which is an object without fields',
      post('---\n---\n', YAML_TYPE),
      refusal(422, /metadata\.name: Required value: name or generateName is required/),
    ],
    [
      'mappings in a line',
      post('a: b: c', YAML_TYPE),
      refusal(400, startingWith(`${unrecognized}error converting YAML to JSON: yaml: `)),
    ],
    [
      'a tab',
      post('\tmetadata: x', YAML_TYPE),
      refusal(400, startingWith(`${unrecognized}error converting YAML to JSON: yaml: `)),
    ],
    [
      'cut',
      post('metadata: {name: x', YAML_TYPE),
      refusal(400, startingWith(`${unrecognized}error converting YAML to JSON: yaml: `)),
    ],
    ['no UTF-8', post(bytes('metadata: {name: "', [0xff], '"}'), YAML_TYPE), refusal(400, /invalid UTF-8/)],
    [
      'a bare boolean where text belongs',
      post('metadata: {name: x}\ndata: {k: yes}', YAML_TYPE),
      refusal(400, `${cannotUnmarshal}bool into Go struct field ConfigMap.data of type string`),
    ],
    ['an alias of itself', post('a: &a\n  b: *a\n', YAML_TYPE), refusal(400, /yaml: exceeded max depth/)],
    ['aliases that double', post(aliasBomb(), YAML_TYPE), refusal(400, /yaml: document contains excessive aliasing/)],
    [
      'an unknown alias',
      post('metadata: *nobody', YAML_TYPE),
      refusal(400, startingWith(`${unrecognized}error converting YAML to JSON: yaml: `)),
    ],
    [
      'a merge of no map',
      post('<<: [1]\nmetadata: {name: x}', YAML_TYPE),
      refusal(400, /map merge requires map or sequence of maps/),
    ],
    ['a list as key', post('? [a]\n: b\nmetadata: {name: x}', YAML_TYPE), refusal(400, /unsupported map key/)],
    ['3,000 times [', post(nested(3000), YAML_TYPE), refusal(400, /yaml: exceeded max depth/)],
    ['three million times {', post('{'.repeat(3_000_000), YAML_TYPE), refusal(400, /yaml: exceeded max depth/)],
    [
      'a million pieces',
      post('- a\n'.repeat(MAX_YAML_TOKENS / 4), YAML_TYPE),
      refusal(400, /yaml: document is too large/),
    ],
  ]);

  const valid = encodeProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'xyz' }, data: { k: 'v' } });
  refuses('API-029 API-520 protobuf', [
    ['empty', post('', PROTOBUF_TYPE), refusal(400, `${unrecognized}empty data (<empty>)`)],
    [
      'no envelope',
      post(valid.subarray(4), PROTOBUF_TYPE),
      refusal(400, /does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/),
    ],
    [
      'JSON',
      post('{"metadata":{"name":"x"}}', PROTOBUF_TYPE),
      refusal(400, /does not appear to be a protobuf message/),
    ],
    ['only the magic', post(valid.subarray(0, 4), PROTOBUF_TYPE), refusal(400, /ConfigMap\): empty body/)],
    ['cut', post(valid.subarray(0, valid.length - 8), PROTOBUF_TYPE), refusal(400, /proto: unexpected EOF/)],
    [
      'a number without end',
      post(
        bytes(
          'k8s\0',
          Array.from({ length: 11 }, () => 0xff),
        ),
        PROTOBUF_TYPE,
      ),
      refusal(400, /proto: integer overflow/),
    ],
    [
      'another kind',
      post(encodeProtobuf({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }), PROTOBUF_TYPE),
      refusal(400, `${unrecognized}/v1, Kind=Secret`),
    ],
    ['protobuf as JSON', post(valid, JSON_TYPE), refusal(400, startingWith(notJson))],
    [
      'API-030 for a custom resource',
      { target: widgets, body: valid, headers: PROTOBUF_TYPE },
      refusal(
        415,
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      ),
    ],
  ]);

  it('every byte of a protobuf body matters or does not, but none breaks the server', async () => {
    const before = await rig.server.store.currentRevision();
    const target = `${configMaps}?dryRun=All`;
    for (let i = 0; i < valid.length; i++) {
      for (const value of [0x00, 0x7f, 0xff]) {
        const body = Buffer.from(valid);
        body[i] = value;
        const { status } = await rig.server.request('POST', target, { body, headers: PROTOBUF_TYPE });
        expect([201, 400, 422]).toContain(status);
      }
      const cut = await rig.server.request('POST', target, { body: valid.subarray(0, i), headers: PROTOBUF_TYPE });
      expect([201, 400, 422]).toContain(cut.status);
    }
    expect(await rig.server.store.currentRevision()).toBe(before);
  });

  refuses('API-065 API-150 another type than the endpoint’s', [
    ['kind', post({ ...configMap('x'), kind: 'Secret' }), refusal(400, `${unrecognized}/v1, Kind=Secret`)],
    [
      'version',
      post({ ...configMap('x'), apiVersion: 'v2' }),
      refusal(400, 'the API version in the data (v2) does not match the expected API version (v1)'),
    ],
    [
      'group',
      post({ ...configMap('x'), apiVersion: 'apps/v1' }),
      refusal(400, 'the API version in the data (apps/v1) does not match the expected API version (v1)'),
    ],
    [
      'a version with too many parts',
      post({ ...configMap('x'), apiVersion: 'a/b/c' }),
      refusal(400, 'the API version in the data (a/b/c) does not match the expected API version (v1)'),
    ],
    ['a list', post({ kind: 'List', apiVersion: 'v1', items: [] }), refusal(400, `${unrecognized}/v1, Kind=List`)],
    [
      'in a PUT',
      { method: 'PUT', target: WITNESS, body: { ...configMap('witness'), kind: 'Secret' } },
      refusal(400, `${unrecognized}/v1, Kind=Secret`),
    ],
  ]);

  refuses('API-231 Strict', [
    [
      'unknown field',
      { target: `${configMaps}?fieldValidation=Strict`, body: { ...configMap('x'), dta: {} } },
      refusal(
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
      ),
    ],
    [
      'duplicate key',
      { target: `${configMaps}?fieldValidation=Strict`, body: '{"metadata":{"name":"x"},"data":{"k":"1","k":"2"}}' },
      refusal(
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.k"',
      ),
    ],
    [
      'duplicate key in YAML',
      {
        target: `${configMaps}?fieldValidation=Strict`,
        body: 'metadata: {name: x}\ndata:\n  k: a\n  k: b\n',
        headers: YAML_TYPE,
      },
      refusal(
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 4: key "k" already set in map',
      ),
    ],
    [
      'a key in the wrong case',
      { target: `${configMaps}?fieldValidation=Strict`, body: { metadata: { name: 'x', Labels: {} } } },
      refusal(
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.Labels"',
      ),
    ],
  ]);

  refuses(
    'API-007 too large',
    (['POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method): Row => [
      method,
      { method, target: method === 'POST' ? configMaps : WITNESS, body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) },
      refusal(413, 'Request entity too large: limit is 3145728'),
    ]),
  );

  refuses(
    'API-028 content types',
    ['text/plain', 'application/x-www-form-urlencoded', 'application/cbor', 'application/merge-patch+json', ';;;'].map(
      (type): Row => [
        type,
        post('{"metadata":{"name":"x"}}', { 'content-type': type }),
        refusal(
          415,
          'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
        ),
      ],
    ),
  );

  it.each([
    ['a quantity', `${ns}/pods`, '"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":1.0}}}]}'],
    ['a text', configMaps, '"data":{"a":"[1e2, 1.0]"}'],
    ['a field without a type', configMaps, '"unknown":1e2'],
    ['a custom resource', widgets, '"apiVersion":"example.com/v1","kind":"Widget","spec":{"a":1e2}'],
  ])('a number with a point or an exponent is taken in %s', async (_what, target, rest) => {
    const body = `{"metadata":{"name":"x"},${rest}}`;
    const { status } = await rig.server.request('POST', `${target}?dryRun=All`, { body, headers: JSON_TYPE });
    expect(status).toBe(201);
  });

  it('a body where none belongs is ignored', async () => {
    for (const target of [WITNESS, `${configMaps}?limit=1`, '/version', '/healthz', '/apis']) {
      for (const body of ['{', Buffer.from([0, 1, 2])]) {
        expect((await rig.server.request('GET', target, { body, headers: JSON_TYPE })).status).toBe(200);
      }
    }
  });
});

function aliasBomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join()}]`);
  return lines.join('\n');
}
