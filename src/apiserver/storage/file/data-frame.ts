import { crc32 } from 'node:zlib';
import type { Revision } from '../interface.ts';
import type { JournalEntry } from './redo-record.ts';

/**
 * A part of the data file as bytes:
 *
 *     u32 crc of all that follows | u32 length | f64 first sequence | f64 last sequence | f64 compacted
 *     | u32 revisions to forget | u32 entries | f64 each revision to forget | each entry: f64 revision, u32 length, bytes
 *
 * Little endian; `length` counts the whole frame. A frame of a snapshot has the sequences 0.
 */
const HEADER = 40;
const LENGTH_AT = 4;
const FIRST_AT = 8;
const LAST_AT = 16;
const COMPACTED_AT = 24;
const FORGET_AT = 32;
const ENTRIES_AT = 36;
const PER_FORGET = 8;
const PER_ENTRY = 12;

/** No commit makes a larger frame, so a larger length is damage. */
const MOST_FRAME_BYTES = 1 << 30;

/** The number of bytes at the start of a frame that contain its length. */
export const FRAME_LENGTH_BYTES = 8;

/** The decoded contents of a frame. */
export interface DataFrame {
  /** The numbers of its commits; both are 0 for a part of a snapshot. */
  readonly first: number;
  readonly last: number;
  /** The compacted revision after the last commit. */
  readonly compacted: Revision;
  readonly forget: readonly Revision[];
  readonly entries: readonly JournalEntry[];
}

/** A frame as bytes. */
export function frameBytes({ first, last, compacted, forget, entries }: DataFrame): Buffer {
  let size = HEADER + forget.length * PER_FORGET + entries.length * PER_ENTRY;
  for (const { bytes } of entries) size += bytes.length;
  const target = Buffer.allocUnsafeSlow(size);
  target.writeUint32LE(size, LENGTH_AT);
  target.writeDoubleLE(first, FIRST_AT);
  target.writeDoubleLE(last, LAST_AT);
  target.writeDoubleLE(compacted, COMPACTED_AT);
  target.writeUint32LE(forget.length, FORGET_AT);
  target.writeUint32LE(entries.length, ENTRIES_AT);
  let at = HEADER;
  for (const revision of forget) at = target.writeDoubleLE(revision, at);
  for (const { revision, bytes } of entries) {
    target.writeDoubleLE(revision, at);
    target.writeUint32LE(bytes.length, at + 8);
    target.set(bytes, at + PER_ENTRY);
    at += PER_ENTRY + bytes.length;
  }
  target.writeUint32LE(crc32(target.subarray(LENGTH_AT)), 0);
  return target;
}

/** The length of the frame at `offset`; undefined if no frame begins there. */
export function frameLength(source: Buffer, offset: number): number | undefined {
  const length = source.readUint32LE(offset + LENGTH_AT);
  return length < HEADER || length > MOST_FRAME_BYTES ? undefined : length;
}

/** True if the checksum of the frame at `offset` is right. */
export function isWhole(source: Buffer, offset: number, length: number): boolean {
  return crc32(source.subarray(offset + LENGTH_AT, offset + length)) === source.readUint32LE(offset);
}

/** Parses the complete frame at `offset`; its entries are views of `source`. */
export function readFrame(source: Buffer, offset: number): DataFrame {
  const forget: Revision[] = [];
  let at = offset + HEADER;
  for (let left = source.readUint32LE(offset + FORGET_AT); left > 0; left--, at += PER_FORGET) {
    forget.push(source.readDoubleLE(at));
  }
  const entries: JournalEntry[] = [];
  for (let left = source.readUint32LE(offset + ENTRIES_AT); left > 0; left--) {
    const start = at + PER_ENTRY;
    const revision = source.readDoubleLE(at);
    at = start + source.readUint32LE(at + 8);
    entries.push({ revision, bytes: source.subarray(start, at) });
  }
  return {
    first: source.readDoubleLE(offset + FIRST_AT),
    last: source.readDoubleLE(offset + LAST_AT),
    compacted: source.readDoubleLE(offset + COMPACTED_AT),
    forget,
    entries,
  };
}
