import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import { objectEnd, stringEnd } from '../../api/codec/json/json-cursor.ts';
import { JsonLabels } from '../../api/codec/metadata/json-labels.ts';
import { JsonMembers } from '../../api/codec/json/json-members.ts';
import type { MetadataText } from '../../api/codec/metadata/partial-object-metadata.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { type LabelSignature, signatureOfPlaces, UNKNOWN_LABELS } from '../../api/selectors/label-signature.ts';
import type { KeyValue, Revision } from './interface.ts';

/**
 * An object as it is stored: JSON, beginning `{"kind":…,"apiVersion":…,"metadata":{…}`, without
 * `metadata.resourceVersion`. It is the revision of the write, which is unknown before the write. Because it is inserted when
 * the object is read, the same bytes can be stored and served without being parsed.
 */
export function encodeStored(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...stored } = metadata ?? {};
  // Usually a part of Node's shared pool, so a store that keeps it copies it.
  return Buffer.from(stringifyExactJson({ kind, apiVersion, metadata: stored, ...rest }));
}

const METADATA = Buffer.from('"metadata":{');
const QUOTE = 0x22;
const CLOSE = 0x7d;

/** The position of the first member of metadata. Throws if the bytes are not a stored object. */
function metadataStart(stored: Uint8Array): number {
  const at = findMetadata(stored);
  if (at < 0) throw new SyntaxError('not a stored object: it has no metadata');
  return at;
}

/**
 * Returns the position of the metadata, or -1 if there is none. The fields in front are strings; a loop over so few bytes is quicker than a
 * call that searches.
 */
function findMetadata(stored: Uint8Array): number {
  for (let at = 1; at >= 0; at = stored[at] === QUOTE ? stringEnd(stored, at) : at + 1) {
    if (at >= stored.length) return -1;
    let i = 0;
    while (i < METADATA.length && stored[at + i] === METADATA[i]) i++;
    if (i === METADATA.length) return at + i;
  }
  return -1;
}

/** Text around an object, ASCII only. */
export interface Surroundings {
  readonly before: string;
  readonly after: string;
}

const NOTHING: Surroundings = { before: '', after: '' };

/** The stored bytes with `"resourceVersion":"<revision>"` as the first member of metadata. */
export function spliceResourceVersion(
  stored: Uint8Array,
  revision: Revision,
  { before, after }: Surroundings = NOTHING,
): Uint8Array {
  const at = metadataStart(stored);
  const member = resourceVersionMember(stored, at, revision);
  const result = Buffer.allocUnsafe(before.length + stored.length + member.length + after.length);
  let end = result.write(before, 0, 'latin1');
  result.set(stored.subarray(0, at), end);
  end += at;
  end += result.write(member, end, 'latin1');
  result.set(stored.subarray(at), end);
  result.write(after, end + stored.length - at, 'latin1');
  return result;
}

/** Takes pieces of a text in their order. */
export interface JsonSink {
  /** ASCII. */
  text(text: string): void;
  /** Adds all of `source`, or a range of it. */
  bytes(source: Uint8Array, start?: number, end?: number): void;
}

/** The object with its resourceVersion, without its first `skip` bytes; these must not reach into its metadata. */
export function writeStored(sink: JsonSink, { stored, revision }: StoredBytes, skip: number): void {
  const at = metadataStart(stored);
  sink.bytes(stored, skip, at);
  sink.text(resourceVersionMember(stored, at, revision));
  sink.bytes(stored, at);
}

/** Its metadata, with resourceVersion; nothing is parsed. */
export function writeStoredMetadata(sink: JsonSink, kv: KeyValue): void {
  const { value, modRevision } = kv;
  const at = metadataStart(value);
  sink.text('{');
  sink.text(resourceVersionMember(value, at, modRevision));
  kv.metadataEnd ||= metadataEnd(value, at - 1);
  sink.bytes(value, at, kv.metadataEnd);
}

/** Metadata as text, for a codec that needs only text. */
export function storedMetadataText({ stored, revision }: StoredBytes): MetadataText {
  return { json: stored, start: metadataStart(stored) - 1, resourceVersion: String(revision) };
}

/** Reading is synchronous and never re-enters, so one reader serves all. */
const labelReader = new JsonLabels();

/** The object's labels; undefined where only a parser can read them. */
export function storedLabels(stored: Uint8Array): Readonly<Record<string, string>> | undefined {
  return labelReader.record(stored, metadataStart(stored) - 1);
}

/** The positions of the object's labels, valid until the next call; `parse` if only a parser can find them. */
export function storedLabelPlaces(stored: Uint8Array): readonly number[] | 'parse' {
  const at = findMetadata(stored);
  return at < 0 ? 'parse' : labelReader.places(stored, at - 1);
}

/** The signature of the object's labels; it never throws, even for damaged bytes. */
export function storedSignature(stored: Uint8Array): LabelSignature {
  const places = storedLabelPlaces(stored);
  return places === 'parse' ? UNKNOWN_LABELS : signatureOfPlaces(stored, places);
}

export interface StoredBytes {
  readonly stored: Uint8Array;
  readonly revision: Revision;
}

/** `at` is the position of the first member of metadata. */
function resourceVersionMember(stored: Uint8Array, at: number, revision: Revision): string {
  return `"resourceVersion":"${revision}"${stored[at] === CLOSE ? '' : ','}`;
}

/** The object with its resourceVersion. */
export function parseStored(stored: Uint8Array, revision: Revision): KubeObject {
  const object = parseExactJson(asBuffer(stored).toString()) as KubeObject;
  object.metadata ??= {};
  object.metadata.resourceVersion = String(revision);
  return object;
}

/** Only the metadata, with resourceVersion; skips the rest of the object without parsing it. */
export function parseStoredMetadata(stored: Uint8Array, revision: Revision): ObjectMeta {
  const start = metadataStart(stored) - 1;
  const metadata = JSON.parse(asBuffer(stored).toString('utf8', start, metadataEnd(stored, start))) as ObjectMeta;
  metadata.resourceVersion = String(revision);
  return metadata;
}

const DECIDING = [
  'name',
  'uid',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'finalizers',
] as const;
const decidingReader = new JsonMembers(DECIDING);

/** The metadata that decides about a DELETE; undefined where only a parser can read it. */
export function storedDeletionMetadata(stored: Uint8Array, revision: Revision): DeletionMetadata | undefined {
  const read = decidingReader.read(asBuffer(stored), metadataStart(stored) - 1);
  if (read === undefined) return undefined;
  const metadata = read as DeletionMetadata;
  metadata.resourceVersion = String(revision);
  return metadata;
}

/** All the metadata that `api/deletion` reads, for kinds without a grace period. */
export type DeletionMetadata = Pick<ObjectMeta, (typeof DECIDING)[number] | 'resourceVersion'>;

/** The position after the metadata that begins at `start`. */
function metadataEnd(stored: Uint8Array, start: number): number {
  const end = objectEnd(stored, start);
  if (end < 0) throw new SyntaxError('not a stored object: its metadata has no end');
  return end;
}

function asBuffer(bytes: Uint8Array): Buffer {
  if (bytes instanceof Buffer) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
