import { parseTime } from '../../meta/time.ts';
import {
  addFinalizer,
  type MetadataColumns,
  OWNER_API_VERSION_RANGE,
  OWNER_BLOCK,
  OWNER_CONTROLLER,
  OWNER_FLAGS,
  OWNER_HAS_BLOCK,
  OWNER_HAS_CONTROLLER,
  OWNER_KIND_RANGE,
  OWNER_NAME_RANGE,
  setOwnerUid,
  setResourceVersion,
  setUid,
} from './metadata-columns.ts';

/** The text is not a JSON object with metadata of the right types. */
export class MetadataJsonError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MetadataJsonError';
  }
}

type Json = Readonly<Record<string, unknown>>;

/** Fields are named one by one and read as properties, because a loop over names would be slow. */
interface Metadata {
  readonly uid?: unknown;
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly resourceVersion?: unknown;
  readonly deletionTimestamp?: unknown;
  readonly finalizers?: unknown;
  readonly ownerReferences?: unknown;
}

interface Owner {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly name?: unknown;
  readonly uid?: unknown;
  readonly controller?: unknown;
  readonly blockOwnerDeletion?: unknown;
}

const MANAGED_FIELDS = Buffer.from(',"managedFields":[');
/**
 * If one of these keys stands after the cut, the rest may matter. managedFields writes the names with `f:`, and inside
 * a string the quotes would be escaped. `\\u` is included because an escape could spell a key.
 */
const MATTERS = /"(?:ownerReferences|finalizers|deletionTimestamp)"|\\u/;
/** The same keys and `namespace`, for an object without a namespace before the cut. */
const MATTERS_OR_NAMESPACE = /"(?:ownerReferences|finalizers|deletionTimestamp|namespace)"|\\u/;

const NOTHING: readonly unknown[] = [];
const encoder = new TextEncoder();

/**
 * The texts of the last object. JSON has escapes, so ranges of the source cannot be used. Valid until the next object is read, like the
 * columns.
 */
let scratch: Uint8Array = new Uint8Array(4096);
let used = 0;

/** Fills the columns from the JSON text `bytes[start..end)` of an API object. Ranges point into `columns.bytes`. */
export function readMetadataFromJson(columns: MetadataColumns, bytes: Uint8Array, start: number, end: number): void {
  const meta = parseMetadata(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start));
  columns.begin(scratch);
  used = 0;
  let from = append(meta.uid, 'uid');
  setUid(columns, scratch, from, used);
  columns.nameStart = append(meta.name, 'name');
  columns.nameEnd = used;
  columns.namespaceStart = append(meta.namespace, 'namespace');
  columns.namespaceEnd = used;
  from = append(meta.resourceVersion, 'resourceVersion');
  setResourceVersion(columns, scratch, from, used);
  columns.deleting = meta.deletionTimestamp !== undefined && meta.deletionTimestamp !== null;
  if (typeof meta.deletionTimestamp === 'string') columns.deletionSeconds = secondsOf(meta.deletionTimestamp);
  for (const finalizer of listOf(meta.finalizers, 'finalizers')) {
    if (typeof finalizer !== 'string')
      throw new MetadataJsonError('metadata.finalizers holds something else than strings');
    from = appendText(finalizer);
    addFinalizer(columns, scratch, from, used);
  }
  for (const owner of listOf(meta.ownerReferences, 'ownerReferences'))
    readOwner(columns, objectOf(owner, 'metadata.ownerReferences'));
  // Appending may have reallocated the texts.
  columns.bytes = scratch;
}

/**
 * The `metadata` of the object. The first attempt parses only the text before managedFields, which are most of the text,
 * are not needed here, and come last from a Go server. This is exact: the byte pattern is a key (inside a string its quotes would be
 * escaped), the closed prefix must be JSON with everything that every object has, and no other key that matters may follow. Otherwise all
 * of the text is parsed.
 */
function parseMetadata(text: Buffer): Metadata {
  const cut = text.indexOf(MANAGED_FIELDS);
  if (cut >= 0) {
    const meta = parsePrefix(`${text.toString('utf8', 0, cut)}}}`);
    if (meta !== undefined) {
      const matters = meta.namespace === undefined ? MATTERS_OR_NAMESPACE : MATTERS;
      if (!matters.test(text.toString('latin1', cut + MANAGED_FIELDS.length))) return meta;
    }
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.toString('utf8'));
  } catch (cause) {
    throw new MetadataJsonError('the object is no JSON', { cause });
  }
  const { metadata } = objectOf(parsed, 'the object');
  return metadata === undefined || metadata === null ? {} : objectOf(metadata, 'metadata');
}

function parsePrefix(text: string): Metadata | undefined {
  let parsed: { metadata?: Metadata } | null;
  try {
    parsed = JSON.parse(text) as { metadata?: Metadata } | null;
  } catch {
    return undefined;
  }
  const meta = parsed?.metadata;
  if (typeof meta !== 'object' || meta === null) return undefined;
  const { uid, name, resourceVersion } = meta;
  return uid !== undefined && name !== undefined && resourceVersion !== undefined ? meta : undefined;
}

function secondsOf(time: string): number {
  const seconds = Math.floor((parseTime(time) ?? Number.NaN) / 1000);
  return seconds < 0 ? Number.NaN : seconds;
}

function readOwner(columns: MetadataColumns, owner: Owner): void {
  const index = columns.addOwner();
  const { owners } = columns;
  const from = append(owner.uid, 'uid');
  setOwnerUid(owners, index, scratch, from, used);
  owners[index + OWNER_NAME_RANGE] = append(owner.name, 'name');
  owners[index + OWNER_NAME_RANGE + 1] = used;
  owners[index + OWNER_KIND_RANGE] = append(owner.kind, 'kind');
  owners[index + OWNER_KIND_RANGE + 1] = used;
  owners[index + OWNER_API_VERSION_RANGE] = append(owner.apiVersion, 'apiVersion');
  owners[index + OWNER_API_VERSION_RANGE + 1] = used;
  owners[index + OWNER_FLAGS]! |=
    flagOf(owner.controller, 'controller', OWNER_HAS_CONTROLLER, OWNER_CONTROLLER) |
    flagOf(owner.blockOwnerDeletion, 'blockOwnerDeletion', OWNER_HAS_BLOCK, OWNER_BLOCK);
}

/** Appends a text to the scratch buffer and returns its start. The text ends at `used`. */
function append(value: unknown, field: string): number {
  if (value === undefined || value === null) return used;
  if (typeof value !== 'string') throw new MetadataJsonError(`metadata: ${field} is no string`);
  return appendText(value);
}

function appendText(text: string): number {
  if (used + text.length * 3 > scratch.length) {
    const grown = new Uint8Array(Math.max(scratch.length * 2, used + text.length * 3));
    grown.set(scratch.subarray(0, used));
    scratch = grown;
  }
  const start = used;
  // Names and uids are short and ASCII, so a call into the encoder costs more than this loop.
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) {
      used = start + encoder.encodeInto(text, scratch.subarray(start)).written;
      return start;
    }
    scratch[used++] = code;
  }
  return start;
}

function flagOf(value: unknown, field: string, has: number, is: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'boolean') throw new MetadataJsonError(`metadata.ownerReferences: ${field} is no boolean`);
  return value ? has | is : has;
}

function listOf(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return NOTHING;
  if (!Array.isArray(value)) throw new MetadataJsonError(`metadata.${field} is no list`);
  return value;
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MetadataJsonError(`${what} is no object`);
  }
  return value as Json;
}
