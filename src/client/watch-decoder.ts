import { ByteBuffer, MAX_OBJECT_BYTES } from './byte-buffer.ts';
import { DecodeError } from './decode-error.ts';
import { tagOf, WireCursor } from './wire-format.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event; the object is `bytes[start..end)`, valid until the next push. The range object itself is reused. */
export type OnWatchEvent = (
  type: WatchEventType,
  object: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
) => void;

export interface WatchDecoder {
  /** Takes the next bytes of the stream and calls back for each event that is complete. Throws {@link DecodeError}. */
  push(chunk: Uint8Array): void;
}

/**
 * Cuts a watch stream into events without looking into the objects. What is left of an event when the stream ends is
 * not an event: the reflector resumes before it and gets it again.
 */
export function watchDecoder(contentType: string | undefined, onEvent: OnWatchEvent): WatchDecoder {
  return contentType?.startsWith('application/vnd.kubernetes.protobuf') === true
    ? new ProtobufWatchDecoder(onEvent)
    : new JsonWatchDecoder(onEvent);
}

const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const;
const utf8 = new TextEncoder();
const TYPE_BYTES = TYPES.map((type) => utf8.encode(type));
/** How Go begins a JSON event; other orders and spaces take the slow way. */
const JSON_HEADS = TYPES.map((type) => utf8.encode(`{"type":"${type}","object":`));

function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (end - at < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

/** The one range object handed to callbacks; they may not keep it. */
interface Range {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Four bytes of length, then `WatchEvent {1 type, 2 RawExtension {1 raw}}` (API-523). */
class ProtobufWatchDecoder implements WatchDecoder {
  readonly #buffer = new ByteBuffer();
  readonly #cursor = new WireCursor();
  readonly #onEvent: OnWatchEvent;
  readonly #object: Range = { bytes: new Uint8Array(), start: 0, end: 0 };

  constructor(onEvent: OnWatchEvent) {
    this.#onEvent = onEvent;
  }

  push(chunk: Uint8Array): void {
    const buffer = this.#buffer;
    buffer.append(chunk);
    while (buffer.length >= 4) {
      const { bytes, start } = buffer;
      const size = bytes[start]! * 2 ** 24 + (bytes[start + 1]! << 16) + (bytes[start + 2]! << 8) + bytes[start + 3]!;
      if (size > MAX_OBJECT_BYTES) throw new DecodeError(`a watch event of ${size} bytes`);
      if (buffer.length < 4 + size) break;
      buffer.start += 4 + size;
      this.#event(bytes, start + 4, start + 4 + size);
    }
    buffer.keep();
  }

  #event(bytes: Uint8Array, start: number, end: number): void {
    const cursor = this.#cursor.point(bytes, start, end);
    const object = this.#object;
    object.bytes = bytes;
    object.start = object.end = end;
    let type = -1;
    while (cursor.more) {
      const tag = cursor.varint();
      if (tag === tagOf(1)) {
        const typeEnd = cursor.delimited();
        const at = cursor.at;
        type = TYPE_BYTES.findIndex((name) => name.length === typeEnd - at && startsWith(bytes, at, typeEnd, name));
        cursor.at = typeEnd;
      } else if (tag === tagOf(2)) {
        const extensionEnd = cursor.delimited();
        while (cursor.at < extensionEnd) {
          const inner = cursor.varint();
          if (inner !== tagOf(1)) {
            cursor.skip(inner);
            continue;
          }
          object.end = cursor.delimited();
          object.start = cursor.at;
          cursor.at = object.end;
        }
      } else cursor.skip(tag);
    }
    if (type < 0) throw new DecodeError('a watch event without a known type');
    if (object.start === object.end) throw new DecodeError('a watch event without an object');
    this.#onEvent(TYPES[type]!, object);
  }
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** One event a line (API section 7). */
class JsonWatchDecoder implements WatchDecoder {
  readonly #buffer = new ByteBuffer();
  /** Bytes at the start of the buffer known to hold no line end. */
  #searched = 0;
  readonly #onEvent: OnWatchEvent;
  readonly #object: Range = { bytes: new Uint8Array(), start: 0, end: 0 };

  constructor(onEvent: OnWatchEvent) {
    this.#onEvent = onEvent;
  }

  push(chunk: Uint8Array): void {
    const buffer = this.#buffer;
    buffer.append(chunk);
    for (;;) {
      const { bytes, start } = buffer;
      const newline = bytes.indexOf(NEWLINE, start + this.#searched);
      // Own storage holds stale bytes behind the end.
      if (newline < 0 || newline >= buffer.end) {
        this.#searched = buffer.length;
        if (this.#searched > MAX_OBJECT_BYTES)
          throw new DecodeError(`a watch event of more than ${MAX_OBJECT_BYTES} bytes`);
        break;
      }
      this.#searched = 0;
      buffer.start = newline + 1;
      this.#line(bytes, start, newline);
    }
    buffer.keep();
  }

  #line(bytes: Uint8Array, start: number, newline: number): void {
    let end = newline;
    while (end > start && bytes[end - 1]! <= SPACE) end--;
    if (end === start) return;
    const object = this.#object;
    const type = JSON_HEADS.findIndex((head) => startsWith(bytes, start, end, head));
    if (type < 0) {
      this.#unusualLine(bytes, start, end);
      return;
    }
    object.bytes = bytes;
    object.start = start + JSON_HEADS[type]!.length;
    object.end = end - 1;
    const closed =
      bytes[end - 1] === CLOSE_BRACE && bytes[object.start] === OPEN_BRACE && bytes[object.end - 1] === CLOSE_BRACE;
    if (!closed || object.end <= object.start) throw new DecodeError('a watch event that is not an object');
    this.#onEvent(TYPES[type]!, object);
  }

  /** Any other spelling of the same JSON: parsed, and the object written anew. */
  #unusualLine(bytes: Uint8Array, start: number, end: number): void {
    const event = parsed(bytes, start, end);
    const type = TYPES.find((name) => name === event?.type);
    if (type === undefined || typeof event?.object !== 'object' || event.object === null) {
      throw new DecodeError('a line that is not a watch event');
    }
    const rewritten = utf8.encode(JSON.stringify(event.object));
    this.#onEvent(type, { bytes: rewritten, start: 0, end: rewritten.length });
  }
}

function parsed(bytes: Uint8Array, start: number, end: number): { type?: unknown; object?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'),
    );
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    throw new DecodeError('a watch event that is not JSON', { cause: error });
  }
}
