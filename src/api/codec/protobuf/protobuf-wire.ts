/** Bytes that are not the protobuf they should be, or an object that has no protobuf form. Texts begin with `proto: `. */
export class ProtobufError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`proto: ${message}`, options);
    this.name = 'ProtobufError';
  }
}

/** How a value is laid out, the lower three bits of its tag. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
export const WIRE_START_GROUP = 3;
export const WIRE_END_GROUP = 4;
export const WIRE_FIXED32 = 5;

/** Messages and groups nest no deeper; the deepest honest input is a schema of a custom resource. */
export const MAX_NESTING = 100;

const MAX_TAG = 2 ** 32 - 1;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Reads one message after the other from a range of bytes. A reader that enters a nested message keeps the position of its end: every read
 * stops at `end`, so a length that lies is an error and never a read beyond the message.
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
   * A varint as the number its 64 bits mean in two's complement: int64, int32 (sign-extended), bool and enum alike.
   * Beyond 2^53 the last digits are lost, as in any JSON number of this language.
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

  /** A varint as uint64, exactly. */
  uint64(): bigint {
    const from = this.at;
    const rounded = this.varint();
    if (rounded >= 0 && rounded <= Number.MAX_SAFE_INTEGER) return BigInt(rounded);
    let value = 0n;
    for (let at = from, shift = 0n; at < this.at; at++, shift += 7n) value |= BigInt(this.bytes[at]! & 0x7f) << shift;
    return BigInt.asUintN(64, value);
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

  /** Reads the length of the value at the cursor and returns where the value ends; the cursor stands at its start. */
  delimited(): number {
    const length = this.varint();
    if (length < 0) throw new ProtobufError('negative length found during unmarshaling');
    if (length > this.end - this.at) throw new ProtobufError('unexpected EOF');
    return this.at + length;
  }

  /** Bytes that are no UTF-8 become U+FFFD. */
  string(): string {
    const end = this.delimited();
    const value = this.text(this.at, end);
    this.at = end;
    return value;
  }

  text(start: number, end: number): string {
    // Short texts are the rule here and cheaper through the Buffer.
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

  /** Passes over the value of an unknown field; groups are passed over with everything inside. */
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
/** Above this a buffer is not kept for the next message. */
const KEPT_CAPACITY = 1 << 20;

/**
 * Writes messages from their last byte to the first: when the length of a nested message has to be written, the message
 * is already there. So callers write fields in descending order of their numbers, and a value before its tag.
 */
export class WireWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  /** Everything from here on is written. */
  #at: number = FIRST_CAPACITY;

  /** Bytes written so far; callers remember it to know the length of what they write next. */
  get size(): number {
    return this.#bytes.length - this.#at;
  }

  /** The message, in bytes of its own; the writer is empty again. */
  finish(): Uint8Array {
    const message = new Uint8Array(this.size);
    message.set(this.#bytes.subarray(this.#at));
    this.reset();
    return message;
  }

  /** The same where it was written: only until the writer is used again. */
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

  /** An integer; negative ones take ten bytes, int32 too. */
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

  /** Bytes as they are, without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
  }

  /** The same of a range, which for names and the like is quicker byte by byte. */
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

  /** A loop beats the call into the runtime for names and the like. */
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

  /** The tag, after the value of a field that is no message, text or bytes. */
  tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  /** Length and tag of everything written since `size` was `before`. */
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
