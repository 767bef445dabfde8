import type { decodeRequestBody as decodeRequest } from '../../api/codec/decode-request.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { applyDefaults } from '../../api/schema/defaults.ts';
import { decodeTyped } from '../../api/schema/typed-decoding.ts';
import { newBadRequest } from '../../api/status-error.ts';
import type { RequestContext } from './request-context.ts';
import type { FieldValidation } from './write-options.ts';

/** The kind a body must be of. */
export interface ExpectedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Absent for custom resources. */
  readonly typeName?: string;
}

export function expectedKind(info: ResourceInfo): ExpectedKind {
  return info;
}

/**
 * Body of a create or update as an object of the expected kind: decoded, unknown and duplicate fields reported as asked
 * (API-231, 232), defaulted. Fresh: the caller may change it.
 */
export async function decodeObject(
  context: RequestContext,
  expected: ExpectedKind,
  validation: FieldValidation,
): Promise<KubeObject> {
  const protobuf = expected.typeName === undefined ? 'refused' : 'accepted';
  const { object, duplicates } = await decodeBody(context, { kind: expected.kind, protobuf });
  checkKind(object, expected);
  return typedObject(object, { expected, validation, duplicates, warn: context.warn });
}

type DecodeRequestBody = typeof decodeRequest;

let decodeRequestBody: DecodeRequestBody | undefined;

/** The codecs of three media types are loaded with the first body: a server that only answers reads starts without them. */
export async function decodeBody(
  context: RequestContext,
  options: Parameters<DecodeRequestBody>[2],
): Promise<ReturnType<DecodeRequestBody>> {
  const { body } = context.request;
  if (body === undefined || body.length === 0) throw newBadRequest('request body is empty');
  decodeRequestBody ??= (await import('../../api/codec/decode-request.ts')).decodeRequestBody;
  return decodeRequestBody(body, context.header('content-type'), options);
}

/** API-065, API-150: no type at all means the endpoint's. */
function checkKind(object: KubeObject, expected: ExpectedKind): void {
  const apiVersion = apiVersionOf(expected);
  const givenVersion = object.apiVersion ?? '';
  const givenKind = object.kind ?? '';
  if (givenVersion === '' && givenKind === '') {
    object.apiVersion = apiVersion;
    object.kind = expected.kind;
    return;
  }
  if (givenKind === '') throw newBadRequest("Object 'Kind' is missing in the request body");
  if (givenVersion === '') throw newBadRequest("Object 'apiVersion' is missing in the request body");
  if (givenVersion === apiVersion && givenKind === expected.kind) return;
  if (givenKind === expected.kind) {
    throw newBadRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  const gv = parseGroupVersion(givenVersion) ?? { group: '', version: givenVersion };
  const text = formatGroupVersionKind({ ...gv, kind: givenKind });
  throw newBadRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${text}`);
}

interface Typing {
  readonly expected: ExpectedKind;
  readonly validation: FieldValidation;
  readonly duplicates: readonly string[];
  warn(text: string): void;
}

/** Applies the type of a built-in kind to a decoded tree and gives it its defaults. */
export function typedObject(object: KubeObject, typing: Typing): KubeObject {
  const { expected, validation, duplicates, warn } = typing;
  if (expected.typeName === undefined) return object;
  const typed = decodeTyped(object, expected.typeName);
  if (validation !== 'Ignore' && (typed.unknownFields.length > 0 || duplicates.length > 0)) {
    const findings = strictFindings(typed.unknownFields, duplicates);
    if (validation === 'Strict') {
      throw newBadRequest(
        `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: strict decoding error: ${findings.join(', ')}`,
      );
    }
    for (const finding of findings) warn(finding);
  }
  applyDefaults(typed.object, apiVersionOf(expected), expected.kind);
  return typed.object;
}

export function strictFindings(unknownFields: readonly string[], duplicates: readonly string[]): string[] {
  return [
    ...unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
}
