import { append } from '../../../base/collections/append.ts';
import {
  type BodyCodecs,
  type DecodedRequest,
  decodeRequestBody,
  type DecodeRequestOptions,
  JSON_TYPE,
  jsonBodySteps,
  mediaTypeOf,
  PROTOBUF_TYPE,
  YAML_TYPE,
  yamlBodySteps,
} from '../../../api/codec/decode-request.ts';
import { isBelow, scanKeys } from '../../../api/codec/json/duplicate-fields.ts';
import { checkIntegerTexts } from '../../../api/schema/decoding/typed-decoding.ts';
import { fieldInvalid } from '../../../api/field-error.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { inTurns } from '../../../base/time/steps.ts';
import { newBadRequest, newInvalid } from '../../../api/status-error.ts';
import { betweenSteps, inTurnsIfLong } from '../../registry/long-work.ts';
import type { ObjectSchema } from '../../registry/object/object-schema.ts';
import type { RequestContext } from './request-context.ts';
import type { FieldValidation } from './write-options.ts';

/**
 * Decodes the body of a create or update as an object of the expected kind, reports unknown and duplicate fields as requested (API-231,
 * 232), and sets defaults. The caller may change the result. A large body yields the event loop between steps.
 */
export async function decodeObject(
  context: RequestContext,
  expected: ObjectSchema,
  validation: FieldValidation,
  clock: Clock,
): Promise<KubeObject> {
  const protobuf = expected.typeName === undefined ? 'refused' : 'accepted';
  const decoded = await decodeBody(context, { kind: expected.kind, protobuf }, clock);
  const pause = betweenSteps(clock, context.request.body?.length ?? 0);
  if (pause !== undefined) await pause;
  return decodedObject(context, decoded, { expected, validation });
}

/** The same for a body that is already read. */
export function decodedObject(
  { warn }: Pick<RequestContext, 'warn'>,
  body: DecodedRequest,
  { expected, validation }: Pick<Typing, 'expected' | 'validation'>,
): KubeObject {
  checkKind(body.object, expected);
  return typedObject(body, { expected, validation, warn });
}

const NO_BYTES = new Uint8Array();

export async function decodeBody(
  context: RequestContext,
  options: Omit<DecodeRequestOptions, 'codecs'>,
  clock: Clock,
): Promise<DecodedRequest> {
  const { body = NO_BYTES } = context.request;
  const contentType = context.header('content-type');
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === JSON_TYPE) return inTurnsIfLong(clock, body.length, jsonBodySteps(body, options));
  if (mediaType !== YAML_TYPE && mediaType !== PROTOBUF_TYPE) return decodeRequestBody(body, contentType, options);
  const codecs = await codecsOf(mediaType);
  if (mediaType === YAML_TYPE) return inTurns(clock, yamlBodySteps(body, { ...options, codecs }));
  return decodeRequestBody(body, contentType, { ...options, codecs });
}

/** Loaded with the first body that needs them, because together they are larger than the server. */
async function codecsOf(mediaType: typeof YAML_TYPE | typeof PROTOBUF_TYPE): Promise<BodyCodecs> {
  if (mediaType === YAML_TYPE) return { yaml: (await import('../../../api/codec/yaml/yaml.ts')).yamlSteps };
  return { protobuf: (await import('../../../api/codec/protobuf/protobuf.ts')).decodeProtobuf };
}

/** A built-in kind without a kind or an apiVersion gets that of the endpoint (API-065, API-150). */
function checkKind(object: KubeObject, expected: ObjectSchema): void {
  const custom = expected.typeName === undefined;
  const apiVersion = apiVersionOf(expected);
  if (!custom) {
    object.apiVersion = object.apiVersion || apiVersion;
    object.kind = object.kind || expected.kind;
  }
  const { apiVersion: givenVersion = '', kind: givenKind = '' } = object;
  if (givenVersion === apiVersion && givenKind === expected.kind) return;
  if (givenKind === '') throw newBadRequest("Object 'Kind' is missing in the request body");
  if (givenKind === expected.kind || (custom && givenVersion !== apiVersion)) {
    throw newBadRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (custom) {
    const error = fieldInvalid('kind', givenKind, `must be ${expected.kind}`);
    // The name is not decoded yet, so it may have any type.
    const name: unknown = object.metadata?.name;
    throw newInvalid({ group: expected.group, kind: givenKind }, typeof name === 'string' ? name : '', [error]);
  }
  const gv = parseGroupVersion(givenVersion) ?? { group: '', version: givenVersion };
  const text = formatGroupVersionKind({ ...gv, kind: givenKind });
  throw newBadRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${text}`);
}

interface Typing {
  readonly expected: ObjectSchema;
  readonly validation: FieldValidation;
  warn(text: string): void;
}

/** Applies the schema of a kind to a decoded tree, and sets its defaults. */
function typedObject(body: DecodedRequest, { expected, validation, warn }: Typing): KubeObject {
  const { object, unknownFields } = expected.decode(body.object);
  const { repeated, text } = body;
  if (text !== undefined && expected.typeName !== undefined) checkIntegerTexts(text, expected.typeName);
  if (validation !== 'Ignore' && unknownFields.length + body.duplicates.length + repeated.length > 0) {
    const findings = findingsOf(body, unknownFields, expected);
    if (validation === 'Strict') {
      const { kind, version } = expected;
      const all = [...(repeated.length === 0 ? [] : [repeatedKeys(repeated)]), ...findings];
      throw newBadRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${all.join(', ')}`,
      );
    }
    for (const finding of [...repeated, ...findings]) warn(finding);
  }
  expected.applyDefaults(object);
  return object;
}

/** YAML's strict decoder reports all its findings as one error. */
export function repeatedKeys(problems: readonly string[]): string {
  return `yaml: unmarshal errors:\n${problems.map((one) => `  ${one}`).join('\n')}`;
}

/**
 * Findings in upstream's order: a built-in type reads its text once, and does not read unknown fields; a custom resource is read first, and
 * then checked against its schema.
 */
function findingsOf(
  { duplicates, text }: DecodedRequest,
  unknownFields: readonly string[],
  { typeName }: ObjectSchema,
): string[] {
  if (typeName === undefined) return [...strictFindings([], duplicates), ...strictFindings(unknownFields, [])];
  // Upstream converts another format to JSON first, with sorted keys.
  if (text === undefined) return strictFindings(unknownFields.toSorted(comparePaths), []);
  if (duplicates.length === 0) return strictFindings(unknownFields, []);
  const unknown = new Set(unknownFields);
  const repeated = new Set(duplicates);
  const findings: string[] = [];
  for (const { path, occurrence } of scanKeys(text)) {
    if (occurrence === 'first' && unknown.has(path)) append(findings, strictFindings([path], []));
    if (occurrence === 'first' || !repeated.delete(path)) continue;
    if (!unknownFields.some((field) => path === field || isBelow(path, field))) {
      append(findings, strictFindings([], [path]));
    }
  }
  return findings;
}

function comparePaths(a: string, b: string): number {
  const left = a.split(PATH_STEP);
  const right = b.split(PATH_STEP);
  const at = left.findIndex((step, index) => step !== right[index]);
  if (at < 0) return -1;
  const [one = '', other = ''] = [left[at], right[at]];
  if (one.startsWith('[') && other.startsWith('['))
    return Number.parseInt(one.slice(1)) - Number.parseInt(other.slice(1));
  return one < other ? -1 : 1;
}

/** Splits a path at dots, and between `ports` and `[0]`. */
const PATH_STEP = /\.|(?=\[)/;

export function strictFindings(unknownFields: readonly string[], duplicates: readonly string[]): string[] {
  return [
    ...unknownFields.map((path) => `unknown field ${quoted(path)}`),
    ...duplicates.map((path) => `duplicate field ${quoted(path)}`),
  ];
}
