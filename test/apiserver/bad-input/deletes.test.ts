import { describe, expect, it } from 'vitest';
import { encodeProtobuf } from '../../../src/api/codec/protobuf/protobuf.ts';
import { configMaps } from '../../../src/apiserver/test/test-server.ts';
import {
  BadInputServer,
  JSON_TYPE,
  PROTOBUF_TYPE,
  refusal,
  type Refusal,
  type Row,
  startingWith,
  widgets,
  WITNESS,
  YAML_TYPE,
} from './refusal.ts';

const rig = new BadInputServer();

/** A delete of one object, of a collection that has it, and of a custom resource: the options mean the same to all. */
const targets = [
  ['one object', WITNESS],
  ['a collection', configMaps],
  ['a custom resource', `${widgets}/w`],
] as const;

type Bad = readonly [what: string, body: unknown, headers: Readonly<Record<string, string>>, expected: Refusal];

const notJson = "couldn't get version/kind; json parse error: ";
const wrongType = (found: string, field: string, goType: string): Refusal =>
  refusal(400, `json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${goType}`);
const invalid = (text: string): Refusal => refusal(422, `DeleteOptions.meta.k8s.io "" is invalid: ${text}`);
const policies = 'supported values: "Foreground", "Background", "Orphan", "nil"';

const bodies: readonly Bad[] = [
  ['cut', '{', JSON_TYPE, refusal(400, `${notJson}unexpected end of JSON input`)],
  ['blanks', '  ', JSON_TYPE, refusal(400, `${notJson}unexpected end of JSON input`)],
  ['a list', '[]', JSON_TYPE, refusal(400, /json: cannot unmarshal array into Go value/)],
  ['YAML', 'a: b: c', YAML_TYPE, refusal(400, startingWith(`error converting YAML to JSON: yaml: `))],
  ['text as protobuf', 'x', PROTOBUF_TYPE, refusal(400, /^provided data does not appear to be a protobuf message/)],
  ['an empty envelope', 'k8s\0', PROTOBUF_TYPE, refusal(400, 'empty body')],
  [
    'another kind as protobuf',
    encodeProtobuf({ apiVersion: 'v1', kind: 'Pod' }),
    PROTOBUF_TYPE,
    refusal(400, 'decoded object cannot be converted to DeleteOptions'),
  ],
  [
    'another kind',
    { kind: 'Pod', apiVersion: 'v1' },
    JSON_TYPE,
    refusal(400, 'decoded object cannot be converted to DeleteOptions'),
  ],
  [
    'an unknown content type',
    '{}',
    { 'content-type': 'text/plain' },
    refusal(415, /^the body of the request was in an unknown format/),
  ],
  [
    'a patch',
    '{}',
    { 'content-type': 'application/merge-patch+json' },
    refusal(415, /^the body of the request was in an unknown format/),
  ],
  ['grace as text', { gracePeriodSeconds: 'x' }, JSON_TYPE, wrongType('string', 'gracePeriodSeconds', 'int64')],
  [
    'grace with a fraction',
    { gracePeriodSeconds: 1.5 },
    JSON_TYPE,
    wrongType('number 1.5', 'gracePeriodSeconds', 'int64'),
  ],
  [
    'grace out of range',
    '{"gracePeriodSeconds":9223372036854775808}',
    JSON_TYPE,
    refusal(400, /cannot unmarshal number 9223372036854775808 into Go struct field DeleteOptions.gracePeriodSeconds/),
  ],
  [
    'API-241 an unknown policy',
    { propagationPolicy: 'x' },
    JSON_TYPE,
    invalid(`propagationPolicy: Unsupported value: "x": ${policies}`),
  ],
  [
    'API-241 an empty policy',
    { propagationPolicy: '' },
    JSON_TYPE,
    invalid(`propagationPolicy: Unsupported value: "": ${policies}`),
  ],
  ['a policy that is no text', { propagationPolicy: 3 }, JSON_TYPE, wrongType('number', 'propagationPolicy', 'string')],
  [
    'orphanDependents as text',
    { orphanDependents: 'true' },
    JSON_TYPE,
    wrongType('string', 'orphanDependents', 'bool'),
  ],
  [
    'API-241 both',
    { orphanDependents: true, propagationPolicy: 'Orphan' },
    JSON_TYPE,
    invalid('propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set'),
  ],
  [
    'preconditions as text',
    { preconditions: 'x' },
    JSON_TYPE,
    wrongType('string', 'preconditions', 'v1.Preconditions'),
  ],
  [
    'a uid that is no text',
    { preconditions: { uid: 3 } },
    JSON_TYPE,
    wrongType('number', 'preconditions.uid', 'string'),
  ],
  [
    'API-242 another uid',
    { preconditions: { uid: 'x' } },
    JSON_TYPE,
    refusal(
      409,
      /the UID in the precondition \(x\) does not match the UID in record \(.*\)\. The object might have been deleted and then recreated$/,
    ),
  ],
  [
    'API-242 another version',
    { preconditions: { resourceVersion: 'x' } },
    JSON_TYPE,
    refusal(
      409,
      /the ResourceVersion in the precondition \(x\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    ),
  ],
  ['dryRun as text', { dryRun: 'All' }, JSON_TYPE, wrongType('string', 'dryRun', '[]string')],
  ['dryRun of numbers', { dryRun: [3] }, JSON_TYPE, wrongType('number', 'dryRun', 'string')],
  [
    'API-236 an unknown dryRun',
    { dryRun: ['x'] },
    JSON_TYPE,
    invalid('dryRun: Unsupported value: ["x"]: supported values: "All"'),
  ],
];

const queries: readonly (readonly [query: string, expected: Refusal])[] = [
  ['gracePeriodSeconds=x', refusal(400, 'strconv.ParseInt: parsing "x": invalid syntax')],
  [
    'gracePeriodSeconds=99999999999999999999',
    refusal(400, 'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
  ],
  ['propagationPolicy=x', invalid(`propagationPolicy: Unsupported value: "x": ${policies}`)],
  [
    'orphanDependents=true&propagationPolicy=Orphan',
    invalid('propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set'),
  ],
  ['dryRun=x', invalid('dryRun: Unsupported value: ["x"]: supported values: "All"')],
  ['timeout=x', refusal(400, 'invalid timeout specified in the request URL - "x"')],
];

describe.each(targets)('API-240 DELETE of %s', (_what, target) => {
  const { refuses } = rig;
  refuses(
    'options in the body',
    bodies.map(([what, body, headers, expected]): Row => [what, { method: 'DELETE', target, body, headers }, expected]),
  );
  refuses(
    'options in the query',
    queries.map(([query, expected]): Row => [query, { method: 'DELETE', target: `${target}?${query}` }, expected]),
  );
});

describe('API-243 DELETE of nothing', () => {
  rig.refuses('missing', [
    ['object', { method: 'DELETE', target: `${configMaps}/nosuch` }, refusal(404, 'configmaps "nosuch" not found')],
    [
      'custom object',
      { method: 'DELETE', target: `${widgets}/nosuch` },
      refusal(404, 'widgets.example.com "nosuch" not found'),
    ],
    [
      'with preconditions',
      { method: 'DELETE', target: `${configMaps}/nosuch`, body: { preconditions: { uid: 'x' } } },
      refusal(404, 'configmaps "nosuch" not found'),
    ],
    [
      'dry',
      { method: 'DELETE', target: `${configMaps}/nosuch?dryRun=All` },
      refusal(404, 'configmaps "nosuch" not found'),
    ],
    [
      'API-304 a protected namespace',
      { method: 'DELETE', target: '/api/v1/namespaces/default' },
      refusal(403, 'namespaces "default" is forbidden: this namespace may not be deleted'),
    ],
  ]);

  it('the versions a client may name are taken', async () => {
    for (const apiVersion of ['v1', 'meta.k8s.io/v1', undefined]) {
      const body = { kind: 'DeleteOptions', apiVersion, dryRun: ['All'] };
      const { status } = await rig.server.request('DELETE', WITNESS, { body });
      expect([apiVersion, status]).toEqual([apiVersion, 200]);
    }
    const body = { kind: 'DeleteOptions', apiVersion: 'example.com/v1', dryRun: ['All'] };
    expect((await rig.server.request('DELETE', `${widgets}/w`, { body })).status).toBe(200);
  });
});
