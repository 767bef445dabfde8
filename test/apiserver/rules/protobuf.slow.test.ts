import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodePartialObjectMetadataEnvelope } from '../../../src/api/codec/metadata/partial-object-metadata.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../src/api/codec/protobuf/protobuf.ts';
import { builtinResources } from '../../../src/api/kinds/builtin-resources.ts';
import { structFieldsOf, typeNameOf, typeNames } from '../../../src/api/kinds/type-table.ts';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { seededRandom } from '../../../src/base/random/random.ts';
import { typedObject } from '../../arbitraries/typed-object.ts';
import { samples } from '../samples.ts';

/** Section 25 through the handler: whatever is said in protobuf means what it means in JSON, kind by kind. */

const protobuf = 'application/vnd.kubernetes.protobuf';
const typed = samples.filter(({ kind }) => kind !== 'Widget').map((sample) => [sample.kind, sample] as const);

let inJson: TestServer;
let inProtobuf: TestServer;
beforeEach(async () => {
  // Two servers of the same seed and time give the same answers.
  inJson = await startTestServer({ clock: new FakeClock() });
  inProtobuf = await startTestServer({ clock: new FakeClock() });
});

describe('API-029 API-520 API-521 API-522 API-561', () => {
  it.each(typed)(
    '%s: created, replaced, read, listed and deleted',
    async (_kind, { collection, apiVersion, kind, object }) => {
      const target = `${collection}/${object.metadata?.name}`;
      const send = async (method: string, path: string, body?: KubeObject): Promise<[unknown, unknown]> => {
        const answer = await inProtobuf.request(method, path, {
          headers: { accept: protobuf, ...(body === undefined ? {} : { 'content-type': protobuf }) },
          ...(body === undefined ? {} : { body: encodeProtobuf(body) }),
        });
        expect(answer.headers['content-type']).toBe(protobuf);
        expect(Buffer.from(answer.bytes.subarray(0, 4)).toString()).toBe('k8s\0');
        const { json } = await inJson.request(method, path, body === undefined ? {} : { body });
        // An empty list is no list in protobuf, as for Go.
        const decoded = decodeProtobuf(answer.bytes);
        return ['items' in json ? { ...decoded, items: decoded['items'] ?? [] } : decoded, json];
      };
      const same = async (method: string, path: string, body?: KubeObject): Promise<KubeObject> => {
        const [left, right] = await send(method, path, body);
        expect(left).toEqual(right);
        return right as KubeObject;
      };
      const whole = { apiVersion, kind, ...object };
      await same('POST', `${collection}?fieldManager=m`, whole);
      const stored = await same('GET', target);
      await same('GET', collection);
      await same('PUT', `${target}?fieldManager=m`, {
        ...stored,
        metadata: { ...stored.metadata, labels: { changed: 'yes' } },
      });
      await same('GET', `${collection}?labelSelector=changed%3Dyes`);
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan', gracePeriodSeconds: 0 };
      await same('DELETE', target, options);
      await same('GET', collection);
      await same('GET', `${collection}/nosuch`);
    },
  );

  it('API-521 zero and absent differ where a pointer says so', async () => {
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    for (const [replicas, expected] of [
      [undefined, 1],
      [0, 0],
      [3, 3],
    ] as const) {
      const body = encodeProtobuf({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: `d${replicas}` },
        spec: { ...spec, ...(replicas === undefined ? {} : { replicas }) },
      });
      const { json } = await inProtobuf.request('POST', '/apis/apps/v1/namespaces/default/deployments', {
        body,
        headers: { 'content-type': protobuf, accept: `${protobuf};q=0,application/json` },
      });
      expect(json).toMatchObject({ spec: { replicas: expected }, status: {} });
    }
  });
});

describe('the table that messages are read and written by', () => {
  /** Its own fields and embedded messages; kind and apiVersion stand in the envelope and have no number. */
  const messages = typeNames()
    .map((typeName) => {
      const fields = structFieldsOf(typeName).filter(({ name, number }) => name !== '' || number > 0);
      return { typeName, numbers: fields.map(({ number }) => number) };
    })
    .filter(({ numbers }) => numbers.length > 0);

  it.each(messages)('API-525 $typeName has each number once, or has no protobuf form at all', ({ numbers }) => {
    const numbered = numbers.filter((number) => number > 0);
    expect([0, numbers.length]).toContain(numbered.length);
    expect(new Set(numbered).size).toBe(numbered.length);
  });

  it('API-525 knows the message of every kind that is served', () => {
    expect(messages.length).toBeGreaterThan(550);
    for (const { typeName, kind, verbs } of builtinResources()) {
      if (!verbs.includes('list')) continue;
      const message = messages.find((each) => each.typeName === typeName);
      expect([kind, message?.numbers.every((number) => number > 0)]).toEqual([kind, true]);
    }
  });

  it('API-526 the metadata that is written by hand reads as what the table writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) => {
        const { metadata = {} } = typedObject(seededRandom(seed), typeNameOf('v1', 'ConfigMap') ?? '') as KubeObject;
        const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
        expect(decodeProtobuf(encodePartialObjectMetadataEnvelope(metadata))).toEqual(
          decodeProtobuf(encodeProtobuf(partial)),
        );
      }),
    );
  });
});
