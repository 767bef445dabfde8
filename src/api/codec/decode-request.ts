import { foundName } from '../schema/decoding/decode-problem.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { finished, type Steps } from '../../base/time/steps.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { newBadRequest, newUnsupportedMediaType, StatusError } from '../status-error.ts';
import { boundTreeValues, MAX_BODY_VALUES, MAX_OBJECT_MEMBERS } from './json/body-values.ts';
import { isJsonObject } from './json/json-value.ts';
import { decodeUtf8 } from './json/json.ts';
import { jsonTextSteps } from './json/json-steps.ts';
import type { decodeProtobuf } from './protobuf/protobuf.ts';
import { ProtobufError } from './protobuf/protobuf-wire.ts';
import type { yamlSteps } from './yaml/yaml.ts';

/** The large codecs. Most bodies are JSON, so the caller loads the others only for the types that {@link mediaTypeOf} returns. */
export interface BodyCodecs {
  readonly yaml?: typeof yamlSteps;
  readonly protobuf?: typeof decodeProtobuf;
}

export interface DecodeRequestOptions {
  /** The kind that the endpoint expects, for error messages and for protobuf envelopes that name none. */
  readonly kind: string;
  /** The version that the endpoint expects, for the same uses. */
  readonly apiVersion?: string;
  /** Custom resources have no protobuf form (API-030). */
  readonly protobuf: 'accepted' | 'refused';
  /** Absent codecs cause a TypeError if the body needs them. */
  readonly codecs?: BodyCodecs;
}

export interface DecodedRequest {
  /** `apiVersion` and `kind` are strings if present, everything else is unchecked. */
  readonly object: KubeObject;
  /** Paths of duplicate keys of a JSON text (API-231). */
  readonly duplicates: readonly string[];
  /** Duplicate keys of YAML in the form of its reader: `line 4: key "a" already set in map`. */
  readonly repeated: readonly string[];
  /** The JSON text, because the object may have lost the order of the text's members. Absent for other formats. */
  readonly text?: string;
}

export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const TOO_LARGE = 413;
const BOUNDS = { values: MAX_BODY_VALUES, members: MAX_OBJECT_MEMBERS };
/** Bytes of a body in an error message (apiserver `summarizeData`). */
const SUMMARY_LENGTH = 30;

/**
 * Decodes the body of a create or update, or of options (API-028 to API-030). A body of null is an object without fields, because Go's
 * `json.Unmarshal` of null leaves a struct unchanged.
 *
 * @throws StatusError 415 for a content type that is not accepted, 400 for a body that is not one object
 */
export function decodeRequestBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  options: DecodeRequestOptions,
): DecodedRequest {
  const mediaType = mediaTypeOf(contentType);
  if (
    mediaType === PROTOBUF_TYPE ? options.protobuf === 'refused' : mediaType !== JSON_TYPE && mediaType !== YAML_TYPE
  ) {
    throw unknownFormat(options);
  }
  if (mediaType === YAML_TYPE) return finished(yamlBodySteps(bytes, options));
  if (mediaType === JSON_TYPE) return finished(jsonBodySteps(bytes, options));
  try {
    return decodedRequest(bytes, decodeProtobufValue(bytes, options));
  } catch (error) {
    throw refusal(bytes, error, options);
  }
}

/** The same for a body in JSON, with pauses. */
export function* jsonBodySteps(bytes: Uint8Array, options: DecodeRequestOptions): Steps<DecodedRequest> {
  try {
    return decodedRequest(bytes, yield* jsonSteps(bytes));
  } catch (error) {
    throw refusal(bytes, error, options);
  }
}

/** The same for a body in YAML, with pauses. */
export function* yamlBodySteps(bytes: Uint8Array, options: DecodeRequestOptions): Steps<DecodedRequest> {
  try {
    return decodedRequest(bytes, { ...(yield* brought(options.codecs?.yaml)(decodeUtf8(bytes))), duplicates: [] });
  } catch (error) {
    throw refusal(bytes, error, options);
  }
}

function decodedRequest(bytes: Uint8Array, { value, ...findings }: DecodedValue): DecodedRequest {
  if (findings.text === undefined) boundTreeValues(value, bytes.length);
  return { object: value === null ? {} : requireObject(value), ...findings };
}

function refusal(bytes: Uint8Array, error: unknown, options: DecodeRequestOptions): unknown {
  if (error instanceof StatusError && error.code === TOO_LARGE) return error;
  return error instanceof ProtobufError || error instanceof StatusError ? unrecognized(bytes, error, options) : error;
}

/** The media type in lower case without parameters; JSON if the header is missing or empty. */
export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined || contentType === '') return JSON_TYPE;
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

interface DecodedValue extends Omit<DecodedRequest, 'object'> {
  readonly value: unknown;
}

function decodeProtobufValue(bytes: Uint8Array, options: DecodeRequestOptions): DecodedValue {
  const value = brought(options.codecs?.protobuf)(bytes, { ...options, bounds: BOUNDS });
  return { value, duplicates: [], repeated: [] };
}

function* jsonSteps(bytes: Uint8Array): Steps<DecodedValue> {
  try {
    const text = decodeUtf8(bytes);
    return { ...(yield* jsonTextSteps(text)), repeated: [], text };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === TOO_LARGE) throw error;
    throw newBadRequest(`couldn't get version/kind; ${error.message}`);
  }
}

function brought<T>(codec: T | undefined): T {
  if (codec === undefined) throw new TypeError('the codec of the body was not brought');
  return codec;
}

/** The Go type into which kube-apiserver first decodes a body, as its messages print it. */
const TYPE_OF_AN_OBJECT =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function requireObject(value: unknown): KubeObject {
  const problem = (found: string, place: string): StatusError =>
    newBadRequest(`couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go ${place}`);
  if (!isJsonObject(value)) {
    throw problem(foundName(value), `value of type ${TYPE_OF_AN_OBJECT}`);
  }
  for (const field of ['apiVersion', 'kind']) {
    const given = value[field];
    if (given === undefined || typeof given === 'string') continue;
    if (given === null) delete value[field];
    else throw problem(foundName(given), `struct field .${field} of type string`);
  }
  return value;
}

function unknownFormat(options: DecodeRequestOptions): StatusError {
  const accepted = [JSON_TYPE, YAML_TYPE, ...(options.protobuf === 'accepted' ? [PROTOBUF_TYPE] : [])];
  return newUnsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

function unrecognized(bytes: Uint8Array, cause: unknown, options: DecodeRequestOptions): StatusError {
  const problem = messageOf(cause);
  const status = newBadRequest(
    `the object provided is unrecognized (must be of type ${options.kind}): ${problem} (${summary(bytes)})`,
  );
  status.cause = cause;
  return status;
}

/** The start of the body, as text if it looks like JSON, otherwise in hexadecimal. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const start = Buffer.from(bytes.subarray(0, SUMMARY_LENGTH));
  const shown = start.toString(bytes[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > SUMMARY_LENGTH ? `${shown} ...` : shown;
}
