import { describe, expect, it } from 'vitest';
import { encodePartialObjectMetadataList } from '../../api/codec/partial-object-metadata.ts';
import { systemClock } from '../../base/clock.ts';
import { TransientObject } from '../registry/served-object.ts';
import { protobufMetadataList } from './protobuf-metadata-list.ts';

const objects = (count: number, bytes: number): TransientObject[] =>
  Array.from({ length: count }, (_, i) => {
    const annotations = { filler: 'x'.repeat(bytes) };
    return new TransientObject({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: `pod-${i}`, uid: `${i}`, annotations },
    });
  });

describe('a list of metadata in protobuf', () => {
  it.each([
    [0, 0],
    [1, 10],
    [256, 10],
    [5_000, 10],
    [900, 20_000],
  ])('API-523 %i items of %i bytes: the bytes are those of the list made at once', async (count, bytes) => {
    const items = objects(count, bytes);
    const metadata = { resourceVersion: '7', remainingItemCount: 3 };
    const body = await protobufMetadataList({ items, metadata, clock: systemClock });
    const pieces: Uint8Array[] = [];
    if (body instanceof Uint8Array) pieces.push(body);
    else for await (const piece of body) pieces.push(piece);
    const expected = encodePartialObjectMetadataList(
      items.map((item) => item.metadata()),
      metadata,
    );
    expect(Buffer.concat(pieces).equals(expected)).toBe(true);
    if (bytes * count > 16 * 1024 * 1024) expect(pieces.length).toBeGreaterThan(3);
  });
});
