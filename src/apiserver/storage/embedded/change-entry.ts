import { crc32 } from 'node:zlib';
import type { Revision } from '../interface.ts';
import type { Change } from './mvcc.ts';

/**
 * A change as bytes, for a journal that keys its entries by revision:
 *
 *     u32 crc of all that follows and of the revision | u8 operation | u8 0 | u16 key length | f64 createRevision | key | value
 *
 * Little endian. The checksum covers the revision too, so an entry under a wrong key is found out.
 */
const HEADER = 16;
const PUT = 1;
const DELETE = 2;

export type DecodedChange = Pick<Change, 'key' | 'value' | 'createRevision' | 'modRevision'>;

/** The defect of an entry. */
export class ChangeEntryError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'ChangeEntryError';
  }
}

export function changeEntrySize(change: Change): number {
  return HEADER + Buffer.byteLength(change.key) + (change.value?.length ?? 0);
}

/** Writes the entry into `target` at `offset`, which must have space for {@link changeEntrySize}. Returns the offset behind the entry. */
export function writeChangeEntry(target: Buffer, offset: number, change: Change): number {
  const keyLength = target.write(change.key, offset + HEADER, 'utf8');
  const valueStart = offset + HEADER + keyLength;
  if (change.value !== undefined) target.set(change.value, valueStart);
  const end = valueStart + (change.value?.length ?? 0);
  target.writeUint8(change.value === undefined ? DELETE : PUT, offset + 4);
  target.writeUint8(0, offset + 5);
  target.writeUint16LE(keyLength, offset + 6);
  target.writeDoubleLE(change.createRevision, offset + 8);
  target.writeUint32LE(checksum(target.subarray(offset + 4, end), change.modRevision), offset);
  return end;
}

/** Copies bytes `start..end-1` of `source`, which is reused afterwards. */
export type CopyBytes = (source: Buffer, start: number, end: number) => Uint8Array;

/**
 * Parses the entry in the first `length` bytes of a buffer that may be longer and is reused. Views cost more than the values they show
 * here, so it creates few. Throws {@link ChangeEntryError}.
 */
export function readChangeEntry(
  entry: { readonly buffer: Buffer; readonly length: number },
  modRevision: Revision,
  copy: CopyBytes,
): DecodedChange {
  const { buffer, length } = entry;
  if (length < HEADER) throw new ChangeEntryError(`the entry of revision ${modRevision} is cut off`);
  if (buffer.readUint32LE(0) !== checksum(buffer.subarray(4, length), modRevision)) {
    throw new ChangeEntryError(`the checksum of revision ${modRevision} is wrong`);
  }
  const operation = buffer.readUint8(4);
  const valueStart = HEADER + buffer.readUint16LE(6);
  const key = buffer.toString('utf8', HEADER, valueStart);
  const createRevision = buffer.readDoubleLE(8);
  if (operation !== PUT && operation !== DELETE) {
    throw new ChangeEntryError(`revision ${modRevision} is of the unknown kind ${operation}`);
  }
  const value = operation === DELETE ? undefined : copy(buffer, valueStart, length);
  return { key, value, createRevision, modRevision };
}

function checksum(bytes: Uint8Array, revision: Revision): number {
  return crc32(bytes, revision % 2 ** 32);
}
