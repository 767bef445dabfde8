import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typedObjectArbitrary } from '../../../../test/arbitraries/typed-object.ts';
import { META_V1 } from '../../kinds/type-table.ts';
import type { ObjectMeta } from '../../meta/object-meta.ts';
import {
  encodeListItems,
  encodePartialObjectMetadataEnvelope,
  measureListItems,
  partialObjectMetadataListFrame,
  transcodePartialObjectMetadataEnvelope,
} from './partial-object-metadata.ts';
import { encodeProtobuf } from '../protobuf/protobuf.ts';

const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');
const anything = typedObjectArbitrary(`${META_V1}.ObjectMeta`) as fc.Arbitrary<ObjectMeta>;

/** Metadata as API servers store it. */
const names = fc.constantFrom('a', 'web-frontend-5d8f', 'x'.repeat(80), 'ünïcode', 'app.kubernetes.io/name', 'Z');
const texts = fc.oneof(
  { weight: 20, arbitrary: names },
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constant('say "so"\n') },
);
const times = fc.constantFrom(
  '2026-11-21T15:04:05Z',
  '1970-01-01T00:00:00Z',
  '2000-02-29T23:59:59Z',
  '9999-12-31T23:59:59Z',
);
const keys = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('b', 'a', 'app', 'app.kubernetes.io/name', 'app-') },
  { weight: 1, arbitrary: fc.constantFrom('ä', 'á') },
);
const maps = fc.dictionary(keys, texts, { maxKeys: 4 });
const fields = fc.constantFrom(
  {},
  { 'f:metadata': { 'f:labels': { '.': {}, 'f:a"}': {} } } },
  { 'k:{"name":"x"}': {} },
);
const stored: fc.Arbitrary<ObjectMeta> = fc.record(
  {
    name: names,
    generateName: names,
    namespace: names,
    selfLink: fc.constant(''),
    uid: fc.uuid(),
    generation: fc.constantFrom(0, 1, 300, 2 ** 40),
    creationTimestamp: times,
    deletionTimestamp: times,
    deletionGracePeriodSeconds: fc.constantFrom(0, 30),
    labels: maps,
    annotations: maps,
    ownerReferences: fc.array(
      fc.record(
        {
          apiVersion: names,
          kind: names,
          name: names,
          uid: fc.uuid(),
          controller: fc.boolean(),
          blockOwnerDeletion: fc.boolean(),
        },
        { requiredKeys: ['apiVersion', 'kind', 'name', 'uid'] },
      ),
      { maxLength: 3 },
    ),
    finalizers: fc.array(names, { maxLength: 3 }),
    managedFields: fc.array(
      fc.record(
        {
          manager: texts,
          operation: fc.constantFrom('Apply' as const, 'Update' as const),
          apiVersion: names,
          time: times,
          fieldsType: fc.constant('FieldsV1'),
          fieldsV1: fields,
          subresource: fc.constant('status'),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);

function textOf(meta: ObjectMeta): { json: Uint8Array; start: number; resourceVersion: string } {
  const before = '{"kind":"Pod","metadata":';
  const { resourceVersion = '', ...rest } = meta;
  return { json: Buffer.from(`${before}${JSON.stringify(rest)},"spec":{}}`), start: before.length, resourceVersion };
}

describe('metadata from JSON text to protobuf', () => {
  it('API-524 the bytes are those that come by way of an object, or it is left to that way', () => {
    let copied = 0;
    const check = (meta: ObjectMeta): void => {
      const transcoded = transcodePartialObjectMetadataEnvelope(textOf(meta));
      if (transcoded === undefined) return;
      copied++;
      expect(hex(transcoded)).toBe(hex(encodePartialObjectMetadataEnvelope(meta)));
    };
    fc.assert(
      fc.property(stored, fc.nat(), (meta, revision) => check({ ...meta, resourceVersion: String(revision) })),
      {
        numRuns: 2_000,
      },
    );
    expect(copied).toBeGreaterThan(300);
    fc.assert(fc.property(anything, check), { numRuns: 1_000 });
  });

  it('API-520 takes what is stored as a rule, with the envelope too', () => {
    const meta: ObjectMeta = {
      name: 'web',
      namespace: 'default',
      uid: '0b6a4d3e-9f1c-4e7a-8a51-0c2d3e4f5a6b',
      resourceVersion: '4711',
      generation: 3,
      creationTimestamp: '2026-11-21T12:00:00Z',
      labels: { tier: 'front', app: 'web' },
      annotations: { note: 'x'.repeat(300) },
      finalizers: ['foregroundDeletion'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', blockOwnerDeletion: true }],
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-11-21T12:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': {} },
        },
      ],
    };
    expect(hex(transcodePartialObjectMetadataEnvelope(textOf(meta)))).toBe(
      hex(encodePartialObjectMetadataEnvelope(meta)),
    );
  });

  it.each([
    ['an escape', '{"name":"a\\u0062"}'],
    ['null', '{"creationTimestamp":null}'],
    ['a member nobody knows', '{"clusterName":"a"}'],
    ['white space', '{ "name":"a"}'],
    ['a time that is none', '{"creationTimestamp":"2026-11-21T15:04:0xZ"}'],
    ['a time with a fraction', '{"creationTimestamp":"2026-11-21T15:04:05.1Z"}'],
    ['a number with a sign', '{"generation":-1}'],
    ['a number with an exponent', '{"generation":1e3}'],
    ['a list where an object should be', '{"labels":[]}'],
    ['an end that does not come', '{"name":"a"'],
    ['a string that does not end', '{"name":"a'],
    ['fields that do not end', '{"managedFields":[{"fieldsV1":{"a":{}'],
    ['nothing', ''],
  ])('leaves %s to the parser', (_what, text) => {
    const metadata = { json: Buffer.from(text), start: 0, resourceVersion: '1' };
    expect(transcodePartialObjectMetadataEnvelope(metadata)).toBeUndefined();
  });

  it('API-524 a list that leaves while it is made has the bytes that the table-driven codec makes of it at once', () => {
    const lists = fc.constantFrom({}, { resourceVersion: '12', continue: 'abc', remainingItemCount: 7 });
    fc.assert(
      fc.property(fc.array(stored, { maxLength: 5 }), fc.boolean(), lists, (metas, fromText, list) => {
        const sources = metas.map((meta) => ({
          metadata: () => meta,
          metadataText: () => (fromText ? textOf(meta) : undefined),
          keptText: () => undefined,
        }));
        const items = encodeListItems(sources);
        expect(measureListItems(sources)).toBe(items.length);
        const { head, tail } = partialObjectMetadataListFrame(list, items.length);
        const whole = {
          apiVersion: 'meta.k8s.io/v1',
          kind: 'PartialObjectMetadataList',
          metadata: list as ObjectMeta,
          items: metas.map((metadata) => ({ metadata })),
        };
        expect(hex(Buffer.concat([head, items, tail]))).toBe(hex(encodeProtobuf(whole)));
      }),
    );
  });
});
