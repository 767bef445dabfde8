import { ByteBuffer, MAX_OBJECT_BYTES } from './byte-buffer.ts';
import { DecodeError } from './decode-error.ts';
import { hasEnvelope, tagOf, WireCursor } from './wire-format.ts';

/** One item of a list; the range is valid during the call. */
export type OnListItem = (bytes: Uint8Array, start: number, end: number) => void;

export interface ListMeta {
  readonly resourceVersion: string;
  /** Token of the next page; empty on the last. */
  readonly continue: string;
}

export interface ListDecoder {
  /** Takes the next bytes of the body and calls back for each complete item. Throws {@link DecodeError}. */
  push(chunk: Uint8Array): void;
  /** Must be called at the end of the body. Throws {@link DecodeError} if the list is incomplete. */
  end(): ListMeta;
}

/** Splits a list into items while it arrives, so that only one item is in memory at a time. */
export function listDecoder(contentType: string | undefined, onItem: OnListItem): ListDecoder {
  return contentType?.startsWith('application/vnd.kubernetes.protobuf') === true
    ? new ProtobufListDecoder(onItem)
    : new JsonListDecoder(onItem);
}

/** Parses the envelope, then the list message `{1 ListMeta, 2 items...}`, which all lists of Kubernetes share. */
class ProtobufListDecoder implements ListDecoder {
  readonly #buffer = new ByteBuffer();
  readonly #cursor = new WireCursor();
  readonly #onItem: OnListItem;
  #part: 'magic' | 'envelope' | 'list' | 'rest' = 'magic';
  /** Unread bytes of the list message. */
  #listLeft = 0;
  #meta = { resourceVersion: '', continue: '' };

  constructor(onItem: OnListItem) {
    this.#onItem = onItem;
  }

  push(chunk: Uint8Array): void {
    const buffer = this.#buffer;
    buffer.append(chunk);
    for (;;) {
      const before = buffer.start;
      if (this.#part === 'magic') this.#magic();
      else if (this.#part === 'envelope') this.#envelope();
      else if (this.#part === 'list') this.#list();
      else buffer.start = buffer.end;
      if (this.#part === 'list' && this.#listLeft === 0) this.#part = 'rest';
      else if (buffer.start === before) break;
    }
    buffer.keep();
    if (buffer.length > MAX_OBJECT_BYTES) throw new DecodeError(`a list item of more than ${MAX_OBJECT_BYTES} bytes`);
  }

  end(): ListMeta {
    if (this.#part !== 'rest') throw new DecodeError('the list is cut off');
    return this.#meta;
  }

  #magic(): void {
    const { bytes, start, end } = this.#buffer;
    if (end - start < 4) return;
    if (!hasEnvelope(bytes, start, end)) throw new DecodeError('the list has no protobuf envelope');
    this.#buffer.start += 4;
    this.#part = 'envelope';
  }

  #envelope(): void {
    const buffer = this.#buffer;
    const cursor = this.#cursor.point(buffer.bytes, buffer.start, buffer.end);
    const tag = cursor.tryVarint();
    const length = tag < 0 ? -1 : cursor.tryVarint();
    if (length < 0) return;
    if ((tag & 7) !== 2) throw new DecodeError('an envelope with unknown fields');
    if (tag === tagOf(2)) {
      buffer.start = cursor.at;
      this.#listLeft = length;
      this.#part = 'list';
    } else if (cursor.at + length <= buffer.end) {
      buffer.start = cursor.at + length;
    }
  }

  #list(): void {
    const buffer = this.#buffer;
    const cursor = this.#cursor.point(buffer.bytes, buffer.start, Math.min(buffer.end, buffer.start + this.#listLeft));
    const tag = cursor.tryVarint();
    const length = tag < 0 ? -1 : cursor.tryVarint();
    if (length < 0) return;
    if ((tag & 7) !== 2) throw new DecodeError('a list with unknown fields');
    const start = cursor.at;
    const end = start + length;
    if (end - buffer.start > this.#listLeft) throw new DecodeError('a list item ends beyond the list');
    if (end > buffer.end) return;
    this.#listLeft -= end - buffer.start;
    buffer.start = end;
    if (tag === tagOf(2)) this.#onItem(cursor.bytes, start, end);
    else if (tag === tagOf(1)) this.#readMeta(cursor.point(cursor.bytes, start, end));
  }

  #readMeta(cursor: WireCursor): void {
    while (cursor.more) {
      const tag = cursor.varint();
      if (tag === tagOf(2)) this.#meta.resourceVersion = cursor.text();
      else if (tag === tagOf(3)) this.#meta.continue = cursor.text();
      else cursor.skip(tag);
    }
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
/** Bytes that may stand outside strings after the key `items`: the list, the letters of `null`, and the end of the value. */
const ITEMS_BEGIN: ReadonlySet<number> = new Set(Buffer.from(':[],}nul'));

/** Tracks only strings and nesting, and extracts `$.metadata` and each of `$.items`. */
class JsonListDecoder implements ListDecoder {
  readonly #buffer = new ByteBuffer();
  readonly #onItem: OnListItem;
  /** Positions relative to the buffer's start. */
  #scanned = 0;
  #mark = -1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** True inside the outermost object, where the next string is a key. */
  #expectKey = false;
  #key = '';
  #inItems = false;
  #finished = false;
  #meta: ListMeta | undefined;

  constructor(onItem: OnListItem) {
    this.#onItem = onItem;
  }

  push(chunk: Uint8Array): void {
    const buffer = this.#buffer;
    buffer.append(chunk);
    const { bytes, start, end } = buffer;
    let mark = this.#mark < 0 ? -1 : start + this.#mark;
    for (let i = start + this.#scanned; i < end; i++) {
      let byte = bytes[i]!;
      if (this.#inString) {
        // Most bytes of a list are inside strings, so this loop uses only local variables.
        let escaped = this.#escaped;
        while (escaped || byte !== QUOTE) {
          escaped = !escaped && byte === BACKSLASH;
          if (++i === end) break;
          byte = bytes[i]!;
        }
        this.#escaped = escaped;
        if (i === end) break;
        this.#inString = false;
        if (this.#depth === 1 && this.#expectKey) {
          this.#key = textOf(bytes, mark + 1, i);
          mark = -1;
        }
        continue;
      }
      if (byte <= SPACE) continue;
      if (this.#inItems && this.#depth === 2 && byte !== OPEN_BRACE && byte !== COMMA && byte !== CLOSE_BRACKET) {
        throw new DecodeError('a list item that is not an object');
      }
      // Any other value in place of the items would pass for an empty list. `null` is one.
      if (this.#depth === 1 && !this.#expectKey && this.#key === 'items' && !ITEMS_BEGIN.has(byte)) {
        throw new DecodeError('items of the list is not a list');
      }
      switch (byte) {
        case QUOTE:
          this.#inString = true;
          if (this.#depth === 1 && this.#expectKey) mark = i;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (this.#depth === 0 && (byte !== OPEN_BRACE || this.#finished))
            throw new DecodeError('the list is not an object');
          if (this.#depth === 0) this.#expectKey = true;
          else if (this.#depth === 1 && this.#key === 'items' && byte === OPEN_BRACKET) this.#inItems = true;
          else if (this.#depth === 1 && this.#key === 'metadata') mark = i;
          else if (this.#depth === 2 && this.#inItems) mark = i;
          this.#depth++;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth--;
          if (this.#depth === 2 && this.#inItems) {
            this.#onItem(bytes, mark, i + 1);
            mark = -1;
          } else if (this.#depth === 1) {
            this.#inItems = false;
            if (this.#key === 'metadata' && mark >= 0) this.#meta = listMetaOf(textOf(bytes, mark, i + 1));
            mark = -1;
          } else if (this.#depth === 0) this.#finished = true;
          else if (this.#depth < 0) throw new DecodeError('the list is not JSON');
          break;
        case COMMA:
          if (this.#depth === 1) this.#expectKey = true;
          break;
        case COLON:
          if (this.#depth === 1) this.#expectKey = false;
          break;
        default:
          if (this.#depth === 0) throw new DecodeError('the list is not an object');
      }
    }
    buffer.start = mark < 0 ? end : mark;
    this.#mark = mark < 0 ? -1 : 0;
    this.#scanned = end - buffer.start;
    buffer.keep();
    if (this.#scanned > MAX_OBJECT_BYTES) throw new DecodeError(`a list item of more than ${MAX_OBJECT_BYTES} bytes`);
  }

  end(): ListMeta {
    if (!this.#finished) throw new DecodeError('the list is cut off');
    if (this.#meta === undefined) throw new DecodeError('a list without metadata');
    return this.#meta;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

function listMetaOf(json: string): ListMeta {
  try {
    const meta = JSON.parse(json) as { resourceVersion?: unknown; continue?: unknown };
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    return { resourceVersion: text(meta.resourceVersion), continue: text(meta.continue) };
  } catch (error) {
    throw new DecodeError('list metadata that is not JSON', { cause: error });
  }
}
