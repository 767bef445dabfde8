import type { KubeObject } from '../meta/object-meta.ts';
import { newBadRequest } from '../status-error.ts';
import { DecodePosition, DecodeProblem } from './decode-problem.ts';
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
    if (!(error instanceof DecodeProblem)) throw error;
    const version = typeName.slice(typeName.lastIndexOf('/') + 1, typeName.lastIndexOf('.'));
    const status = newBadRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
    status.cause = error;
    throw status;
  }
}
