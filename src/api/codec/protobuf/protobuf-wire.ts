import type { Int64 } from '../../../base/json/exact-json.ts';

/** Malformed protobuf, or an object that has no protobuf form. Messages begin with `proto: `. */
export class ProtobufError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`proto: ${message}`, options);
    this.name = 'ProtobufError';
  }
}

/** The wire type of a value, in the lower three bits of its tag. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_START_GROUP = 3;
export const WIRE_END_GROUP = 4;
export const WIRE_FIXED32 = 5;

/** Maximum nesting of messages and groups. The deepest realistic input is a schema of a custom resource. */
export const MAX_NESTING = 100;

const MAX_TAG = 2 ** 32 - 1;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Reads one message after the other from a range of bytes. A reader that enters a nested message keeps the position where it ends: every
 * read stops at `end`, so a wrong length is an error and never a read beyond the message.
 */
export class WireReader {
  readonly bytes: Uint8Array;
  at: number;
  /** End of the message being read. */
  end: number;
  #view: Buffer | undefined;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get #buffer(): Buffer {
    return (this.#view ??= Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength));
  }

  get more(): boolean {
    return this.at < this.end;
  }

  /**
   * Reads a varint as a number in two's complement of 64 bits: int32 (sign-extended), bool, enum and lengths. Beyond 2^53 the last digits
   * are lost; see {@link int64}.
   */
  varint(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let low = byte & 0x7f;
    let high = 0;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = this.#byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) return (high | 0) * 2 ** 32 + (low >>> 0);
    }
    throw new ProtobufError('integer overflow');
  }

  /** A varint as an integer of a JSON value, exactly. */
  int64(): Int64 {
    const from = this.at;
    const rounded = this.varint();
    return Number.isSafeInteger(rounded) ? rounded : BigInt.asIntN(64, this.#bits(from));
  }

  /** A varint as uint64, exactly. */
  uint64(): bigint {
    const from = this.at;
    const rounded = this.varint();
    if (rounded >= 0 && rounded <= Number.MAX_SAFE_INTEGER) return BigInt(rounded);
    return BigInt.asUintN(64, this.#bits(from));
  }

  /** The bits of the varint between `from` and the cursor. */
  #bits(from: number): bigint {
    let value = 0n;
    for (let at = from, shift = 0n; at < this.at; at++, shift += 7n) value |= BigInt(this.bytes[at]! & 0x7f) << shift;
    return value;
  }

  #byte(): number {
    if (this.at >= this.end) throw new ProtobufError('unexpected EOF');
    return this.bytes[this.at++]!;
  }

  tag(): number {
    const tag = this.varint();
    if (tag < 8 || tag > MAX_TAG) throw new ProtobufError(`illegal tag ${tag}`);
    return tag;
  }

  /** Reads the length of the value at the cursor and returns the end of the value. The cursor is then at the start of the value. */
  delimited(): number {
    const length = this.varint();
    if (length < 0) throw new ProtobufError('negative length found during unmarshaling');
    if (length > this.end - this.at) throw new ProtobufError('unexpected EOF');
    return this.at + length;
  }

  /** Bytes that are not UTF-8 become U+FFFD. */
  string(): string {
    const end = this.delimited();
    const value = this.text(this.at, end);
    this.at = end;
    return value;
  }

  text(start: number, end: number): string {
    // Most texts are short, and for them the Buffer is cheaper.
    return end - start < 64 ? this.#buffer.toString('utf8', start, end) : utf8.decode(this.bytes.subarray(start, end));
  }

  base64(start: number, end: number): string {
    return this.#buffer.toString('base64', start, end);
  }

  float64(): number {
    if (this.end - this.at < 8) throw new ProtobufError('unexpected EOF');
    const value = this.#buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** Skips the value of an unknown field. A group is skipped with its whole content. */
  skip(tag: number): void {
    let open = 0;
    for (let next = tag; ; next = this.tag()) {
      switch (next & 7) {
        case WIRE_VARINT:
          this.varint();
          break;
        case WIRE_FIXED64:
          this.#pass(8);
          break;
        case WIRE_BYTES:
          this.at = this.delimited();
          break;
        case WIRE_START_GROUP:
          if (++open > MAX_NESTING) throw new ProtobufError('groups nest too deep');
          break;
        case WIRE_END_GROUP:
          if (--open < 0) throw new ProtobufError('wiretype end group for non-group');
          break;
        case WIRE_FIXED32:
          this.#pass(4);
          break;
        default:
          throw new ProtobufError(`illegal wireType ${next & 7}`);
      }
      if (open === 0) return;
    }
  }

  #pass(length: number): void {
    if (length > this.end - this.at) throw new ProtobufError('unexpected EOF');
    this.at += length;
  }
}

const FIRST_CAPACITY = 1024;
/** A larger buffer is not kept for the next message. */
const KEPT_CAPACITY = 1 << 20;

/**
 * Writes messages from their last byte to the first: a nested message is already written when its length is needed. So callers write fields
 * in descending order of their numbers, and a value before its tag.
 */
export class WireWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  /** The bytes from this position on are written. */
  #at: number = FIRST_CAPACITY;

  /** Bytes written so far; callers keep it to compute the length of the following fields. */
  get size(): number {
    return this.#bytes.length - this.#at;
  }

  /** The message in a buffer of its own. The writer is empty afterwards. */
  finish(): Uint8Array {
    const message = new Uint8Array(this.size);
    message.set(this.#bytes.subarray(this.#at));
    this.reset();
    return message;
  }

  /** The message in the writer's own buffer, valid until the writer is used again. */
  view(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  reset(): void {
    if (this.#bytes.length > KEPT_CAPACITY) this.#bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
    this.#at = this.#bytes.length;
  }

  #reserve(length: number): void {
    if (length <= this.#at) return;
    const size = this.size;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, size + length));
    this.#bytes.copy(grown, grown.length - size, this.#at);
    this.#at = grown.length - size;
    this.#bytes = grown;
  }

  /** An integer. A negative one takes ten bytes, even as int32. */
  varint(value: number): void {
    this.#reserve(10);
    if (value >= 0 && value < 0x80) {
      this.#bytes[--this.#at] = value;
      return;
    }
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) {
      this.#varint64(BigInt.asUintN(64, BigInt(value)));
      return;
    }
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
    let at = (this.#at -= length);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80;
    this.#bytes[at] = rest;
  }

  int64(value: Int64): void {
    if (typeof value === 'number') return this.varint(value);
    this.#reserve(10);
    this.#varint64(BigInt.asUintN(64, value));
  }

  #varint64(value: bigint): void {
    let length = 1;
    for (let rest = value; rest >= 0x80n; rest >>= 7n) length++;
    let at = (this.#at -= length);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[at] = Number(rest);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[--this.#at] = value;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Bytes without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
  }

  /** Copies a range byte by byte, which is faster for short texts such as names. */
  copy(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    if (length > 48) {
      this.#at -= length;
      this.#bytes.set(source.subarray(start, end), this.#at);
      return;
    }
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = end; i > start;) bytes[--at] = source[--i]!;
    this.#at = at;
  }

  /** UTF-8 without a length. Lone surrogates become U+FFFD. */
  text(value: string): void {
    const most = value.length * 3;
    if (most <= 96) {
      this.#reserve(most);
      if (this.#shortAscii(value)) return;
    }
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#at -= length;
    this.#bytes.write(value, this.#at, length, 'utf8');
  }

  /** For short texts such as names, a loop is faster than a call into the runtime. */
  #shortAscii(value: string): boolean {
    let at = this.#at;
    for (let i = value.length - 1; i >= 0; i--) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      this.#bytes[--at] = code;
    }
    this.#at = at;
    return true;
  }

  /** The tag of a scalar field, written after its value. */
  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** Writes the length and tag of everything that was written since `size` was `before`. */
  delimit(field: number, before: number): void {
    this.varint(this.size - before);
    this.varint(field * 8 + WIRE_BYTES);
  }

  string(field: number, value: string): void {
    const before = this.size;
    this.text(value);
    this.delimit(field, before);
  }
}
