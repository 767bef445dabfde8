import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePartialObjectMetadataEnvelope } from '../../api/codec/metadata/partial-object-metadata.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { StoredObject, encodeStored } from './stored-object.ts';

function stored(object: KubeObject, revision = 42): StoredObject {
  return new StoredObject({ key: '/k', value: encodeStored(object), createRevision: 7, modRevision: revision });
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Names and strings that could confuse a reader that does not parse. */
const tricky = fc.oneof(
  fc.constantFrom('"metadata":{', '\\"metadata\\":{', '}', '{', '"', '\\', '\\"}', 'metadata', '\u2028', 'ü😀'),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const object: fc.Arbitrary<KubeObject> = fc.record(
  {
    kind: tricky,
    apiVersion: tricky,
    metadata: fc.record(
      {
        name: tricky,
        resourceVersion: fc.constant('1'),
        labels: fc.dictionary(tricky, tricky, { maxKeys: 3, noNullPrototype: true }),
        finalizers: fc.array(tricky, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    data: fc.dictionary(tricky, tricky, { maxKeys: 3, noNullPrototype: true }),
    // JSON has no negative zero.
    spec: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  },
  { requiredKeys: ['kind', 'apiVersion'] },
);

const expected = (o: KubeObject, revision: string): unknown => ({
  ...o,
  metadata: { ...o.metadata, resourceVersion: revision },
});

describe('StoredObject', () => {
  it('API-076 puts the revision into the stored bytes, whatever the object contains', () => {
    fc.assert(
      fc.property(object, (o) => {
        const same = JSON.parse(JSON.stringify(o)) as KubeObject;
        expect(JSON.parse(text(stored(o).json()))).toEqual(expected(same, '42'));
        expect(stored(o).object()).toEqual(expected(same, '42'));
        expect(stored(o).metadata()).toEqual({ ...same.metadata, resourceVersion: '42' });
        expect(o).toEqual(same);
      }),
      { numRuns: 300 },
    );
  });

  it('shows the metadata of an object that was parsed under another revision', () => {
    fc.assert(
      fc.property(object, (o) => {
        const same = JSON.parse(JSON.stringify(o)) as KubeObject;
        const before = stored(o);
        const parsed = stored(o).at(43);
        expect(
          new StoredObject({ key: '/k', value: before.stored, createRevision: 7, modRevision: 42 }).object(),
        ).toEqual(expected(same, '42'));
        expect(before.at(44).metadata()).toEqual({ ...same.metadata, resourceVersion: '44' });
        expect(before.at(45).metadata()).toEqual({ ...same.metadata, resourceVersion: '45' });
        expect(before.object()).toEqual(expected(same, '42'));
        expect(parsed.metadata()).toEqual({ ...same.metadata, resourceVersion: '43' });
      }),
      { numRuns: 100 },
    );
  });

  it('API-243 shows what decides about a deletion, parsed before or not', () => {
    fc.assert(
      fc.property(object, (o) => {
        const { name, finalizers } = o.metadata ?? {};
        const deciding = {
          ...(name === undefined ? {} : { name }),
          ...(finalizers === undefined ? {} : { finalizers }),
          resourceVersion: '42',
        };
        expect(stored(o).deletionMetadata()).toEqual(deciding);
        const parsed = stored(o);
        parsed.object();
        expect(parsed.deletionMetadata()).toMatchObject(deciding);
      }),
    );
  });

  it('stores kind, apiVersion and metadata first, and no resourceVersion', () => {
    const o = { spec: { a: 1 }, metadata: { name: 'n', resourceVersion: '9' }, apiVersion: 'v1', kind: 'Pod' };
    expect(text(encodeStored(o))).toBe('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"},"spec":{"a":1}}');
    expect(text(stored(o, 43).json())).toBe(
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"43","name":"n"},"spec":{"a":1}}',
    );
    expect(text(stored({ kind: 'Pod', apiVersion: 'v1' }).json())).toBe(
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"42"}}',
    );
  });

  it('encodes metadata as protobuf, parsed as a whole before or not', () => {
    const o: KubeObject = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n', uid: 'u' }, spec: {} };
    const envelope = encodePartialObjectMetadataEnvelope({ name: 'n', uid: 'u', resourceVersion: '42' });
    expect(stored(o).metadataEnvelope()).toEqual(envelope);
    const parsed = stored(o);
    parsed.object();
    expect(parsed.metadataEnvelope()).toEqual(envelope);
  });

  it('makes each form once, and again after its caches were dropped', () => {
    const s = stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n' } });
    const forms = () => [s.object(), s.metadata(), s.json(), s.metadataEnvelope()];
    const first = forms();
    for (const [i, form] of forms().entries()) expect(form).toBe(first[i]);
    s.dropCaches();
    for (const [i, form] of forms().entries()) {
      expect(form).not.toBe(first[i]);
      expect(form).toEqual(first[i]);
    }
  });

  it('API-126 shows the same content under another revision', () => {
    const later = stored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n' } }).at(50);
    expect(later).toMatchObject({ key: '/k', revision: 50, createRevision: 7 });
    expect(later.object().metadata).toEqual({ name: 'n', resourceVersion: '50' });
  });
});
