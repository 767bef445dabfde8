import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MetadataJsonError } from '../../api/codec/metadata/metadata-json.ts';
import { ProtobufError } from '../../api/codec/protobuf/protobuf-wire.ts';
import { MetadataReader } from '../../api/codec/metadata/metadata-reader.ts';
import { StatusError } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { discover } from '../discovery/discovery.ts';
import { serverVersion } from '../discovery/server-version.ts';
import { RestClient } from '../rest/rest-client.ts';
import { DecodeError } from './decode-error.ts';
import { decodeList } from './decode-list.ts';
import { listDecoder } from './list-decoder.ts';
import { objectVersion } from './object-version.ts';
import { decodeStatus, statusErrorOf } from './status-decoder.ts';
import { watchDecoder } from './watch-decoder.ts';

/** The errors that a decoder may throw: each has a name of its own. */
const NAMED = [DecodeError, StatusError, MetadataJsonError, ProtobufError];

/** Every JSON value, with the empty ones that a Go server writes more often than others. */
const value = fc.oneof(fc.constantFrom(null, [], {}, '', 0, false), fc.jsonValue({ maxDepth: 3 }));

const metadata = {
  name: 'a',
  namespace: 'default',
  uid: '0b6a4d3e-9f1c-4e7a-8a51-fc2d3e4f5a6b',
  resourceVersion: '7',
  deletionTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['orphan'],
  annotations: { 'k8s.io/initial-events-end': 'true' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true }],
};
const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
const list = {
  kind: 'PartialObjectMetadataList',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { resourceVersion: '7', continue: 't', remainingItemCount: 1 },
  items: [object],
};
const status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'no',
  reason: 'NotFound',
  details: { name: 'a', kind: 'pods', causes: [{ reason: 'x', message: 'm', field: 'f' }], retryAfterSeconds: 1 },
  code: 404,
};
const resourceList = {
  kind: 'APIResourceList',
  groupVersion: 'v1',
  resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get'], shortNames: ['po'] }],
};
const groups = {
  kind: 'APIGroupList',
  groups: [
    {
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    },
  ],
};
const aggregated = {
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items: [
    {
      metadata: { name: 'apps' },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'deployments',
              responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
              scope: 'Namespaced',
              verbs: ['get'],
              shortNames: ['deploy'],
              categories: ['all'],
              subresources: [{ subresource: 'scale', responseKind: { kind: 'Scale' }, verbs: ['get'] }],
            },
          ],
        },
      ],
    },
  ],
};

type Path = readonly (string | number)[];

/** The paths of all fields and elements, and of the whole. */
function pathsOf(node: unknown, path: Path = []): Path[] {
  if (typeof node !== 'object' || node === null) return [path];
  return [path, ...Object.entries(node).flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

/** The text of the document with another value in one place; `absent` removes the value. */
function textWith(document: unknown, path: Path, given: unknown, absent: boolean): string {
  const [first, ...rest] = path;
  if (first === undefined) return JSON.stringify(given);
  const copy: unknown = JSON.parse(JSON.stringify(document));
  let parent = copy as Record<string | number, unknown>;
  const keys = [first, ...rest];
  const last = keys.pop()!;
  for (const key of keys) parent = parent[key] as Record<string | number, unknown>;
  if (absent && !Array.isArray(parent)) delete parent[last];
  else parent[last] = given;
  return JSON.stringify(copy);
}

const changed = (document: unknown): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...pathsOf(document)), value, fc.boolean())
    .map(([path, given, absent]) => textWith(document, path, given, absent));

const JSON_TYPE = 'application/json';
const AGGREGATED_TYPE = `${JSON_TYPE};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;

async function answersOrNames(text: string, decode: (bytes: Buffer) => unknown): Promise<void> {
  try {
    await decode(Buffer.from(text));
  } catch (error) {
    expect(
      NAMED.some((named) => error instanceof named),
      `${text} → ${String(error)}`,
    ).toBe(true);
  }
}

function clientOf(answer: (target: string) => string, type = JSON_TYPE): RestClient {
  return new RestClient({
    transport: {
      send: async ({ target }) => ({
        status: 200,
        headers: { 'content-type': type },
        body: Buffer.from(answer(target)),
      }),
      close: async () => {},
    },
    clock: new FakeClock(),
    userAgent: 'test',
  });
}

/** Discovery keeps the errors of single versions instead of throwing them. */
async function discovered(client: RestClient): Promise<void> {
  const { failedGroupVersions, resources } = await discover(client);
  for (const error of failedGroupVersions.values()) if (!NAMED.some((named) => error instanceof named)) throw error;
  for (const { resource, kind, verbs } of resources) {
    expect([typeof resource, typeof kind, Array.isArray(verbs)]).toEqual(['string', 'string', true]);
  }
}

const decoders: readonly (readonly [string, unknown, (bytes: Buffer) => unknown])[] = [
  ['a list, whole', list, (bytes) => decodeList(JSON.parse(bytes.toString()), 'pods')],
  [
    'a list, object by object',
    list,
    (bytes) => {
      const decoder = listDecoder(JSON_TYPE, (all, start, end) => {
        new MetadataReader().read(all, start, end);
      });
      decoder.push(bytes);
      return decoder.end();
    },
  ],
  [
    'an event of a watch',
    { type: 'MODIFIED', object },
    (bytes) => {
      const decoder = watchDecoder(JSON_TYPE, (type, { bytes: all, start, end }) => {
        if (type === 'ERROR') decodeStatus(all, start, end);
        else if (type === 'BOOKMARK') objectVersion(all, start, end);
        else new MetadataReader().read(all, start, end);
      });
      decoder.push(Buffer.concat([bytes, Buffer.from('\n')]));
    },
  ],
  ['a bookmark', object, (bytes) => objectVersion(bytes, 0, bytes.length)],
  ['metadata', object, (bytes) => new MetadataReader().read(bytes, 0, bytes.length)],
  ['a Status', status, (bytes) => decodeStatus(bytes, 0, bytes.length)],
  ['an error', status, (bytes) => expect(statusErrorOf(404, {}, bytes)).toBeInstanceOf(StatusError)],
  ['a version', { major: '1', minor: '36' }, (bytes) => serverVersion(clientOf(() => bytes.toString()))],
  [
    'discovery in its aggregated form',
    aggregated,
    (bytes) => discovered(clientOf(() => bytes.toString(), AGGREGATED_TYPE)),
  ],
  [
    'the resources of a version',
    resourceList,
    (bytes) => {
      const others: Readonly<Record<string, unknown>> = { '/api': { versions: ['v1'] }, '/apis': groups };
      return discovered(clientOf((target) => JSON.stringify(others[target]) ?? bytes.toString()));
    },
  ],
  [
    'the groups',
    groups,
    (bytes) =>
      discovered(
        clientOf((target) => {
          if (target === '/apis') return bytes.toString();
          return JSON.stringify(target === '/api' ? { versions: ['v1'] } : resourceList);
        }),
      ),
  ],
];

describe.each(decoders)('COL-048 the decoder of %s', (_what, document, decode) => {
  it('decodes any JSON value in place of each field, or throws an error with a name', async () => {
    await fc.assert(
      fc.asyncProperty(changed(document), (text) => answersOrNames(text, decode)),
      { numRuns: 400 },
    );
  });

  it('decodes what it is made for', async () => {
    await decode(Buffer.from(JSON.stringify(document)));
  });
});

it('COL-048 a list takes null, absent and empty items alike', () => {
  for (const items of [{ items: null }, {}, { items: [] }]) {
    expect(decodeList({ ...list, items: undefined, ...items }, 'pods').items).toEqual([]);
  }
});
