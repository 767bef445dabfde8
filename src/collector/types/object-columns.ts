import { formatUuid } from '../../base/random/uuid.ts';
import {
  type MetadataColumns,
  OWNER_FIELDS,
  OWNER_FLAGS,
  OWNER_UID,
  OWNER_UID_IS_TEXT,
  OWNER_UID_RANGE,
} from '../../api/codec/metadata/metadata-columns.ts';
import type { Uid } from './identity.ts';

/**
 * An object's metadata as a `MetadataReader` finds it in wire bytes. The columns are read during `apply` only; the caller may fill them
 * again after that.
 */
export type ObjectColumns = Readonly<MetadataColumns>;

/** The uid as text. Allocates. */
export function uidOfColumns({ bytes, uidIsText, uidStart, uidEnd, uid0, uid1, uid2, uid3 }: ObjectColumns): Uid {
  return uidIsText ? textOf(bytes, uidStart, uidEnd) : formatUuid(uid0, uid1, uid2, uid3);
}

/** The uids of all owner references, in their order. Allocates. Throws like the reader, if the references are read only now. */
export function ownerUidsOfColumns(columns: ObjectColumns): Uid[] {
  columns.readOwners();
  const { bytes, owners } = columns;
  return Array.from({ length: columns.ownerCount }, (_, index) => {
    const at = index * OWNER_FIELDS;
    if ((owners[at + OWNER_FLAGS]! & OWNER_UID_IS_TEXT) !== 0)
      return textOf(bytes, owners[at + OWNER_UID_RANGE]!, owners[at + OWNER_UID_RANGE + 1]!);
    const word = (index: number): number => owners[at + OWNER_UID + index]! | 0;
    return formatUuid(word(0), word(1), word(2), word(3));
  });
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
