import { crc32 } from 'node:zlib';
import { changeEntrySize, writeChangeEntry } from '../embedded/change-entry.ts';
import type { Revision } from '../interface.ts';
import type { JournalCommit } from '../embedded/journal.ts';

/**
 * One commit as bytes in a redo log:
 *
 *     u32 crc of all that follows | u32 length | 16 bytes id of the store | f64 sequence | f64 compacted
 *     | u32 revisions to forget | u32 changes | f64 each revision to forget | each change: f64 revision, u32 length, entry
 *
 * Little endian; an entry is that of `change-entry.ts`. `length` counts the whole record. A record begins at a multiple of
 * {@link RECORD_ALIGNMENT}, so that a record behind a damaged one can be found.
 */
const HEADER = 48;
const LENGTH_AT = 4;
const ID_AT = 8;
const SEQUENCE_AT = 24;
const COMPACTED_AT = 32;
const FORGET_AT = 40;
const CHANGES_AT = 44;
const PER_FORGET = 8;
const PER_CHANGE = 12;

export const RECORD_ALIGNMENT = 512;
export const STORE_ID_BYTES = 16;

/** An entry of `change-entry.ts` under its revision. */
export interface JournalEntry {
  readonly revision: Revision;
  readonly bytes: Buffer;
}

export interface RedoRecord {
  /** Counts the commits of a store from 1 on, without a gap. No two acknowledged commits have the same number. */
  readonly sequence: number;
  /** The compacted revision after this commit. */
  readonly compacted: Revision;
  readonly forget: readonly Revision[];
  /** Views of the buffer that the record was read from. */
  readonly entries: readonly JournalEntry[];
}

/** Bytes from the start of this record to the first possible start of the next one. */
export function redoRecordSize({ changes, forget }: JournalCommit): number {
  let size = HEADER + forget.length * PER_FORGET + changes.length * PER_CHANGE;
  for (const change of changes) size += changeEntrySize(change);
  return aligned(size);
}

export interface RedoHeader {
  /**
   * The id of the store, {@link STORE_ID_BYTES} long. It excludes a record of another store, and a record that a client has put into a
   * value.
   */
  readonly id: Uint8Array;
  readonly sequence: number;
  readonly compacted: Revision;
}

/**
 * Writes the record into `target` at `offset`, which must have space for {@link redoRecordSize}, and returns the offset behind the record.
 * The bytes between that and the next multiple of {@link RECORD_ALIGNMENT} stay as they are.
 */
export function writeRedoRecord(
  target: Buffer,
  offset: number,
  { id, sequence, compacted }: RedoHeader,
  { changes, forget }: JournalCommit,
): number {
  target.set(id, offset + ID_AT);
  target.writeDoubleLE(sequence, offset + SEQUENCE_AT);
  target.writeDoubleLE(compacted, offset + COMPACTED_AT);
  target.writeUint32LE(forget.length, offset + FORGET_AT);
  target.writeUint32LE(changes.length, offset + CHANGES_AT);
  let at = offset + HEADER;
  for (const revision of forget) at = target.writeDoubleLE(revision, at);
  for (const change of changes) {
    const start = at + PER_CHANGE;
    const end = writeChangeEntry(target, start, change);
    target.writeDoubleLE(change.modRevision, at);
    target.writeUint32LE(end - start, at + 8);
    at = end;
  }
  target.writeUint32LE(at - offset, offset + LENGTH_AT);
  target.writeUint32LE(crc32(target.subarray(offset + LENGTH_AT, at)), offset);
  return at;
}

/** The record of this store at `offset`, and the first possible start of the next one; undefined if there is no complete record. */
export function readRedoRecord(
  source: Buffer,
  offset: number,
  id: Uint8Array,
): { readonly record: RedoRecord; readonly next: number } | undefined {
  if (offset + HEADER > source.length) return undefined;
  if (source.compare(id, 0, id.length, offset + ID_AT, offset + ID_AT + id.length) !== 0) return undefined;
  const length = source.readUint32LE(offset + LENGTH_AT);
  const end = offset + length;
  if (length < HEADER || end > source.length) return undefined;
  if (crc32(source.subarray(offset + LENGTH_AT, end)) !== source.readUint32LE(offset)) return undefined;
  const forget: Revision[] = [];
  let at = offset + HEADER;
  for (let left = source.readUint32LE(offset + FORGET_AT); left > 0; left--, at += PER_FORGET) {
    forget.push(source.readDoubleLE(at));
  }
  const entries: JournalEntry[] = [];
  for (let left = source.readUint32LE(offset + CHANGES_AT); left > 0; left--) {
    const start = at + PER_CHANGE;
    const revision = source.readDoubleLE(at);
    at = start + source.readUint32LE(at + 8);
    entries.push({ revision, bytes: source.subarray(start, at) });
  }
  const sequence = source.readDoubleLE(offset + SEQUENCE_AT);
  const compacted = source.readDoubleLE(offset + COMPACTED_AT);
  return { record: { sequence, compacted, forget, entries }, next: aligned(end) };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
}
