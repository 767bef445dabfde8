import { isJsonObject } from '../../codec/json/json-value.ts';
import { META_V1 } from '../../kinds/type-table.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object-meta.ts';
import { newBadRequest } from '../../status-error.ts';
import { DecodePosition, DecodeProblem, foundName } from './decode-problem.ts';
import { problemOfIntegerText } from './integer-texts.ts';
import { decodeStruct } from './struct-decoder.ts';
import { unknownFields } from './unknown-fields.ts';

export interface TypedObject {
  /** A new object that shares nothing with the input. */
  readonly object: KubeObject;
  /** Paths of dropped fields, in document order. The caller decides how to report them (API-231, API-232). */
  readonly unknownFields: string[];
}

/**
 * Decodes an object as if Go had decoded and encoded it (API-231 to API-233, API-521): unknown fields, nulls and empty optional fields are
 * removed; fields that Go always prints have their zero value; times, quantities and base64 are canonical. Decoding is idempotent.
 *
 * @throws StatusError 400 for a value of the wrong JSON type; its `cause` is the {@link DecodeProblem}
 */
export function decodeTyped(object: KubeObject, typeName: string): TypedObject {
  const of = kindAndVersion(typeName);
  const decoding = { position: new DecodePosition(of.kind), sawUnknownField: false };
  try {
    const decoded = decodeStruct(typeName, object, decoding);
    return { object: decoded, unknownFields: decoding.sawUnknownField ? unknownFields(object, typeName) : [] };
  } catch (error) {
    throw refused(error, of);
  }
}

/**
 * Refuses a JSON text in which an integer field of the type has a number such as `1e2` or `1.0`.
 * @throws StatusError 400 as {@link decodeTyped}
 */
export function checkIntegerTexts(text: string, typeName: string): void {
  const problem = problemOfIntegerText(text, typeName);
  if (problem !== undefined) throw refused(problem, kindAndVersion(typeName));
}

function kindAndVersion(typeName: string): { readonly kind: string; readonly version: string } {
  const dot = typeName.lastIndexOf('.');
  return { kind: typeName.slice(dot + 1), version: typeName.slice(typeName.lastIndexOf('/') + 1, dot) };
}

export interface TypedMetadata {
  readonly metadata: ObjectMeta;
  /** Paths within metadata: `labls`. */
  readonly unknownFields: string[];
}

/**
 * The same for the metadata of an object whose kind has no Go type: custom resources and objects embedded in them (API-234). Absent
 * metadata is empty.
 * @throws StatusError 400 as {@link decodeTyped}, with paths like `<Kind>.metadata.labels`
 */
export function decodeMetadata(
  metadata: unknown,
  of: { readonly kind: string; readonly version: string },
): TypedMetadata {
  const typeName = `${META_V1}.ObjectMeta`;
  const given = metadata ?? {};
  const position = new DecodePosition(of.kind);
  position.enter('metadata');
  const decoding = { position, sawUnknownField: false };
  try {
    if (!isJsonObject(given)) throw position.mismatch(foundName(given), 'v1.ObjectMeta');
    const decoded = decodeStruct(typeName, given, decoding);
    return { metadata: decoded, unknownFields: decoding.sawUnknownField ? unknownFields(given, typeName) : [] };
  } catch (error) {
    throw refused(error, of);
  }
}

/** The 400 for a value of the wrong type; other errors pass unchanged. */
function refused(error: unknown, of: { readonly kind: string; readonly version: string }): unknown {
  if (!(error instanceof DecodeProblem)) return error;
  const status = newBadRequest(
    `${of.kind} in version "${of.version}" cannot be handled as a ${of.kind}: ${error.message}`,
  );
  status.cause = error;
  return status;
}
