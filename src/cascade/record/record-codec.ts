import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Random } from '../../base/random/random.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';
import type { RecordedObject } from './recorded-object.ts';
import { RecordError } from './record-error.ts';
import { openText, type SealedText, sealText } from './secret-cipher.ts';

/** The latest format version of a record's files. A later one is refused. */
const SCHEMA_VERSION = 2;
/** The version of a record without a file for the objects of its plan. Older programs read it. */
const WITHOUT_PLAN_FILE = 1;

/** Size and checksum of a file with one JSON value a line. */
export interface LinesFile {
  readonly count: number;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The content of `record.json`. */
export interface RecordFile {
  /** Its plan has no objects if these are in a file of their own. */
  readonly record: CascadeRecord;
  /** The file with the bodies. */
  readonly objects: LinesFile;
  /** The file with the objects of the plan, if there are too many of them for one text. */
  readonly planObjects?: LinesFile;
}

/** The text of `record.json`, with a version and a checksum over its content. */
export function encodeRecordFile(file: RecordFile): string {
  const content = stringifyExactJson(file);
  const schemaVersion = file.planObjects === undefined ? WITHOUT_PLAN_FILE : SCHEMA_VERSION;
  return `${stringifyExactJson({ schemaVersion, sha256: sha256Of(content), content: file }, 1)}\n`;
}

/** Throws a RecordError `damaged` or `laterVersion`; never returns a part of the content. */
export function decodeRecordFile(text: string, path: string): RecordFile {
  let file: { schemaVersion?: unknown; sha256?: unknown; content?: RecordFile };
  try {
    file = parseExactJson(text) as typeof file;
  } catch (error) {
    throw damaged(path, 'it is not JSON', { cause: error });
  }
  if (!isJsonObject(file)) throw damaged(path, 'it is not an object');
  refuseLater(file.schemaVersion, path);
  if (file.content === undefined || file.sha256 !== sha256Of(stringifyExactJson(file.content))) {
    throw damaged(path, 'its checksum is wrong');
  }
  return file.content;
}

/** One line of `objects.jsonl`. */
interface ObjectLine {
  readonly body: KubeObject;
  /** The whole Secret, encrypted; `body` then only identifies it. */
  readonly sealed?: SealedText;
  readonly dataOmitted?: true;
}

/** How the Secrets of a record are stored. */
export type SecretKeeping =
  | { readonly mode: 'encrypted'; readonly key: Uint8Array; readonly random: Random }
  | { readonly mode: 'omitted' };

/** kubectl stores the whole object in this annotation, including the data of a Secret. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === 'v1' && kind === 'Secret';

/** One line without the newline. It never contains the data of a Secret in clear text (CAS-061). */
export function encodeObject(id: string, body: KubeObject, keeping: SecretKeeping): string {
  if (!isSecret(body)) return stringifyExactJson({ body } satisfies ObjectLine);
  const skeleton = withoutData(body);
  if (keeping.mode === 'omitted') return stringifyExactJson({ body: skeleton, dataOmitted: true } satisfies ObjectLine);
  const sealed = sealText(stringifyExactJson(body), keeping.key, placeOf(id, body), keeping.random);
  return stringifyExactJson({ body: skeleton, sealed } satisfies ObjectLine);
}

/** @param key if absent, Secrets are returned without their data. Throws a RecordError `damaged` or `key`. */
export function decodeObject(id: string, line: string, key: Uint8Array | undefined): RecordedObject {
  let parsed: ObjectLine;
  try {
    parsed = parseExactJson(line) as ObjectLine;
  } catch (error) {
    throw damaged(id, 'a line of its objects is not JSON', { cause: error });
  }
  const { body, sealed, dataOmitted } = parsed;
  if (sealed === undefined) return dataOmitted === true ? { body, dataOmitted } : { body };
  if (key === undefined) return { body, dataOmitted: true };
  try {
    return { body: parseExactJson(openText(sealed, key, placeOf(id, body))) as KubeObject };
  } catch (error) {
    const { namespace, name } = body.metadata ?? {};
    throw new RecordError(
      'key',
      `record ${id}: secret ${namespace}/${name} cannot be decrypted with this key`,
      'Put back the file "key" that was beside the records when this one was written.',
      { cause: error },
    );
  }
}

function withoutData({ data: _data, stringData: _stringData, ...rest }: KubeObject): KubeObject {
  const { annotations, managedFields: _managedFields, ...metadata } = rest.metadata ?? {};
  if (annotations === undefined) return { ...rest, metadata };
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED));
  return { ...rest, metadata: { ...metadata, annotations: kept } };
}

const placeOf = (id: string, { metadata }: KubeObject): string => `${id}/${metadata?.uid ?? ''}`;

export const sha256Of = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

function refuseLater(version: unknown, path: string): void {
  if (version === SCHEMA_VERSION || version === WITHOUT_PLAN_FILE) return;
  if (typeof version !== 'number') throw damaged(path, 'it has no schemaVersion');
  throw new RecordError(
    'laterVersion',
    `${path} has schemaVersion ${version}; this kubegc reads version ${SCHEMA_VERSION}`,
    'Use the version of kubegc that wrote it, or a later one.',
  );
}

/** @param what names the file or record */
export function damaged(what: string, why: string, options?: ErrorOptions): RecordError {
  return new RecordError(
    'damaged',
    `${what} is damaged: ${why}`,
    'Nothing of it is restored. Take the record from a backup of the folder, or delete the folder of the record.',
    options,
  );
}
