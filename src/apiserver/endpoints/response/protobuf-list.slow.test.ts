import { describe, expect, it } from 'vitest';
import { encodeProtobuf } from '../../../api/codec/protobuf/protobuf.ts';
import { builtinResources } from '../../../api/kinds/builtin-resources.ts';
import { fieldOf, typeNameOf } from '../../../api/kinds/type-table.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type ServedObject, TransientObject } from '../../registry/object/served-object.ts';
import { encodeStored, StoredObject } from '../../storage/stored-object.ts';
import { type ListEncoding, metadataEncoding, protobufList, typedEncoding } from './protobuf-list.ts';

const objects = (count: number, bytes: number): TransientObject[] =>
  Array.from({ length: count }, (_, i) => {
    const annotations = { filler: 'x'.repeat(bytes) };
    return new TransientObject({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: `pod-${i}`, uid: `${i}`, annotations },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
  });

async function written(items: readonly ServedObject[], encoding: ListEncoding): Promise<Uint8Array[]> {
  const body = await protobufList({ items, metadata, clock: systemClock, encoding });
  const pieces: Uint8Array[] = [];
  if (body instanceof Uint8Array) pieces.push(body);
  else for await (const piece of body) pieces.push(piece);
  return pieces;
}

const metadata = { resourceVersion: '7', remainingItemCount: 3 };
const sizes = [
  [0, 0],
  [1, 10],
  [256, 10],
  [5_000, 10],
  [900, 20_000],
] as const;

describe('a list in protobuf', () => {
  it.each(sizes)('API-523 %i items of %i bytes: metadata as in the list made at once', async (count, bytes) => {
    const items = objects(count, bytes);
    const pieces = await written(items, metadataEncoding);
    const expected = encodeProtobuf({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadataList',
      metadata,
      items: items.map((item) => ({ metadata: item.metadata() })),
    });
    expect(Buffer.concat(pieces).equals(expected)).toBe(true);
    if (bytes * count > 16 * 1024 * 1024) expect(pieces.length).toBeGreaterThan(3);
  });

  it('API-523 of stored objects is the same the first time and later, when lengths are known', async () => {
    const kvs = objects(5_000, 100).map((item, i) => ({
      key: `/registry/core/pods/default/pod-${i}`,
      value: encodeStored(item.object()),
      createRevision: 1,
      modRevision: i + 1,
    }));
    const expected = encodeProtobuf({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadataList',
      metadata,
      items: kvs.map((kv) => ({ metadata: new StoredObject(kv).metadata() })),
    });
    const times: number[] = [];
    for (let time = 0; time < 2; time++) {
      const pieces = await written(
        kvs.map((kv) => new StoredObject(kv)),
        metadataEncoding,
      );
      expect(Buffer.concat(pieces).equals(expected)).toBe(true);
      times.push(pieces.length);
    }
    // Encoded once to be measured, and kept; then encoded in batches.
    expect(times).toEqual([1, Math.ceil(5_000 / 256) + 2]);
  });

  it.each(sizes)('API-520 %i items of %i bytes: whole objects as in the list made at once', async (count, bytes) => {
    const items = objects(count, bytes);
    const type = { apiVersion: 'v1', kind: 'PodList' };
    const pieces = await written(items, typedEncoding('api/core/v1.Pod', type));
    const expected = encodeProtobuf({ ...type, metadata, items: items.map((item) => item.object()) });
    expect(Buffer.concat(pieces).equals(expected)).toBe(true);
    if (bytes * count > 16 * 1024 * 1024) expect(pieces.length).toBeGreaterThan(3);
  });

  it.each([
    ['metadata', 4_000_000, metadataEncoding],
    ['whole objects', 256_000, typedEncoding('api/core/v1.Pod', { apiVersion: 'v1', kind: 'PodList' })],
  ])('API-520 API-523 the larger items are, the fewer leave at once: %s', async (_what, most, encoding) => {
    const large = 300_000;
    const items = [...objects(1_000, 10), ...objects(60, large), ...objects(1_000, 10)].map(
      (item, i) =>
        new StoredObject({ key: `/${i}`, value: encodeStored(item.object()), createRevision: 1, modRevision: i + 1 }),
    );
    const lengths = (await written(items, encoding)).map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(most + 1.1 * large);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(60 * large);
  });

  it('API-520 memory made for sending an object is released, so that a long list is never held twice', async () => {
    const kvs = objects(3, 100).map((item, i) => ({
      key: `/registry/core/pods/default/pod-${i}`,
      value: encodeStored(item.object()),
      createRevision: 1,
      modRevision: i + 1,
    }));
    const items = kvs.map((kv) => new StoredObject(kv));
    const [before] = items.map((item) => item.object());
    await written(items, typedEncoding('api/core/v1.Pod', { apiVersion: 'v1', kind: 'PodList' }));
    expect(items[0]?.object()).not.toBe(before);
    expect(items[0]?.object()).toEqual(before);
  });

  it('API-520 lists of every kind have their metadata and items where the frame puts them', () => {
    for (const info of builtinResources().filter(({ verbs }) => verbs.includes('list'))) {
      const typeName = typeNameOf(apiVersionOf(info), info.listKind) ?? '';
      expect([info.listKind, fieldOf(typeName, 'metadata')?.number, fieldOf(typeName, 'items')?.number]).toEqual([
        info.listKind,
        1,
        2,
      ]);
      expect(fieldOf(typeName, 'items')?.type).toBe(info.typeName);
    }
  });
});
