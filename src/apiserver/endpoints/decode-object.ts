import {
  type BodyCodecs,
  type DecodedRequest,
  decodeRequestBody,
  type DecodeRequestOptions,
  mediaTypeOf,
  PROTOBUF_TYPE,
  YAML_TYPE,
} from '../../api/codec/decode-request.ts';
import { fieldInvalid } from '../../api/field-error.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newBadRequest, newInvalid } from '../../api/status-error.ts';
import type { ObjectSchema } from '../registry/object-schema.ts';
import type { RequestContext } from './request-context.ts';
import type { FieldValidation } from './write-options.ts';

/**
 * Body of a create or update as an object of the expected kind: decoded, unknown and duplicate fields reported as asked
 * (API-231, 232), defaulted. Fresh: the caller may change it.
 */
export async function decodeObject(
  context: RequestContext,
  expected: ObjectSchema,
  validation: FieldValidation,
): Promise<KubeObject> {
  const protobuf = expected.typeName === undefined ? 'refused' : 'accepted';
  const { object, duplicates } = await decodeBody(context, { kind: expected.kind, protobuf });
  checkKind(object, expected);
  return typedObject(object, { expected, validation, duplicates, warn: context.warn });
}

export async function decodeBody(
  context: RequestContext,
  options: Omit<DecodeRequestOptions, 'codecs'>,
): Promise<DecodedRequest> {
  const { body } = context.request;
  if (body === undefined || body.length === 0) throw newBadRequest('request body is empty');
  const contentType = context.header('content-type');
  const mediaType = mediaTypeOf(contentType);
  if (mediaType !== YAML_TYPE && mediaType !== PROTOBUF_TYPE) return decodeRequestBody(body, contentType, options);
  return decodeRequestBody(body, contentType, { ...options, codecs: await codecsOf(mediaType) });
}

/** Loaded with the first body that needs them: together they are larger than the server. */
async function codecsOf(mediaType: typeof YAML_TYPE | typeof PROTOBUF_TYPE): Promise<BodyCodecs> {
  if (mediaType === YAML_TYPE) return { yaml: (await import('../../api/codec/yaml.ts')).parseYamlStrict };
  return { protobuf: (await import('../../api/codec/protobuf.ts')).decodeProtobuf };
}

/** API-065, API-150: for built-in kinds no type at all means the endpoint's. */
function checkKind(object: KubeObject, expected: ObjectSchema): void {
  const apiVersion = apiVersionOf(expected);
  const givenVersion = object.apiVersion ?? '';
  const givenKind = object.kind ?? '';
  if (givenVersion === apiVersion && givenKind === expected.kind) return;
  const custom = expected.typeName === undefined;
  if (givenVersion === '' && givenKind === '' && !custom) {
    object.apiVersion = apiVersion;
    object.kind = expected.kind;
    return;
  }
  if (givenKind === '') throw newBadRequest("Object 'Kind' is missing in the request body");
  if (givenVersion === '') throw newBadRequest("Object 'apiVersion' is missing in the request body");
  if (givenKind === expected.kind || (custom && givenVersion !== apiVersion)) {
    throw newBadRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (custom) {
    const error = fieldInvalid('kind', givenKind, `must be ${expected.kind}`);
    // Not yet decoded: the name may be anything.
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
  readonly duplicates: readonly string[];
  warn(text: string): void;
}

/** Applies the schema of a kind to a decoded tree and gives it its defaults. */
function typedObject(tree: KubeObject, { expected, validation, duplicates, warn }: Typing): KubeObject {
  const { object, unknownFields } = expected.decode(tree);
  if (validation !== 'Ignore' && (unknownFields.length > 0 || duplicates.length > 0)) {
    const findings = strictFindings(unknownFields, duplicates);
    if (validation === 'Strict') {
      const { kind, version } = expected;
      throw newBadRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${findings.join(', ')}`,
      );
    }
    for (const finding of findings) warn(finding);
  }
  expected.applyDefaults(object);
  return object;
}

export function strictFindings(unknownFields: readonly string[], duplicates: readonly string[]): string[] {
  return [
    ...unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
}
