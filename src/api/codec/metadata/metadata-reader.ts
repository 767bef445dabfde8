import {
  addFinalizer,
  changeHash,
  MetadataColumns,
  OWNER_API_VERSION_RANGE,
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_KIND_RANGE,
  OWNER_MESSAGE,
  OWNER_NAME_RANGE,
  setOwnerUid,
  setResourceVersion,
  setUid,
} from './metadata-columns.ts';
import { readMetadataFromJson } from './metadata-json.ts';
import { ProtobufError, WireReader } from '../protobuf/protobuf-wire.ts';

export { readWatchFrame, WatchFrameReader } from './watch-frame.ts';

/**
 * Reads the metadata that the graph needs directly from the bytes of any API object, without allocating. A cursor runs over the message and
 * skips unknown fields by their length (managedFields, spec and status cost one addition each). The cursor is module state and the
 * functions are plain, because that takes 200 instead of 600 ns an object. A reader is its own result: its columns belong to the last
 * object read.
 */
export class MetadataReader extends MetadataColumns {
  /** The position at which `scanOn` continues. */
  pausedAt = 0;
  #metadataEnd = 0;
  #objectEnd = 0;

  /**
   * Reads `bytes[start..end)`: JSON text if it begins with `{`, an enveloped object if it begins with `k8s\0`, otherwise the bare message
   * of an object, whose field 1 is the ObjectMeta for every kind (API-520). Returns whether the object
   * has a uid; a bookmark has none. Throws {@link ProtobufError} or {@link MetadataJsonError}; the columns are then invalid.
   */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const hasUid = this.scan(bytes, start, end);
    this.readOwners();
    return hasUid;
  }

  /** The same, but the references of a protobuf object may stay unread; `readOwners` throws the errors inside them. */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    if (start < end && bytes[start] === BRACE) {
      readMetadataFromJson(this, bytes, start, end);
    } else {
      pausing = false;
      this.#scanProtobuf(bytes, start, end);
    }
    return this.uidEnd > this.uidStart;
  }

  /**
   * Like `scan`, but pauses after managedFields, unless it is the last field. The fields after it lie in another part of memory, so a
   * caller with several objects can prefetch that memory for all of them. Only for protobuf.
   */
  scanHead(bytes: Uint8Array, start: number, end: number): 'paused' | 'done' {
    pausing = true;
    this.#scanProtobuf(bytes, start, end);
    return this.#pause();
  }

  #scanProtobuf(bytes: Uint8Array, start: number, end: number): void {
    this.begin(bytes);
    source = bytes;
    at = start;
    if (isEnveloped(bytes, start, end)) scanEnvelope(this, start + 4, end);
    else scanObject(this, end);
  }

  /** Continues after a pause, to the next pause or to the end of the object. */
  scanOn(to: 'next pause' | 'end'): 'paused' | 'done' {
    source = this.bytes;
    at = this.pausedAt;
    pausing = to === 'next pause';
    scanObjectMeta(this, this.#metadataEnd);
    if (pausedMetadata === 0) scanObject(this, this.#objectEnd);
    else pausedObject = this.#objectEnd;
    return this.#pause();
  }

  #pause(): 'paused' | 'done' {
    if (pausedMetadata === 0) return 'done';
    this.pausedAt = at;
    this.#metadataEnd = pausedMetadata;
    this.#objectEnd = pausedObject;
    pausedMetadata = 0;
    return 'paused';
  }

  /** Reads the range of a bare ObjectMeta message. */
  readObjectMeta(bytes: Uint8Array, start: number, end: number): boolean {
    this.begin(bytes);
    source = bytes;
    at = start;
    pausing = false;
    scanObjectMeta(this, end);
    this.readOwners();
    return this.uidEnd > this.uidStart;
  }

  override readOwners(): void {
    if (!this.ownersUnread) return;
    const { ownerCount: count, owners } = this;
    this.ownerCount = 0;
    this.ownersUnread = false;
    source = this.bytes;
    for (let i = 0; i < count; i++) {
      // Clears the row, but keeps the range of the message.
      const owner = this.addOwner();
      at = owners[owner + OWNER_MESSAGE]!;
      scanOwnerReference(this, owner, owners[owner + OWNER_MESSAGE + 1]!);
    }
  }

  /** See `changeHash` in metadata-columns. */
  changeHash(): number {
    return changeHash(this);
  }
}

const BRACE = 0x7b;
const MANAGED_FIELDS = 138;

/** The bytes being read, and the position. Reading is synchronous and never re-entrant. */
let source: Uint8Array = new Uint8Array(0);
let at = 0;
/** Whether to pause after managedFields; and, at a pause, the ends of the two messages that are not fully read, otherwise 0. */
let pausing = false;
let pausedMetadata = 0;
let pausedObject = 0;

const MAX_TAG = 2 ** 32 - 1;

function isEnveloped(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start >= 4 &&
    bytes[start] === 0x6b &&
    bytes[start + 1] === 0x38 &&
    bytes[start + 2] === 0x73 &&
    bytes[start + 3] === 0
  );
}

/** Reads an unsigned varint. A value above 2^53 loses its last digits, but such a length is an error for every caller. */
function varint(end: number): number {
  if (at >= end) throw new ProtobufError('unexpected EOF');
  const first = source[at++]!;
  if (first < 0x80) return first;
  let value = first & 0x7f;
  let scale = 0x80;
  for (let i = 1; i < 10; i++) {
    if (at >= end) throw new ProtobufError('unexpected EOF');
    const byte = source[at++]!;
    // The tenth byte holds only the last of 64 bits.
    value += (i === 9 ? byte & 1 : byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
  throw new ProtobufError('integer overflow');
}

function tagAt(end: number): number {
  const tag = varint(end);
  if (tag < 8 || tag > MAX_TAG) throw new ProtobufError(`illegal tag ${tag}`);
  return tag;
}

/** Reads a length and returns the end of the value. The cursor is then at the start of the value. */
function delimited(end: number): number {
  const length = varint(end);
  if (length > end - at) throw new ProtobufError('unexpected EOF');
  return at + length;
}

function skip(tag: number, end: number): void {
  switch (tag & 7) {
    case 2:
      at = delimited(end);
      return;
    case 0:
      varint(end);
      return;
    default: {
      // The metadata of API types have no fields of fixed width and no groups, so this path may be slow.
      const reader = new WireReader(source, at, end);
      reader.skip(tag);
      at = reader.at;
    }
  }
}

function wrongWire(tag: number): ProtobufError {
  return new ProtobufError(`wrong wireType = ${tag & 7} for field ${Math.floor(tag / 8)}`);
}

/** `runtime.Unknown`: the object's message is field 2. */
function scanEnvelope(columns: MetadataColumns, start: number, end: number): void {
  at = start;
  let rawStart = end;
  let rawEnd = end;
  while (at < end) {
    const tag = tagAt(end);
    if (tag === 18) {
      rawEnd = delimited(end);
      rawStart = at;
      at = rawEnd;
    } else skip(tag, end);
  }
  at = rawStart;
  scanObject(columns, rawEnd);
}

/** Any object: field 1 is its ObjectMeta. */
function scanObject(columns: MetadataColumns, end: number): void {
  while (at < end) {
    const tag = tagAt(end);
    if (tag === 10) {
      scanObjectMeta(columns, delimited(end));
      if (pausedMetadata === 0) continue;
      pausedObject = end;
      return;
    }
    if (tag < 16) throw wrongWire(tag);
    else skip(tag, end);
  }
}

/**
 * The two loops that run for every field of every object keep the cursor in a local variable and write it to `at` only where a function
 * takes over. That saves a third of their time.
 */
function scanObjectMeta(columns: MetadataColumns, end: number): void {
  const bytes = source;
  let i = at;
  while (i < end) {
    let tag = bytes[i]!;
    if (tag >= 0x80 || tag < 8) {
      at = i;
      tag = tagAt(end);
      i = at;
    } else i++;
    if ((tag & 7) !== 2) {
      at = i;
      skip(tag, end);
      i = at;
      continue;
    }
    // The same as `delimited`, inline for the usual length of one byte.
    const length = bytes[i]!;
    let start = i + 1;
    let valueEnd = start + length;
    if (!(length < 0x80 && valueEnd <= end)) {
      at = i;
      valueEnd = delimited(end);
      start = at;
    }
    switch (tag) {
      case 10:
        columns.nameStart = start;
        columns.nameEnd = valueEnd;
        break;
      case 26:
        columns.namespaceStart = start;
        columns.namespaceEnd = valueEnd;
        break;
      case 42:
        setUid(columns, bytes, start, valueEnd);
        break;
      case 50:
        setResourceVersion(columns, bytes, start, valueEnd);
        break;
      case 74:
        columns.deleting = true;
        at = start;
        columns.deletionSeconds = scanSeconds(valueEnd);
        break;
      case 106:
        columns.addUnreadOwner(start, valueEnd);
        break;
      case 114:
        addFinalizer(columns, bytes, start, valueEnd);
        break;
      case MANAGED_FIELDS:
        if (!pausing || valueEnd === end) break;
        at = valueEnd;
        pausedMetadata = end;
        return;
      default:
    }
    i = valueEnd;
  }
  at = end;
}

/** Field 1 of a Time: its seconds since 1970. */
function scanSeconds(end: number): number {
  let seconds = Number.NaN;
  while (at < end) {
    const tag = tagAt(end);
    if (tag === 8) {
      const value = varint(end);
      // A time before 1970 is a negative number, which no server sets.
      seconds = value < 2 ** 53 ? value : Number.NaN;
    } else skip(tag, end);
  }
  return seconds;
}

function scanOwnerReference(columns: MetadataColumns, owner: number, end: number): void {
  const { owners } = columns;
  const bytes = source;
  let i = at;
  while (i < end) {
    let tag = bytes[i]!;
    if (tag >= 0x80 || tag < 8) {
      at = i;
      tag = tagAt(end);
      i = at;
    } else i++;
    at = i;
    if ((tag & 7) !== 2) {
      if (tag === 48) scanFlag(owners, owner, OWNER_HAS_CONTROLLER, OWNER_CONTROLLER, end);
      else if (tag === 56) scanFlag(owners, owner, OWNER_HAS_BLOCK, OWNER_BLOCK, end);
      else skip(tag, end);
      i = at;
      continue;
    }
    const length = bytes[i]!;
    let start = i + 1;
    let valueEnd = start + length;
    if (!(length < 0x80 && valueEnd <= end)) {
      valueEnd = delimited(end);
      start = at;
    }
    i = valueEnd;
    if (tag === 34) {
      setOwnerUid(owners, owner, bytes, start, valueEnd);
      continue;
    }
    const range =
      tag === 10 ? OWNER_KIND_RANGE : tag === 26 ? OWNER_NAME_RANGE : tag === 42 ? OWNER_API_VERSION_RANGE : 0;
    if (range === 0) continue;
    owners[owner + range] = start;
    owners[owner + range + 1] = valueEnd;
  }
  at = end;
}

function scanFlag(owners: Uint32Array, owner: number, has: number, is: number, end: number): void {
  const value = varint(end);
  const flags = owners[owner + OWNER_FLAGS]! & ~is;
  owners[owner + OWNER_FLAGS] = flags | has | (value === 0 ? 0 : is);
}
