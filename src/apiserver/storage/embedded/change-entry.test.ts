import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangeEntryError, changeEntrySize, readChangeEntry, writeChangeEntry } from './change-entry.ts';
import { Change } from './mvcc.ts';

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const change = fc
  .record({
    key: fc.string({ unit: 'grapheme', maxLength: 30 }),
    value: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
    createRevision: revision,
    modRevision: revision,
  })
  .map((kv) => new Change(kv));

function encoded(c: Change): Buffer {
  const bytes = Buffer.alloc(changeEntrySize(c) + 5, 0xff);
  expect(writeChangeEntry(bytes, 5, c)).toBe(bytes.length);
  return bytes.subarray(5);
}

const read = (bytes: Buffer, modRevision: number): unknown =>
  readChangeEntry(
    { buffer: bytes, length: bytes.length },
    modRevision,
    (source, start, end) => new Uint8Array(source.subarray(start, end)),
  );

describe('change entries', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(change, (c) => {
        const { key, value, createRevision, modRevision } = c;
        expect(read(encoded(c), modRevision)).toEqual({ key, value, createRevision, modRevision });
      }),
    );
  });

  it('detect a flipped bit, a missing end and a wrong revision', () => {
    fc.assert(
      fc.property(change, fc.nat(), fc.nat(7), (c, at, bit) => {
        const damaged = Buffer.from(encoded(c));
        const i = at % damaged.length;
        damaged[i] = (damaged[i] ?? 0) ^ (1 << bit);
        expect(() => read(damaged, c.modRevision)).toThrow(ChangeEntryError);
        expect(() => read(encoded(c).subarray(0, -1), c.modRevision)).toThrow(ChangeEntryError);
        const other = c.modRevision === 1 ? 2 : c.modRevision - 1;
        expect(() => read(encoded(c), other)).toThrow(ChangeEntryError);
      }),
    );
  });
});
