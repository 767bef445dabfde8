import { parseExactJson } from '../../base/json/exact-json.ts';
import { decodeTypedMessage } from '../../api/codec/protobuf/protobuf.ts';
import { META_V1 } from '../../api/kinds/type-table.ts';
import { WireReader } from '../../api/codec/protobuf/protobuf-wire.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';

const OBJECT_META = `${META_V1}.ObjectMeta`;
const BRACE = 0x7b;
const FIELD_METADATA = 1;
const FIELD_CREATION = 8;
const FIELD_SECONDS = 1;

/** The metadata of one list item from its bytes: JSON text, or a bare protobuf message whose field 1 is the ObjectMeta. */
export function decodeKeptMetadata(bytes: Uint8Array): ObjectMeta {
  if (bytes[0] === BRACE) return (parseExactJson(Buffer.from(bytes).toString('utf8')) as KubeObject).metadata ?? {};
  const reader = new WireReader(bytes);
  const end = enter(reader, FIELD_METADATA);
  return end === undefined ? {} : (decodeTypedMessage(OBJECT_META, bytes.subarray(reader.at, end)) as ObjectMeta);
}

/** `metadata.creationTimestamp` of one item in seconds since the epoch, without decoding the rest; 0 if it has none. */
export function creationOf(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] === BRACE) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    const time = (JSON.parse(text) as KubeObject).metadata?.creationTimestamp;
    return time === undefined || time === null ? 0 : Math.floor(Date.parse(time) / 1000);
  }
  const reader = new WireReader(bytes, start, end);
  for (const field of [FIELD_METADATA, FIELD_CREATION]) {
    const inner = enter(reader, field);
    if (inner === undefined) return 0;
    reader.end = inner;
  }
  while (reader.more) {
    const tag = reader.tag();
    if (tag >>> 3 === FIELD_SECONDS) return reader.varint();
    reader.skip(tag);
  }
  return 0;
}

/** Moves the reader to the first value of a field. Returns the end of the value; undefined if there is none. */
function enter(reader: WireReader, field: number): number | undefined {
  while (reader.more) {
    const tag = reader.tag();
    if (tag >>> 3 === field) return reader.delimited();
    reader.skip(tag);
  }
  return undefined;
}
