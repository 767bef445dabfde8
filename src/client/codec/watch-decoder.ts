import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import { ProtobufError } from '../../api/codec/protobuf/protobuf-wire.ts';
import { WatchFrameReader } from '../../api/codec/metadata/watch-frame.ts';
import { ByteBuffer, MAX_OBJECT_BYTES } from './byte-buffer.ts';
import { DecodeError } from './decode-error.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event. The object is `bytes[start..end)`, valid until the next push. The range object is reused. */
export type OnWatchEvent = (
  type: WatchEventType,
  object: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
) => void;

/**
 * Announces the objects of the next events: `bytes[ranges[2 * i]..ranges[2 * i + 1])` for each i below `count`. They are delivered one by
 * one directly afterwards, and stay valid until then. With 0, undelivered announcements are void.
 */
export type OnWatchAhead = (bytes: Uint8Array, ranges: Int32Array, count: number) => void;

export interface WatchDecoder {
  /** Takes the next bytes of the stream and calls back for each complete event. Throws {@link DecodeError}. */
  push(chunk: Uint8Array): void;
}

/**
 * Splits a watch stream into events without parsing the objects. A partial event at the end is dropped: the reflector resumes before it and
 * receives it again.
 */
export function watchDecoder(
  contentType: string | undefined,
  onEvent: OnWatchEvent,
  onAhead?: OnWatchAhead,
): WatchDecoder {
  return contentType?.startsWith('application/vnd.kubernetes.protobuf') === true
    ? new ProtobufWatchDecoder(onEvent, onAhead)
    : new JsonWatchDecoder(onEvent);
}

/**
 * Maximum number of announced events. The heads of this many events fill half of the CPU's first cache; with fewer, prefetching would gain
 * less.
 */
export const WATCH_AHEAD = 32;

const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const;
const utf8 = new TextEncoder();
/** The start of a JSON event in Go's form; other orders and spaces take the slow path. */
const JSON_HEADS = TYPES.map((type) => utf8.encode(`{"type":"${type}","object":`));

function startsWith(bytes: Uint8Array, at: number, end: number, prefix: Uint8Array): boolean {
  if (end - at < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

/** The range object for callbacks, which must not keep it. */
interface Range {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Parses frames: four bytes of length, then `WatchEvent {1 type, 2 RawExtension {1 raw}}` (API-523). */
class ProtobufWatchDecoder implements WatchDecoder {
  readonly #frames = new WatchFrameReader();
  readonly #onEvent: OnWatchEvent;
  readonly #onAhead: OnWatchAhead | undefined;
  readonly #object: Range = { bytes: new Uint8Array(), start: 0, end: 0 };
  readonly #types: WatchEventType[] = Array.from({ length: WATCH_AHEAD }, () => 'ERROR');
  readonly #ranges = new Int32Array(WATCH_AHEAD * 2);
  #error: unknown;

  constructor(onEvent: OnWatchEvent, onAhead: OnWatchAhead | undefined) {
    this.#onEvent = onEvent;
    this.#onAhead = onAhead;
  }

  push(chunk: Uint8Array): void {
    this.#frames.push(chunk);
    for (let count = this.#gather(chunk); count > 0; count = this.#gather(chunk)) this.#deliver(chunk, count);
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * Parses up to WATCH_AHEAD frames of the chunk. A frame that began in the previous chunk is delivered at once. Events before malformed
   * data are delivered before the error.
   */
  #gather(chunk: Uint8Array): number {
    if (this.#error !== undefined) return 0;
    const frames = this.#frames;
    let count = 0;
    try {
      while (count < WATCH_AHEAD && frames.next()) {
        const type = typeOf(frames);
        if (frames.bytes !== chunk) {
          this.#tell(type, frames.bytes, frames.start, frames.end);
          continue;
        }
        this.#types[count] = type;
        this.#ranges[count * 2] = frames.start;
        this.#ranges[count * 2 + 1] = frames.end;
        count++;
      }
    } catch (error) {
      this.#error = error instanceof ProtobufError ? new DecodeError(error.message, { cause: error }) : error;
    }
    return count;
  }

  #deliver(chunk: Uint8Array, count: number): void {
    const ranges = this.#ranges;
    this.#onAhead?.(chunk, ranges, count);
    let told = 0;
    try {
      for (; told < count; told++) this.#tell(this.#types[told]!, chunk, ranges[told * 2]!, ranges[told * 2 + 1]!);
    } finally {
      if (told < count) this.#onAhead?.(chunk, ranges, 0);
    }
  }

  #tell(type: WatchEventType, bytes: Uint8Array, start: number, end: number): void {
    const object = this.#object;
    object.bytes = bytes;
    object.start = start;
    object.end = end;
    this.#onEvent(type, object);
  }
}

function typeOf({ type, start, end }: WatchFrameReader): WatchEventType {
  if (start === end) throw new DecodeError('a watch event without an object');
  for (const known of TYPES) if (known === type) return known;
  throw new DecodeError('a watch event without a known type');
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** One event a line. */
class JsonWatchDecoder implements WatchDecoder {
  readonly #buffer = new ByteBuffer();
  /** Bytes at the start of the buffer that contain no line end. */
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
      // The own buffer has stale bytes after `end`.
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

  /** Parses any other spelling of the same JSON, and writes the object again. */
  #unusualLine(bytes: Uint8Array, start: number, end: number): void {
    const event = parsed(bytes, start, end);
    const type = TYPES.find((name) => name === event?.type);
    if (type === undefined || typeof event?.object !== 'object' || event.object === null) {
      throw new DecodeError('a line that is not a watch event');
    }
    const rewritten = utf8.encode(stringifyExactJson(event.object));
    this.#onEvent(type, { bytes: rewritten, start: 0, end: rewritten.length });
  }
}

function parsed(bytes: Uint8Array, start: number, end: number): { type?: unknown; object?: unknown } | undefined {
  try {
    const value = parseExactJson(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    throw new DecodeError('a watch event that is not JSON', { cause: error });
  }
}
