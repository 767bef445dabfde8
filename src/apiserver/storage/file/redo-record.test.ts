import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChangeEntry } from '../embedded/change-entry.ts';
import { Change } from '../embedded/mvcc.ts';
import { RECORD_ALIGNMENT, STORE_ID_BYTES, readRedoRecord, redoRecordSize, writeRedoRecord } from './redo-record.ts';

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const change = fc
  .record({
    key: fc.string({ unit: 'grapheme', maxLength: 30 }),
    value: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
    createRevision: revision,
    modRevision: revision,
  })
  .map((kv) => new Change(kv));
const id = fc.uint8Array({ minLength: STORE_ID_BYTES, maxLength: STORE_ID_BYTES });
const written = fc
  .record({
    header: fc.record({ id, sequence: revision, compacted: revision }),
    commit: fc.record({ changes: fc.array(change, { maxLength: 5 }), forget: fc.array(revision, { maxLength: 5 }) }),
  })
  .map(({ header, commit }) => {
    // The log had other content before, which continues behind the record.
    const log = Buffer.alloc(redoRecordSize(commit) + 2 * RECORD_ALIGNMENT, 0xa5);
    const end = writeRedoRecord(log, RECORD_ALIGNMENT, header, commit);
    return { header, commit, log, end };
  });

describe('redo records', () => {
  it('come back as they were written, and say where the next one begins', () => {
    fc.assert(
      fc.property(written, ({ header, commit, log, end }) => {
        const found = readRedoRecord(log, RECORD_ALIGNMENT, header.id);
        expect(found?.next).toBe(log.length - RECORD_ALIGNMENT);
        expect(end).toBeLessThanOrEqual(log.length - RECORD_ALIGNMENT);
        expect(log.subarray(end).every((byte) => byte === 0xa5)).toBe(true);
        expect(found?.record).toMatchObject({ sequence: header.sequence, compacted: header.compacted });
        expect(found?.record.forget).toEqual(commit.forget);
        const changes = found!.record.entries.map(({ revision: modRevision, bytes }) =>
          readChangeEntry(
            { buffer: bytes, length: bytes.length },
            modRevision,
            (source, start, end) => new Uint8Array(source.subarray(start, end)),
          ),
        );
        expect(changes).toEqual(
          commit.changes.map(({ key, value, createRevision, modRevision }) => ({
            key,
            value,
            createRevision,
            modRevision,
          })),
        );
      }),
    );
  });

  it('are not read with a flipped bit, cut off, beside where they begin, or as those of another store', () => {
    fc.assert(
      fc.property(written, fc.nat(), fc.nat(7), id, ({ header, log, end }, at, bit, other) => {
        fc.pre(Buffer.compare(header.id, other) !== 0);
        const length = end - RECORD_ALIGNMENT;
        const damaged = Buffer.from(log);
        damaged[RECORD_ALIGNMENT + (at % length)]! ^= 1 << bit;
        expect(readRedoRecord(damaged, RECORD_ALIGNMENT, header.id)).toBeUndefined();
        expect(readRedoRecord(log.subarray(0, end - 1), RECORD_ALIGNMENT, header.id)).toBeUndefined();
        expect(readRedoRecord(log, RECORD_ALIGNMENT, other)).toBeUndefined();
        expect(readRedoRecord(log, 0, header.id)).toBeUndefined();
        expect(readRedoRecord(log, log.length, header.id)).toBeUndefined();
        expect(readRedoRecord(log.subarray(0, end), RECORD_ALIGNMENT, header.id)).toBeDefined();
      }),
    );
  });
});
