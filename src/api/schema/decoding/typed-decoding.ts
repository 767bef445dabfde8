import { isJsonObject } from '../../codec/json/json-value.ts';
import { META_V1 } from '../../kinds/type-table.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object-meta.ts';
import { newBadRequest } from '../../status-error.ts';
import { DecodePosition, DecodeProblem, foundName } from './decode-problem.ts';
import { decodeStruct } from './struct-decoder.ts';
import { unknownFields } from './unknown-fields.ts';

export interface TypedObject {
  /** A new object that shares nothing with the input. */
  readonly object: KubeObject;
  /** Paths of what was dropped, in document order; what to do about it is the caller's (API-231, API-232). */
  readonly unknownFields: string[];
}

/**
 * Reads an object as the Go type would be read and written again (API-231 to API-233, API-521): unknown fields go, nulls
 * and empty optional fields go, fields that Go always prints are there with their zero value, times, quantities and
 * base64 have their one spelling. Decoding the result again gives the result.
 *
 * @throws StatusError 400 for a value of the wrong JSON type; its `cause` is the {@link DecodeProblem}
 */
export function decodeTyped(object: KubeObject, typeName: string): TypedObject {
  const kind = typeName.slice(typeName.lastIndexOf('.') + 1);
  const decoding = { position: new DecodePosition(kind), sawUnknownField: false };
  try {
    const decoded = decodeStruct(typeName, object, decoding);
    return { object: decoded, unknownFields: decoding.sawUnknownField ? unknownFields(object, typeName) : [] };
  } catch (error) {
    throw refused(error, { kind, version: typeName.slice(typeName.lastIndexOf('/') + 1, typeName.lastIndexOf('.')) });
  }
}

export interface TypedMetadata {
  readonly metadata: ObjectMeta;
  /** Paths below the metadata: `labls`. */
  readonly unknownFields: string[];
}

/**
 * The same for the metadata of an object whose kind has no Go type: custom resources and what is embedded in them
 * (API-234). Absent metadata is empty.
 *
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

/** The 400 for a value of the wrong type; every other error is passed on. */
function refused(error: unknown, of: { readonly kind: string; readonly version: string }): unknown {
  if (!(error instanceof DecodeProblem)) return error;
  const status = newBadRequest(
    `${of.kind} in version "${of.version}" cannot be handled as a ${of.kind}: ${error.message}`,
  );
  status.cause = error;
  return status;
}
