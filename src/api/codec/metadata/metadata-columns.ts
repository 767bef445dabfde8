import { sameBytes } from '../../../base/same-bytes.ts';
import { UuidWords } from '../../../base/random/uuid.ts';

/**
 * One object's metadata as numbers and byte ranges: everything that the ownership graph needs, filled without allocating and reused for the
 * next object. Every range points into `bytes`, which the columns do not own.
 *
 * A uid in the canonical form of a UUID (36 characters, lower case) is four signed words, its sixteen bytes in order, big-endian. Any other
 * uid, including the empty one, is only a range, and `uidIsText` is true.
 */
export class MetadataColumns {
  bytes: Uint8Array = NO_BYTES;

  uid0 = 0;
  uid1 = 0;
  uid2 = 0;
  uid3 = 0;
  uidIsText = true;
  uidStart = 0;
  uidEnd = 0;

  nameStart = 0;
  nameEnd = 0;
  /** Empty for cluster-scoped objects. */
  namespaceStart = 0;
  namespaceEnd = 0;

  /** NaN unless it is a decimal number below 2^53 in its shortest form, because no other number could be written back. */
  resourceVersion = Number.NaN;
  resourceVersionStart = 0;
  resourceVersionEnd = 0;

  /** `deletionTimestamp` is set. */
  deleting = false;
  /** `deletionTimestamp` in seconds since 1970; NaN without one, and for one that is before 1970 or no time. */
  deletionSeconds = Number.NaN;
  foregroundFinalizer = false;
  orphanFinalizer = false;
  /** There are finalizers besides these two. */
  otherFinalizers = false;
  otherFinalizerCount = 0;

  ownerCount = 0;
  /** Only the ranges of the references are known (OWNER_MESSAGE); `readOwners` reads them. */
  ownersUnread = false;
  /** OWNER_FIELDS words for each reference; see the OWNER_* offsets. The array only grows. */
  owners: Uint32Array = new Uint32Array(OWNER_FIELDS * 4);

  /** Clears everything except the arrays. */
  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.uid0 = this.uid1 = this.uid2 = this.uid3 = 0;
    this.uidIsText = true;
    this.uidStart = this.uidEnd = 0;
    this.nameStart = this.nameEnd = 0;
    this.namespaceStart = this.namespaceEnd = 0;
    this.resourceVersion = Number.NaN;
    this.resourceVersionStart = this.resourceVersionEnd = 0;
    this.deleting = false;
    this.deletionSeconds = Number.NaN;
    this.foregroundFinalizer = false;
    this.orphanFinalizer = false;
    this.otherFinalizers = false;
    this.otherFinalizerCount = 0;
    this.ownerCount = 0;
    this.ownersUnread = false;
  }

  /** Adds space for one reference, without uid and flags, and returns the index of its first word in `owners`. */
  addOwner(): number {
    const at = this.#room();
    for (let i = at; i < at + OWNER_FLAGS; i++) this.owners[i] = 0;
    this.owners[at + OWNER_FLAGS] = OWNER_UID_IS_TEXT;
    this.ownerCount++;
    return at;
  }

  /** Notes the range of another reference, which is read on demand. */
  addUnreadOwner(start: number, end: number): void {
    const at = this.#room();
    this.owners[at + OWNER_MESSAGE] = start;
    this.owners[at + OWNER_MESSAGE + 1] = end;
    this.ownerCount++;
    this.ownersUnread = true;
  }

  /**
   * Completes `owners`. References are read only for callers that need them: most updates leave them unchanged, siblings have the same
   * ones, and a comparison of bytes shows both. Throws the errors of the reader.
   */
  readOwners(): void {}

  #room(): number {
    const at = this.ownerCount * OWNER_FIELDS;
    if (at + OWNER_FIELDS > this.owners.length) {
      const grown = new Uint32Array(this.owners.length * 2);
      grown.set(this.owners);
      this.owners = grown;
    }
    return at;
  }

  /** The text of a range, for messages and tests. Allocates. */
  text(start: number, end: number): string {
    return utf8.decode(this.bytes.subarray(start, end));
  }
}

/** Words per reference in `owners`. */
export const OWNER_FIELDS = 15;
/** Four words of the uid. */
export const OWNER_UID = 0;
/** Start and end of each text. */
export const OWNER_UID_RANGE = 4;
export const OWNER_NAME_RANGE = 6;
export const OWNER_KIND_RANGE = 8;
export const OWNER_API_VERSION_RANGE = 10;
export const OWNER_FLAGS = 12;
/** Start and end of the reference's own message, only for a reference that was not read at once. */
export const OWNER_MESSAGE = 13;

export const OWNER_UID_IS_TEXT = 1;
/** `controller` is present. */
export const OWNER_HAS_CONTROLLER = 2;
/** `controller` is true. */
export const OWNER_CONTROLLER = 4;
/** `blockOwnerDeletion` is present. */
export const OWNER_HAS_BLOCK = 8;
/** `blockOwnerDeletion` is true. */
export const OWNER_BLOCK = 16;

const NO_BYTES = new Uint8Array(0);
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The words of the uid that was read last. */
const words = new UuidWords();

/** Sets the object's uid to `bytes[start..end)`. */
export function setUid(columns: MetadataColumns, bytes: Uint8Array, start: number, end: number): void {
  columns.uidStart = start;
  columns.uidEnd = end;
  const isUuid = words.parse(bytes, start, end);
  columns.uidIsText = !isUuid;
  columns.uid0 = isUuid ? words.w0 : 0;
  columns.uid1 = isUuid ? words.w1 : 0;
  columns.uid2 = isUuid ? words.w2 : 0;
  columns.uid3 = isUuid ? words.w3 : 0;
}

/** Sets the uid of the reference whose first word is at `at`. */
export function setOwnerUid(owners: Uint32Array, at: number, bytes: Uint8Array, start: number, end: number): void {
  owners[at + OWNER_UID_RANGE] = start;
  owners[at + OWNER_UID_RANGE + 1] = end;
  const isUuid = words.parse(bytes, start, end);
  owners[at + OWNER_UID] = isUuid ? words.w0 : 0;
  owners[at + OWNER_UID + 1] = isUuid ? words.w1 : 0;
  owners[at + OWNER_UID + 2] = isUuid ? words.w2 : 0;
  owners[at + OWNER_UID + 3] = isUuid ? words.w3 : 0;
  const flags = owners[at + OWNER_FLAGS]!;
  owners[at + OWNER_FLAGS] = isUuid ? flags & ~OWNER_UID_IS_TEXT : flags | OWNER_UID_IS_TEXT;
}

export function setResourceVersion(columns: MetadataColumns, bytes: Uint8Array, start: number, end: number): void {
  columns.resourceVersionStart = start;
  columns.resourceVersionEnd = end;
  columns.resourceVersion = decimal(bytes, start, end);
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length === 0 || length > 16 || (length > 1 && bytes[start] === 0x30)) return Number.NaN;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : Number.NaN;
}

const FOREGROUND = Uint8Array.from(Buffer.from('foregroundDeletion'));
const ORPHAN = Uint8Array.from(Buffer.from('orphan'));

export function addFinalizer(columns: MetadataColumns, bytes: Uint8Array, start: number, end: number): void {
  if (sameBytes(bytes, start, end, FOREGROUND)) columns.foregroundFinalizer = true;
  else if (sameBytes(bytes, start, end, ORPHAN)) columns.orphanFinalizer = true;
  else {
    columns.otherFinalizers = true;
    columns.otherFinalizerCount++;
  }
}

/** Two lanes of multiply-and-xor. They are module state for the same reason as the words above. */
let lane0 = 0;
let lane1 = 0;

function mix(word: number): void {
  lane0 = Math.imul(lane0 ^ word, 0x85ebca6b);
  lane0 ^= lane0 >>> 15;
  lane1 = Math.imul(lane1 ^ word, 0xc2b2ae35);
  lane1 ^= lane1 >>> 13;
}

function mixRange(bytes: Uint8Array, start: number, end: number): void {
  mix(end - start);
  let i = start;
  for (; i + 4 <= end; i += 4) {
    mix(bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
  }
  for (; i < end; i++) mix(bytes[i]!);
}

/**
 * A hash of 53 bits over everything that makes an update relevant (COL-046): deletionTimestamp, the presence of the two finalizers, and the
 * owner references as a list. Equal states have equal hashes in every wire format. Different states collide with a probability of 2^-53, so
 * a monitor may drop an update with an unchanged hash (BETTER-4).
 */
export function changeHash(columns: MetadataColumns): number {
  const { bytes, owners } = columns;
  lane0 = 0x9e3779b9 | 0;
  lane1 = 0x7f4a7c15;
  mix(
    (columns.deleting ? 1 : 0) |
      (columns.foregroundFinalizer ? 2 : 0) |
      (columns.orphanFinalizer ? 4 : 0) |
      (columns.ownerCount << 3),
  );
  for (let at = 0, end = columns.ownerCount * OWNER_FIELDS; at < end; at += OWNER_FIELDS) {
    mix(owners[at + OWNER_FLAGS]!);
    if ((owners[at + OWNER_FLAGS]! & OWNER_UID_IS_TEXT) !== 0) {
      mixRange(bytes, owners[at + OWNER_UID_RANGE]!, owners[at + OWNER_UID_RANGE + 1]!);
    } else for (let i = 0; i < 4; i++) mix(owners[at + OWNER_UID + i]! | 0);
    mixRange(bytes, owners[at + OWNER_NAME_RANGE]!, owners[at + OWNER_NAME_RANGE + 1]!);
    mixRange(bytes, owners[at + OWNER_KIND_RANGE]!, owners[at + OWNER_KIND_RANGE + 1]!);
    mixRange(bytes, owners[at + OWNER_API_VERSION_RANGE]!, owners[at + OWNER_API_VERSION_RANGE + 1]!);
  }
  return (lane0 >>> 0) * 2 ** 21 + (lane1 >>> 11);
}
