import { crc32 } from 'node:zlib';
import type { Revision } from './interface.ts';
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

/** What is wrong with an entry. */
export class ChangeEntryError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'ChangeEntryError';
  }
}

export function changeEntrySize(change: Change): number {
  return HEADER + Buffer.byteLength(change.key) + (change.value?.length ?? 0);
}

/** Writes the entry into `target` at `offset`, which has room for {@link changeEntrySize}; returns its end. */
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

/**
 * `copy` makes the value outlive the entry's bytes, which may be used again afterwards. Throws {@link ChangeEntryError}.
 */
export function readChangeEntry(
  entry: Buffer,
  modRevision: Revision,
  copy: (bytes: Uint8Array) => Uint8Array,
): DecodedChange {
  if (entry.length < HEADER) throw new ChangeEntryError(`the entry of revision ${modRevision} is cut off`);
  if (entry.readUint32LE(0) !== checksum(entry.subarray(4), modRevision)) {
    throw new ChangeEntryError(`the checksum of revision ${modRevision} is wrong`);
  }
  const operation = entry.readUint8(4);
  const valueStart = HEADER + entry.readUint16LE(6);
  const key = entry.toString('utf8', HEADER, valueStart);
  const createRevision = entry.readDoubleLE(8);
  if (operation !== PUT && operation !== DELETE) {
    throw new ChangeEntryError(`revision ${modRevision} is of the unknown kind ${operation}`);
  }
  const value = operation === DELETE ? undefined : copy(entry.subarray(valueStart));
  return { key, value, createRevision, modRevision };
}

function checksum(bytes: Uint8Array, revision: Revision): number {
  return crc32(bytes, revision % 2 ** 32);
}
