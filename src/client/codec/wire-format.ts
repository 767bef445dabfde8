import { DecodeError } from './decode-error.ts';

/**
 * The part of the protobuf wire format that splits a stream into objects. The state is in one cursor per decoder instead of return values,
 * because this runs for each field of a million objects.
 */
export class WireCursor {
  bytes: Uint8Array = new Uint8Array();
  at = 0;
  end = 0;

  point(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    return this;
  }

  get more(): boolean {
    return this.at < this.end;
  }

  /** A varint below 2^53. Throws {@link DecodeError} at a truncated or larger one. */
  varint(): number {
    const value = this.tryVarint();
    if (value < 0) throw new DecodeError('truncated varint');
    return value;
  }

  /** Like `varint`, but returns -1 without moving if the bytes end inside it. */
  tryVarint(): number {
    let value = 0;
    let scale = 1;
    for (let i = this.at; i < this.end; i++) {
      const byte = this.bytes[i]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.at = i + 1;
        if (value > Number.MAX_SAFE_INTEGER) throw new DecodeError('varint above 2^53');
        return value;
      }
      scale *= 128;
      if (scale > 2 ** 63) throw new DecodeError('varint longer than 10 bytes');
    }
    return -1;
  }

  /** The end of the length-delimited value at the cursor, which moves to its first byte. */
  delimited(): number {
    const length = this.varint();
    const end = this.at + length;
    if (end > this.end) throw new DecodeError('a field ends beyond its message');
    return end;
  }

  /** Skips the value of a field with this tag. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        // A negative int64 has ten bytes, more than varint() accepts.
        while (this.more && this.bytes[this.at]! >= 0x80) this.at++;
        this.at++;
        break;
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.delimited();
        break;
      case 5:
        this.at += 4;
        break;
      default:
        throw new DecodeError(`wire type ${tag & 7}`);
    }
    if (this.at > this.end) throw new DecodeError('a field ends beyond its message');
  }

  /** The UTF-8 text of the length-delimited value at the cursor. */
  text(): string {
    const end = this.delimited();
    const value = utf8.decode(this.bytes.subarray(this.at, end));
    this.at = end;
    return value;
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The tag of a length-delimited field. */
export function tagOf(field: number): number {
  return (field << 3) | 2;
}

/** `k8s\0`, before every enveloped object (API-520). */
export function hasEnvelope(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start >= 4 &&
    bytes[start] === 0x6b &&
    bytes[start + 1] === 0x38 &&
    bytes[start + 2] === 0x73 &&
    bytes[start + 3] === 0
  );
}

/** Moves the cursor to the object inside an envelope (`runtime.Unknown` field 2), or to the whole if there is no envelope. */
export function openEnvelope(cursor: WireCursor, start: number, end: number): void {
  const { bytes } = cursor;
  cursor.point(bytes, start, end);
  if (!hasEnvelope(bytes, start, end)) return;
  cursor.at = start + 4;
  while (cursor.more) {
    const tag = cursor.varint();
    if (tag === tagOf(2)) {
      const rawEnd = cursor.delimited();
      cursor.end = rawEnd;
      return;
    }
    cursor.skip(tag);
  }
  // Go leaves the field out if the object's message is empty.
  cursor.at = cursor.end;
}
