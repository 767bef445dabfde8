import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkWriter } from './chunk-writer.ts';

const MOST = 256 * 1024;
const piece = fc.record({
  text: fc.constantFrom('', '{', '},{'),
  length: fc.oneof(fc.nat(100), fc.nat(20_000), fc.constantFrom(MOST - 1, MOST, MOST + 1, 3 * MOST)),
  skip: fc.nat(50),
});

describe('ChunkWriter', () => {
  it('passes on every byte in its order, in chunks of a bounded size', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const writer = new ChunkWriter();
        const [expected, chunks]: [Uint8Array[], Uint8Array[]] = [[], []];
        for (const [index, { text, length, skip }] of pieces.entries()) {
          const bytes = Buffer.alloc(length, index);
          writer.text(text);
          writer.bytes(bytes, Math.min(skip, length));
          expected.push(Buffer.from(text), bytes.subarray(skip));
          for (const chunk of writer.taken()) chunks.push(Buffer.from(chunk));
        }
        chunks.push(...writer.rest());
        expect(Buffer.concat(chunks).equals(Buffer.concat(expected))).toBe(true);
        const longest = Math.max(MOST, ...pieces.map(({ length }) => length));
        expect(chunks.every(({ length }) => length > 0 && length <= longest)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('has nothing to say about nothing', () => {
    expect([...new ChunkWriter().rest()]).toEqual([]);
  });
});
