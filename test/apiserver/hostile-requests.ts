import { MAX_BODY_VALUES, MAX_OBJECT_MEMBERS } from '../../src/api/codec/json/body-values.ts';
import { configMaps } from '../../src/apiserver/test/test-server.ts';

/** A request that is made to keep the server busy. */
export interface HostileRequest {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array;
  /** An object that is created first, at the path of its list. */
  readonly before?: { readonly path: string; readonly object: object };
}

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const range = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const members = (count: number, make: (index: number) => [string, unknown]): object =>
  Object.fromEntries(range(count, make));

function post(path: string, body: object | string | Uint8Array, type = JSON_TYPE): HostileRequest {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return { method: 'POST', path, type, body: Buffer.from(raw ? body : JSON.stringify(body)) };
}

const configMap = (metadata: object, rest: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  ...rest,
});
const yaml = (name: string, rest: string): HostileRequest =>
  post(configMaps, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${rest}`, YAML_TYPE);

function patch(name: string, operations: readonly object[], finalizers: number): HostileRequest {
  const metadata = { name, finalizers: range(finalizers, (at) => `example.com/f${at}`) };
  const body = Buffer.from(JSON.stringify(operations));
  const before = { path: configMaps, object: configMap(metadata) };
  return { method: 'PATCH', path: `${configMaps}/${name}`, type: 'application/json-patch+json', body, before };
}

function merge(name: string, change: object): HostileRequest {
  const body = Buffer.from(JSON.stringify(change));
  return { method: 'PATCH', path: `${configMaps}/${name}`, type: 'application/merge-patch+json', body };
}

const NAMESPACED = '/api/v1/namespaces/default';
const container = { name: 'c', image: 'i' };

function pod(name: string, rest: object): HostileRequest {
  const spec = { containers: [{ ...container, ...rest }] };
  return post(`${NAMESPACED}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
}

function definition(plural: string, schema: object): HostileRequest {
  return post(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.hostile.example.com` },
    spec: {
      group: 'hostile.example.com',
      scope: 'Namespaced',
      names: { plural, kind: `K${plural}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        },
      ],
    },
  });
}

/** A definition whose schema has as many levels. The text is put together, because `JSON.stringify` recurses. */
function deepDefinition(plural: string, levels: number, [before, after]: readonly [string, string]): HostileRequest {
  const request = definition(plural, { title: 'schema' });
  const schema = `${before.repeat(levels)}{"type":"string"}${after.repeat(levels)}`;
  return { ...request, body: Buffer.from(String(request.body).replace('{"title":"schema"}', schema)) };
}

/** Fields of protobuf: a length and bytes under a number. */
function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes]);
}

function protobuf(raw: Uint8Array): HostileRequest {
  const type = Buffer.concat([field(1, 'v1'), field(2, 'ConfigMap')]);
  return post(configMaps, Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, raw)]), PROTOBUF_TYPE);
}

/** More values than a body may hold. */
const TOO_MANY = 2 * MAX_BODY_VALUES;
/** As many as it may hold, with some room for what is around them. */
const MOST = MAX_BODY_VALUES - 100;
/** As many members as one object may have, with the same room. */
const WIDEST = MAX_OBJECT_MEMBERS - 100;

/** Refused for the number of their values, before anything is done with them. */
export const tooManyValues: readonly (readonly [string, HostileRequest])[] = [
  ['JSON: finalizers', post(configMaps, configMap({ name: 'a', finalizers: range(TOO_MANY, (at) => `a.b/${at}`) }))],
  [
    'JSON: members of many objects',
    post(configMaps, configMap({ name: 'a', ownerReferences: range(TOO_MANY, (at) => ({ uid: `u${at}` })) })),
  ],
  ['protobuf: finalizers', protobuf(field(1, Buffer.concat(range(TOO_MANY, (at) => field(14, `a.b/${at}`)))))],
  ['protobuf: metadata again and again', protobuf(Buffer.concat(range(3 * TOO_MANY, () => field(1, ''))))],
];

/** Refused for the number of members of one object, before anything is done with them. */
export const tooManyMembers: readonly (readonly [string, HostileRequest])[] = [
  ['JSON: data keys', post(configMaps, configMap({ name: 'a' }, { data: members(TOO_MANY, (at) => [`k${at}`, '']) }))],
  ['JSON: labels', post(configMaps, configMap({ name: 'a', labels: members(TOO_MANY, (at) => [`k${at}`, '']) }))],
  [
    'JSON: invalid labels',
    post(configMaps, configMap({ name: 'a', labels: members(TOO_MANY, (at) => [`-${at}`, '']) })),
  ],
  ['JSON: one key again and again', post(configMaps, `{"data":{${'"a":"",'.repeat(3 * TOO_MANY)}"a":""}}`)],
  ['YAML: data keys', yaml('a', `data:\n${range(MAX_OBJECT_MEMBERS + 1, (at) => `  k${at}: v\n`).join('')}`)],
  ['protobuf: data keys', protobuf(Buffer.concat(range(TOO_MANY, (at) => field(2, field(1, `k${at}`)))))],
  [
    'a merge patch of data keys',
    {
      method: 'PATCH',
      path: `${configMaps}/a`,
      type: 'application/merge-patch+json',
      body: Buffer.from(JSON.stringify({ data: members(TOO_MANY, (at) => [`k${at}`, '']) })),
    },
  ],
  [
    'an apply of data keys',
    {
      method: 'PATCH',
      path: `${configMaps}/a?fieldManager=m`,
      type: 'application/apply-patch+yaml',
      body: Buffer.from(JSON.stringify(configMap({ name: 'a' }, { data: members(TOO_MANY, (at) => [`k${at}`, '']) }))),
    },
  ],
  [
    'a definition of very many properties',
    definition('wide', { type: 'object', properties: members(12_000, (at) => [`p${at}`, { type: 'string' }]) }),
  ],
  [
    'a merge patch that adds data keys to others',
    {
      ...merge('grown', { data: members(WIDEST, (at) => [`l${at}`, '']) }),
      before: {
        path: configMaps,
        object: configMap({ name: 'grown' }, { data: members(WIDEST, (at) => [`k${at}`, '']) }),
      },
    },
  ],
];

/** Refused for the number of elements of a list of type set or map, each of which is a member of managedFields. */
export const tooManyElements: readonly (readonly [string, HostileRequest])[] = [
  ['JSON: finalizers', post(configMaps, configMap({ name: 'a', finalizers: range(MOST, (at) => `a.b/${at}`) }))],
  [
    'a merge patch of finalizers',
    {
      ...merge('few', { metadata: { finalizers: range(MOST, (at) => `a.b/${at}`) } }),
      before: { path: configMaps, object: configMap({ name: 'few' }) },
    },
  ],
  [
    'an apply of finalizers',
    {
      method: 'PATCH',
      path: `${configMaps}/a?fieldManager=m`,
      type: 'application/apply-patch+yaml',
      body: Buffer.from(JSON.stringify(configMap({ name: 'a', finalizers: range(MOST, (at) => `a.b/${at}`) }))),
    },
  ],
];

/** Texts of YAML: their first characters, one of their lines, and their last characters. */
const longTexts = [
  ['after |', '|', '\n    abcde', ''],
  ['after >', '>', '\n    a\n\n     c', ''],
  ['that are empty', '|\n    a', '\n', '    b'],
  ['without quotes', 'a', '\n    abcde', ''],
  ['between single quotes', "'", "\n    a''b", "'"],
  ['between double quotes', '"', '\n    ab\\u0061', '"'],
] as const;

/** Taken, in several turns of the event loop. */
export const longWork: readonly (readonly [string, HostileRequest])[] = [
  ['JSON: data keys', post(configMaps, configMap({ name: 'data' }, { data: members(WIDEST, (at) => [`k${at}`, '']) }))],
  ['JSON: labels', post(configMaps, configMap({ name: 'labels', labels: members(WIDEST, (at) => [`k${at}`, '']) }))],
  [
    'JSON: labels, annotations and two kinds of data',
    post(
      configMaps,
      configMap(
        {
          name: 'all',
          labels: members(WIDEST, (at) => [`k${at}`, '']),
          annotations: members(WIDEST, (at) => [`k${at}`, '']),
        },
        { data: members(WIDEST, (at) => [`k${at}`, '']), binaryData: members(WIDEST, (at) => [`b${at}`, '']) },
      ),
    ),
  ],
  ['JSON: finalizers', post(configMaps, configMap({ name: 'ends', finalizers: range(WIDEST, (at) => `a.b/${at}`) }))],
  [
    'JSON: owners that are not there',
    post(
      configMaps,
      configMap({
        name: 'owned',
        ownerReferences: range(8000, (at) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${at}`, uid: `u${at}` })),
      }),
    ),
  ],
  ['YAML: some 10,000 lines', yaml('lines', `data:\n${range(WIDEST, (at) => `  k${at}: v\n`).join('')}`)],
  [
    'YAML: a list of many lists between brackets',
    yaml('brackets', `metadata2: [${'[a, b], '.repeat(12_000)}]\ndata: {a: b}\n`),
  ],
  [
    'YAML: a list of very many elements between brackets',
    yaml('elements', `x: [${'a, '.repeat(49_000)}]\ndata: {a: b}\n`),
  ],
  ...longTexts.map(([what, before, line, after]): [string, HostileRequest] => [
    `YAML: a text of very many lines ${what}`,
    yaml('text', `data:\n  a: ${before}${line.repeat(Math.floor(1_000_000 / line.length))}${after}\n`),
  ]),
  ['YAML: a text of a million characters', yaml('long', `data:\n  a: "${'\\u0061 '.repeat(100_000)}"\n`)],
  [
    'an apply of data keys in YAML',
    {
      method: 'PATCH',
      path: `${configMaps}/applied?fieldManager=m`,
      type: 'application/apply-patch+yaml',
      body: Buffer.from(
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata:\n${range(WIDEST, (at) => `  k${at}: v\n`).join('')}`,
      ),
    },
  ],
  [
    'an apply of labels, annotations and two kinds of data',
    {
      method: 'PATCH',
      path: `${configMaps}/wide?fieldManager=m`,
      type: 'application/apply-patch+yaml',
      body: Buffer.from(
        JSON.stringify(
          configMap(
            {
              name: 'wide',
              labels: members(WIDEST, (at) => [`k${at}`, '']),
              annotations: members(WIDEST, (at) => [`k${at}`, '']),
            },
            { data: members(WIDEST, (at) => [`k${at}`, '']), binaryData: members(WIDEST, (at) => [`b${at}`, '']) },
          ),
        ),
      ),
    },
  ],
  ['JSON: a map list of environment variables', pod('env', { env: range(WIDEST, (at) => ({ name: `E${at}` })) })],
  [
    'JSON: a selector of many values',
    post('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'values' },
      spec: {
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: range(20_000, (at) => `v${at}`) }] },
      },
    }),
  ],
  [
    'protobuf: labels',
    protobuf(field(1, Buffer.concat([field(1, 'p'), ...range(WIDEST, (at) => field(11, field(1, `k${at}`)))]))),
  ],
  [
    'a JSON patch at the head of a long list',
    patch(
      'head',
      range(10_000, (at) => ({ op: at % 2 === 0 ? 'add' : 'remove', path: '/metadata/finalizers/0', value: 'b.c/1' })),
      WIDEST,
    ),
  ],
  [
    'a definition of many properties',
    definition('widths', {
      type: 'object',
      properties: members(3, (at) => [
        `o${at}`,
        { type: 'object', properties: members(8000, (below) => [`p${below}`, { type: 'string' }]) },
      ]),
    }),
  ],
  [
    'a definition of many patterns',
    definition('patterns', {
      type: 'object',
      properties: members(5000, (at) => [`p${at}`, { type: 'string', pattern: `^([a-z]{1,20}[-.]?){1,20}x${at}$` }]),
    }),
  ],
];

/** Refused by a bound of their own. */
export const refused: readonly (readonly [string, HostileRequest, number, RegExp])[] = [
  [
    'YAML: aliases of aliases',
    yaml('a', `a0: &a0 [x, x]\n${range(30, (at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join('')}`),
    400,
    /excessive aliasing/,
  ],
  [
    'YAML: complex keys',
    yaml('a', `data:\n${'  ? [a]\n  : b\n'.repeat(30_000)}`),
    400,
    /too many keys after a question mark: limit is 1000/,
  ],
  [
    'YAML: 100,000 lines',
    yaml('a', `data:\n${range(100_000, (at) => `  k${at}: v\n`).join('')}`),
    400,
    /document is too large/,
  ],
  ['YAML: 100,000 commas', yaml('a', `x: [${','.repeat(100_000)}]`), 400, /Unexpected , in flow sequence/],
  ['YAML: 60,000 anchors of one value', yaml('a', `x: [${'&a '.repeat(60_000)}b]`), 400, /at most one anchor/],
  ['YAML: 60,000 texts in a row', yaml('a', `x: "a"${' "b"'.repeat(60_000)}`), 400, /Unexpected/],
  ['YAML: 100,000 levels', yaml('a', `x: ${'['.repeat(100_000)}`), 400, /exceeded max depth/],
  ['JSON: 100,000 levels', post(configMaps, `{"x":${'['.repeat(100_000)}`), 400, /exceeded max depth/],
  [
    'a definition of a thousand levels',
    deepDefinition('levels', 1000, ['{"type":"object","properties":{"a":', '}}']),
    400,
    /exceeded max depth/,
  ],
  [
    'a definition of 4,096 nested allOf',
    deepDefinition('both', 4096, ['{"type":"object","allOf":[', ']}']),
    400,
    /exceeded max depth/,
  ],
  [
    'a JSON patch with a path of a million characters',
    patch('path', [{ op: 'add', path: '/a'.repeat(500_000), value: 1 }], 1),
    422,
    /rejected our request/,
  ],
];

/** The create of an ordinary ConfigMap of about as many bytes: a text on lines of 60 characters. */
export function ordinary(encoding: 'JSON' | 'YAML' | 'protobuf', bytes: number): HostileRequest {
  const lines = range(Math.ceil(Math.min(bytes, 900_000) / 64), () => 'x'.repeat(60));
  if (encoding === 'YAML')
    return yaml('ordinary', `data:\n  text: |\n${lines.map((line) => `    ${line}\n`).join('')}`);
  const text = lines.join('\n');
  if (encoding === 'JSON') return post(configMaps, configMap({ name: 'ordinary' }, { data: { text } }));
  const entry = Buffer.concat([field(1, 'text'), field(2, text)]);
  return protobuf(Buffer.concat([field(1, field(1, 'ordinary')), field(2, entry)]));
}
