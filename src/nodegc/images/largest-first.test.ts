import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageRecord } from '../inventory/image-records.ts';
import { LargestFirst } from './largest-first.ts';

function recordOf(key: string, size: bigint, lastUsed: bigint): ImageRecord {
  const image = { id: key, runtimeHandler: '', tags: [], digests: [], size, pinned: false };
  return { key, image, firstDetected: 0n, lastUsed, users: [] };
}

/** Few values, so that many are equal; some differ only beyond 2^53. */
const amount = fc.constantFrom(0n, 1n, 2n, 9_007_199_254_740_992n, 9_007_199_254_740_993n);

describe('LargestFirst', () => {
  it('NODE-203 gives images by the bytes that they free, then by size, then the least recently used, whenever they are put in', () => {
    const images = fc.array(fc.record({ bytes: amount, size: amount, lastUsed: fc.bigInt(0n, 2n) }), { maxLength: 60 });
    fc.assert(
      fc.property(images, fc.nat(60), (all, later) => {
        const entries = all.map(({ bytes, size, lastUsed }, n) => ({
          record: recordOf(`${n}`, size, lastUsed),
          bytes,
        }));
        const [first, rest] = [entries.slice(later), entries.slice(0, later)];
        const heap = new LargestFirst(
          first.map(({ record }) => record),
          first.map(({ bytes }) => bytes),
        );
        for (const { record, bytes } of rest) heap.push(record, bytes);
        const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
        const expected = entries.toSorted(
          (a, b) =>
            order(b.bytes, a.bytes) ||
            order(b.record.image.size, a.record.image.size) ||
            order(a.record.lastUsed!, b.record.lastUsed!) ||
            (a.record.key < b.record.key ? -1 : 1),
        );
        const seen: string[] = [];
        for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
          seen.push(top.record.key);
          heap.pop();
        }
        expect(seen).toEqual(expected.map(({ record }) => record.key));
      }),
    );
  });
});
