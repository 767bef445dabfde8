import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../meta/object-meta.ts';
import { MetadataTemplates } from './metadata-template.ts';
import {
  encodeListItems,
  knownListLength,
  type KeptText,
  measureListItems,
  type MetadataSource,
  partialObjectMetadataListFrame,
} from './partial-object-metadata.ts';
import { encodeProtobuf } from '../protobuf/protobuf.ts';

/** An object as a store keeps it. */
class Kept implements MetadataSource {
  readonly #meta: ObjectMeta;
  readonly #text: KeptText;
  readonly #start: number;
  read = 0;

  constructor(meta: ObjectMeta) {
    const before = '{"kind":"Pod","apiVersion":"v1","metadata":';
    const { resourceVersion = '', ...rest } = meta;
    this.#meta = meta;
    this.#start = before.length;
    const value = Buffer.from(`${before}${JSON.stringify(rest)},"spec":{}}`);
    this.#text = { value, modRevision: Number(resourceVersion) };
  }

  metadata(): ObjectMeta {
    this.read++;
    return this.#meta;
  }

  metadataText() {
    this.read++;
    const { value, modRevision } = this.#text;
    return { json: value, start: this.#start, resourceVersion: String(modRevision) };
  }

  keptText(): KeptText {
    return this.#text;
  }
}

/** Few lengths and positions, so that many objects share a template, but many contents. */
const letters = (length: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'Z', '7', 'é'), minLength: length, maxLength: length });
const name = fc.oneof(
  { weight: 60, arbitrary: fc.oneof(letters(3), letters(70)) },
  { weight: 1, arbitrary: fc.constantFrom('"', '') },
);
const time = fc
  .oneof(
    { weight: 20, arbitrary: fc.integer({ min: Date.UTC(1979, 0) / 1000, max: Date.UTC(2999, 0) / 1000 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, Date.UTC(1975, 0) / 1000, Date.UTC(9999, 0) / 1000) },
  )
  .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
const map = fc.oneof(
  fc.record({ app: name, tier: name }),
  fc.record({ tier: name, app: name }),
  fc.dictionary(letters(1), name, { maxKeys: 2, noNullPrototype: true }),
);
const metadata: fc.Arbitrary<ObjectMeta> = fc.record(
  {
    name,
    namespace: name,
    uid: letters(36),
    resourceVersion: fc.integer({ min: 1, max: 10 ** 9 }).map(String),
    generation: fc.constantFrom(0, 1, 300, 2 ** 40),
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: fc.constantFrom(0, 30),
    labels: map,
    annotations: map,
    finalizers: fc.array(name, { maxLength: 2 }),
    ownerReferences: fc.array(
      fc.record({
        apiVersion: fc.constant('v1'),
        kind: name,
        name,
        uid: letters(36),
        controller: fc.boolean(),
        blockOwnerDeletion: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    managedFields: fc.array(
      fc.record({
        manager: name,
        operation: fc.constantFrom('Apply' as const, 'Update' as const),
        apiVersion: fc.constant('v1'),
        time,
        fieldsType: fc.constant('FieldsV1'),
        fieldsV1: fc.record({ 'f:metadata': fc.dictionary(letters(2), fc.constant({}), { maxKeys: 2 }) }),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['resourceVersion'] },
);

/** Another object of the same shape. */
const sibling = (meta: ObjectMeta): ObjectMeta => {
  const other = (text = ''): string => text.replaceAll('a', 'x').replaceAll('7', 'y');
  return {
    ...meta,
    ...(meta.name === undefined ? {} : { name: other(meta.name) }),
    ...(meta.uid === undefined ? {} : { uid: other(meta.uid) }),
    ...(typeof meta.creationTimestamp === 'string' ? { creationTimestamp: '2026-11-21T15:04:05Z' } : {}),
    resourceVersion: String(meta.resourceVersion).replaceAll('2', '5'),
  };
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const listed = (items: Uint8Array): string => {
  const { head, tail } = partialObjectMetadataListFrame({}, items.length);
  return hex(Buffer.concat([head, items, tail]));
};
const whole = (metas: readonly ObjectMeta[]): string =>
  hex(
    encodeProtobuf({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadataList',
      metadata: {},
      items: metas.map((each) => ({ metadata: each })),
    }),
  );

describe('templates of metadata', () => {
  it('API-524 lists are those of the table-driven codec, the first time and every other', () => {
    let shared = 0;
    fc.assert(
      fc.property(metadata, fc.boolean(), (meta, measured) => {
        const metas = [meta, sibling(meta)];
        const expected = whole(metas);
        const items = metas.map((each) => new Kept(each));
        if (measured) expect(measureListItems(items)).toBe(encodeListItems(items).length);
        expect(listed(encodeListItems(items))).toBe(expected);
        const read = items.map((kept) => kept.read);
        expect(listed(encodeListItems(items))).toBe(expected);
        expect(measureListItems(items)).toBe(encodeListItems(items).length);
        const [left, right] = items.map((kept) => kept.keptText().listItem);
        if (typeof left !== 'object' || left !== right) return;
        expect(items.map((kept) => kept.read)).toEqual(read);
        shared++;
      }),
      { numRuns: 2_000 },
    );
    expect(shared).toBeGreaterThan(500);
  });

  const pod = (i: number): ObjectMeta => ({
    name: `web-7d9f-${String(i).padStart(5, 'x')}`,
    resourceVersion: String(1000 + i),
    generation: 1,
    creationTimestamp: `2026-11-21T15:04:${10 + (i % 50)}Z`,
    labels: { app: 'web', number: String(i).padStart(4, '0') },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'ReplicaSet', name: 'web-7d9f', uid: 'u', controller: true, blockOwnerDeletion: true },
    ],
  });

  it('API-524 objects made alike share one, and nothing of them is read after the first list', () => {
    const pods = Array.from({ length: 500 }, (_, i) => new Kept(pod(i)));
    expect(knownListLength(pods)).toBeUndefined();
    expect(measureListItems(pods)).toBe(knownListLength(pods));
    expect(new Set(pods.map((kept) => kept.keptText().listItem)).size).toBe(1);
    const read = pods.reduce((sum, kept) => sum + kept.read, 0);
    expect(listed(encodeListItems(pods))).toBe(whole(pods.map((_, i) => pod(i))));
    measureListItems(pods);
    expect(pods.reduce((sum, kept) => sum + kept.read, 0)).toBe(read);
  });

  it.each([
    ['generation', { generation: 2 }],
    ['controller', { ownerReferences: [{ ...pod(1).ownerReferences![0]!, controller: false }] }],
    ['a shorter name', { name: 'web' }],
    ['one digit more of resourceVersion', { resourceVersion: '10000' }],
    ['labels in another order', { labels: { number: '0001', app: 'web' } }],
    ['a time of another length', { creationTimestamp: '1975-01-01T00:00:00Z' }],
  ])('API-524 what differs in %s has another one, or none', (_what, other) => {
    const kept = [new Kept(pod(1)), new Kept({ ...pod(1), ...other })];
    measureListItems(kept);
    const [left, right] = kept.map((each) => each.keptText().listItem);
    expect(typeof left).toBe('object');
    expect(right).not.toBe(left);
    expect(listed(encodeListItems(kept))).toBe(whole([pod(1), { ...pod(1), ...other }]));
  });

  it('API-524 where there is no template the length is kept', () => {
    const escaped = new Kept({ ...pod(1), name: 'a"' });
    const length = measureListItems([escaped]);
    expect(escaped.keptText().listItem).toBe(length);
    expect(encodeListItems([escaped])).toHaveLength(length);
  });

  it('takes no more than its bound, and no template that does not make the message', () => {
    const templates = new MetadataTemplates(2_000);
    const source = { value: new Uint8Array(0), modRevision: 1 };
    let made = 0;
    for (let i = 1; i < 100; i++) {
      // A constant message. Each one has another length.
      if (templates.of(new Uint8Array(i), [3, i, 0, 0], source) !== undefined) made++;
    }
    expect(made).toBeGreaterThan(1);
    expect(made).toBeLessThan(10);
    expect(templates.bytes).toBeLessThanOrEqual(2_000);
    const revision = [2, 0, 0, 1];
    expect(new MetadataTemplates().of(Buffer.from('1'), revision, source)).toBeDefined();
    expect(new MetadataTemplates().of(Buffer.from('2'), revision, source)).toBeUndefined();
    expect(new MetadataTemplates().of(new Uint8Array(100_000), [], source)).toBeUndefined();
  });
});
