import type { KubeObject } from '../../api/meta/object-meta.ts';
import { DecodeError } from './decode-error.ts';
import { openEnvelope, tagOf, WireCursor } from './wire-format.ts';

/** Marks the bookmark after the last initial event of a watch list (API-129). */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

export interface ObjectVersion {
  readonly resourceVersion: string;
  readonly initialEventsEnd: boolean;
}

const OPEN_BRACE = 0x7b;

/**
 * Reads the resource version of an object in JSON or protobuf. The reflector needs it once for each chunk and for bookmarks, not for every
 * event. Throws {@link DecodeError} if there is none.
 */
export function objectVersion(bytes: Uint8Array, start: number, end: number): ObjectVersion {
  const version = bytes[start] === OPEN_BRACE ? fromJson(bytes, start, end) : fromProtobuf(bytes, start, end);
  if (version.resourceVersion === '') throw new DecodeError('an object without resourceVersion');
  return version;
}

function fromJson(bytes: Uint8Array, start: number, end: number): ObjectVersion {
  let object: KubeObject;
  try {
    object = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'),
    ) as KubeObject;
  } catch (error) {
    throw new DecodeError('an object that is not JSON', { cause: error });
  }
  const { resourceVersion, annotations } = object.metadata ?? {};
  return {
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === 'true',
  };
}

/** Every object's field 1 is `ObjectMeta`; of that, 6 is the resource version and 12 the annotations. */
function fromProtobuf(bytes: Uint8Array, start: number, end: number): ObjectVersion {
  const cursor = new WireCursor().point(bytes, start, end);
  openEnvelope(cursor, start, end);
  let resourceVersion = '';
  let initialEventsEnd = false;
  while (cursor.more) {
    const tag = cursor.varint();
    if (tag !== tagOf(1)) {
      cursor.skip(tag);
      continue;
    }
    const metaEnd = cursor.delimited();
    while (cursor.at < metaEnd) {
      const field = cursor.varint();
      if (field === tagOf(6)) resourceVersion = cursor.text();
      else if (field === tagOf(12)) initialEventsEnd = readEntry(cursor) || initialEventsEnd;
      else cursor.skip(field);
    }
    break;
  }
  return { resourceVersion, initialEventsEnd };
}

/** True if the map entry at the cursor is the annotation of the last initial event. */
function readEntry(cursor: WireCursor): boolean {
  const entryEnd = cursor.delimited();
  let key = '';
  let value = '';
  while (cursor.at < entryEnd) {
    const tag = cursor.varint();
    if (tag === tagOf(1)) key = cursor.text();
    else if (tag === tagOf(2)) value = cursor.text();
    else cursor.skip(tag);
  }
  return key === INITIAL_EVENTS_END && value === 'true';
}
