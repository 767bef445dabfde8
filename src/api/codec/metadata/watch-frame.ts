import { sameBytes } from '../../../base/same-bytes.ts';
import { ProtobufError, WireReader } from '../protobuf/protobuf-wire.ts';

/** Maximum length of a frame. No object is longer (etcd stops at 1.5 MiB), so a longer frame is an error. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const LENGTH_BYTES = 4;
const FIRST_CARRY = 16 * 1024;
/** A larger buffer is released after its frame. */
const KEPT_CARRY = 1024 * 1024;

/** One event of a watch stream in protobuf (API-523). */
export interface WatchFrame {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; other values come from the server unchanged. */
  readonly type: string;
  /** The object, with its envelope, is `bytes[start..end)`. */
  readonly start: number;
  readonly end: number;
  /** The start of the next frame. */
  readonly next: number;
}

/** Reads the frame at `offset`; undefined if it is not complete. Throws {@link ProtobufError}. */
export function readWatchFrame(bytes: Uint8Array, offset: number): WatchFrame | undefined {
  if (bytes.length - offset < LENGTH_BYTES) return undefined;
  const length = frameLength(bytes, offset);
  const next = offset + LENGTH_BYTES + length;
  if (next > bytes.length) return undefined;
  const event = new WatchFrameReader();
  event.readEvent(bytes, offset + LENGTH_BYTES, next);
  return { type: event.type, start: event.start, end: event.end, next };
}

function frameLength(bytes: Uint8Array, at: number): number {
  const length = ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  if (length > MAX_FRAME_BYTES) {
    throw new ProtobufError(`watch frame of ${length} bytes is longer than ${MAX_FRAME_BYTES}`);
  }
  return length;
}

/**
 * Cuts a stream of chunks into watch events without copying: an event lies in its chunk, except one that spans chunks, which is assembled
 * in a buffer of the reader. Use:
 *
 *     reader.push(chunk);
 *     while (reader.next()) use(reader.type, reader.bytes, reader.start, reader.end);
 *
 * The fields are those of the last event. The bytes of an event are valid until the next push, if the caller does not change the chunk.
 */
export class WatchFrameReader {
  /** The event's type; see {@link WatchFrame}. */
  type = '';
  /** The buffer that the object's range points into. */
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  /**
   * The beginning of an incomplete frame: `#carried` bytes from `#from` on. The event that this chunk completed lies before it until the
   * next push. The buffer grows with the received bytes, not with a claimed length.
   */
  #carry: Uint8Array = new Uint8Array(FIRST_CARRY);
  #from = 0;
  #carried = 0;

  /** Takes the next chunk. Every message of the previous chunk must have been read. */
  push(chunk: Uint8Array): void {
    if (this.#at < this.#chunk.length) throw new Error('the last chunk has not been read completely');
    this.#chunk = chunk;
    this.#at = 0;
    if (this.#from > 0) {
      this.#carry.copyWithin(0, this.#from, this.#from + this.#carried);
      this.#from = 0;
    }
  }

  /** Moves to the next event; false if more bytes are needed. Throws {@link ProtobufError} for malformed bytes. */
  next(): boolean {
    const chunk = this.#chunk;
    if (this.#carried > 0) return this.#nextCarried();
    const left = chunk.length - this.#at;
    if (left >= LENGTH_BYTES) {
      const length = frameLength(chunk, this.#at);
      if (left - LENGTH_BYTES >= length) {
        const start = this.#at + LENGTH_BYTES;
        this.#at = start + length;
        this.readEvent(chunk, start, this.#at);
        return true;
      }
    }
    if (left > 0) this.#take(left);
    return false;
  }

  /** Ends the stream. Throws if it ended inside a frame. */
  finish(): void {
    if (this.#carried > 0 || this.#at < this.#chunk.length) throw new ProtobufError('the watch ended inside a frame');
  }

  #nextCarried(): boolean {
    if (this.#carried < LENGTH_BYTES && !this.#fill(LENGTH_BYTES)) return false;
    if (!this.#fill(LENGTH_BYTES + frameLength(this.#carry, this.#from))) return false;
    const frame = this.#carry;
    const start = this.#from + LENGTH_BYTES;
    const end = this.#from + this.#carried;
    this.#from = end;
    this.#carried = 0;
    if (frame.length > KEPT_CARRY) {
      this.#carry = new Uint8Array(FIRST_CARRY);
      this.#from = 0;
    }
    this.readEvent(frame, start, end);
    return true;
  }

  /** Copies bytes until `wanted` are present; false if the chunk has fewer. */
  #fill(wanted: number): boolean {
    this.#take(Math.min(wanted - this.#carried, this.#chunk.length - this.#at));
    return this.#carried === wanted;
  }

  #take(length: number): void {
    const from = this.#from;
    const to = from + this.#carried;
    if (to + length > this.#carry.length) {
      const grown = new Uint8Array(Math.max(this.#carry.length * 2, this.#carried + length));
      grown.set(this.#carry.subarray(from, to));
      this.#carry = grown;
      this.#from = 0;
    }
    this.#carry.set(this.#chunk.subarray(this.#at, this.#at + length), this.#from + this.#carried);
    this.#carried += length;
    this.#at += length;
  }

  /** Reads the WatchEvent `bytes[start..end)`: {1: type, 2: RawExtension {1: object}}. */
  readEvent(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    if (!this.#readUsual(start, end)) this.#readAny(start, end);
  }

  /** The usual form, as Go writes it: the type first, then the object to the end. Allocates nothing. */
  #readUsual(start: number, end: number): boolean {
    const { bytes } = this;
    // No type has a length of more than one byte.
    if (end - start < 2 || bytes[start] !== 10 || bytes[start + 1]! >= 0x80) return false;
    const typeEnd = start + 2 + bytes[start + 1]!;
    const extension = lastField(bytes, typeEnd, end, 18);
    const object = extension < 0 ? -1 : lastField(bytes, extension, end, 10);
    if (object < 0) return false;
    this.type = eventType(bytes, start + 2, typeEnd);
    this.start = object;
    this.end = end;
    return true;
  }

  #readAny(start: number, end: number): void {
    this.type = '';
    this.start = this.end = end;
    const reader = new WireReader(this.bytes, start, end);
    while (reader.more) {
      const tag = reader.tag();
      if (tag === 10) this.type = reader.string();
      else if (tag === 18) {
        reader.end = reader.delimited();
        while (reader.more) {
          const inner = reader.tag();
          if (inner === 10) {
            this.end = reader.delimited();
            this.start = reader.at;
            reader.at = this.end;
          } else reader.skip(inner);
        }
        reader.end = end;
      } else reader.skip(tag);
    }
  }
}

/** The start of the value of the length-delimited field `tag` at `at`, if the value ends exactly at `end`; otherwise -1. */
function lastField(bytes: Uint8Array, at: number, end: number, tag: number): number {
  if (at >= end || bytes[at] !== tag) return -1;
  let length = 0;
  for (let i = at + 1, shift = 0; i < end && shift < 28; i++, shift += 7) {
    const byte = bytes[i]!;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return i + 1 + length === end ? i + 1 : -1;
  }
  return -1;
}

const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((name) => ({
  name,
  text: Uint8Array.from(Buffer.from(name)),
}));
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function eventType(bytes: Uint8Array, start: number, end: number): string {
  for (const { name, text } of TYPES) {
    if (!sameBytes(bytes, start, end, text)) continue;
    return name;
  }
  return utf8.decode(bytes.subarray(start, end));
}
