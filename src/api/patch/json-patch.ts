import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { finished, type Steps } from '../../base/time/steps.ts';
import { foundName } from '../schema/decoding/decode-problem.ts';
import { copyJson, equalJson, getKey, isDeeperThan, isJsonObject } from '../codec/json/json-value.ts';
import { MAX_JSON_DEPTH } from '../codec/json/json.ts';
import { newBadRequest, newRequestEntityTooLarge, type StatusError } from '../status-error.ts';
import {
  addAt,
  findPlace,
  MISSING,
  PatchProblem,
  type Place,
  removeAt,
  replaceAt,
  valueAt,
} from './patch-container.ts';
import { rejectedPatch } from './rejected-patch.ts';

/** Maximum number of operations (API-194; `apiserver/pkg/endpoints/handlers/patch.go` maxJSONPatchOperations). */
export const MAX_JSON_PATCH_OPERATIONS = 10_000;

/** Maximum bytes that all `copy` operations of one patch may add together. Without it, 30 operations could exhaust the memory. */
const MAX_JSON_PATCH_COPY_BYTES = 3 * 1024 * 1024;

/** An operation at the head of a list of 50,000 elements takes some 50 microseconds. */
const OPERATION_UNITS = 5;

const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];
const TEST_FAILED = 'test failed';

interface PatchOperation {
  readonly op: string;
  readonly path?: string;
  readonly from?: string;
  readonly value: unknown;
}

/** The document between operations, and the bytes that `copy` has added so far. */
interface Progress {
  document: unknown;
  copiedBytes: number;
}

/**
 * JSON Patch (RFC 6902, API-194), as kube-apiserver's library applies it: `replace` of a missing key adds it, and `copy` of one adds null.
 * Either all operations apply or none. The result shares nothing with document or patch.
 *
 * @throws StatusError 400 for a malformed patch or too deep nesting, 413 above 10,000 operations, 422 for a failing `test`, a missing path
 * or an unknown operation; its cause has the library's message.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  return finished(jsonPatchSteps(document, patch));
}

/** The same, with a pause after each operation, because one on a long list moves all of its elements. */
export function* jsonPatchSteps(
  document: unknown,
  patch: unknown,
  maxOperations = MAX_JSON_PATCH_OPERATIONS,
): Steps<unknown> {
  const operations = readOperations(patch, maxOperations);
  const progress = { document: copyJson(document), copiedBytes: 0 };
  for (const operation of operations) {
    applyOperation(progress, operation);
    yield OPERATION_UNITS;
  }
  requireShallow(progress.document);
  return progress.document;
}

/** Paths of members that operations do not have, such as `[0].vlaue`, for strict decoding (API-199). */
export function unknownJsonPatchFields(patch: unknown): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((operation: unknown, index) =>
    isJsonObject(operation)
      ? Object.keys(operation)
          .filter((key) => !OPERATION_FIELDS.includes(key))
          .map((key) => `[${index}].${key}`)
      : [],
  );
}

/** The problem in Go's words, with the name of Go's type for an operation. */
function undecodable(value: unknown, place: string): StatusError {
  return newBadRequest(`error decoding patch: json: cannot unmarshal ${foundName(value)} into Go ${place}`);
}

function readOperations(patch: unknown, maxOperations: number): PatchOperation[] {
  // Go decodes null as a list without operations.
  if (patch === null) return [];
  if (!Array.isArray(patch)) {
    throw undecodable(patch, 'value of type []handlers.jsonPatchOp');
  }
  if (patch.length > maxOperations) {
    throw newRequestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    );
  }
  return patch.map((operation: unknown) => {
    if (!isJsonObject(operation)) {
      throw undecodable(operation, 'value of type handlers.jsonPatchOp');
    }
    for (const field of ['op', 'path', 'from']) {
      const value = getKey(operation, field);
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw undecodable(value, `struct field jsonPatchOp.${field} of type string`);
      }
    }
    const { path, from } = { path: getKey(operation, 'path'), from: getKey(operation, 'from') };
    return {
      op: String(getKey(operation, 'op') ?? 'unknown'),
      ...(typeof path === 'string' ? { path } : {}),
      ...(typeof from === 'string' ? { from } : {}),
      // An operation without a value carries null.
      value: getKey(operation, 'value') ?? null,
    };
  });
}

/** True if a `test` operation compared unequal; false if the patch was rejected for any other reason. */
export function isFailedTest(error: StatusError): boolean {
  return typeof error.cause === 'string' && error.cause.endsWith(`: ${TEST_FAILED}`);
}

function applyOperation(progress: Progress, operation: PatchOperation): void {
  switch (operation.op) {
    case 'add':
      return add(progress, operation);
    case 'remove':
      return remove(progress, operation);
    case 'replace':
      return replace(progress, operation);
    case 'test':
      return test(progress, operation);
    case 'copy':
      return copy(progress, operation);
    case 'move':
      return move(progress, operation);
    default:
      throw rejectedPatch(`Unexpected kind: ${operation.op}`);
  }
}

function add({ document }: Progress, { path, value }: PatchOperation): void {
  if (path === undefined) throw rejectedPatch(`add operation failed to decode path: ${MISSING}`);
  const place = findPlace(document, path);
  if (place === undefined) {
    throw rejectedPatch(`add operation does not apply: doc is missing path: "${path}": ${MISSING}`);
  }
  explained(`error in add for path: '${path}'`, () => addAt(place, copyJson(value)));
}

function remove({ document }: Progress, { path }: PatchOperation): void {
  if (path === undefined) throw rejectedPatch(`remove operation failed to decode path: ${MISSING}`);
  const place = findPlace(document, path);
  if (place === undefined) {
    throw rejectedPatch(`remove operation does not apply: doc is missing path: "${path}": ${MISSING}`);
  }
  explained(`error in remove for path: '${path}'`, () => removeAt(place));
}

function replace(progress: Progress, operation: PatchOperation): void {
  const path = requirePath(operation);
  const value = copyJson(operation.value);
  if (path === '') {
    if (typeof value !== 'object' || value === null) {
      throw rejectedPatch('replace operation value must be object or array: %!w(<nil>)');
    }
    progress.document = value;
    return;
  }
  const place = findPlace(progress.document, path);
  if (place === undefined) {
    throw rejectedPatch(`replace operation does not apply: doc is missing path: ${path}: ${MISSING}`);
  }
  try {
    replaceAt(place, value);
  } catch {
    throw rejectedPatch(`replace operation does not apply: doc is missing key: ${path}: ${MISSING}`);
  }
}

/** A `test` for null also passes if the key is absent. */
function test({ document }: Progress, operation: PatchOperation): void {
  const path = requirePath(operation);
  let found = document;
  if (path !== '') {
    const place = findPlace(document, path);
    if (place === undefined) throw rejectedPatch(`test operation does not apply: is missing path: ${path}: ${MISSING}`);
    found = explained(`error in test for path: '${path}'`, () => valueAt(place));
  }
  if (!equalJson(found, operation.value)) throw rejectedPatch(`testing value ${path} failed: ${TEST_FAILED}`);
}

function move({ document }: Progress, operation: PatchOperation): void {
  const source = sourceOf(document, operation);
  const moved = explained(`error in move for path: '${source.key}'`, () => {
    const value = valueAt(source);
    removeAt(source);
    return value;
  });
  const path = requirePath(operation);
  const place = destinationOf(document, path, 'move');
  // Does not copy the value, so that a patch of many moves costs the same for large and small documents.
  explained(`error in move for path: '${path}'`, () => addAt(place, moved));
}

function copy(progress: Progress, operation: PatchOperation): void {
  const source = sourceOf(progress.document, operation);
  const value = explained(`error in copy for from: '${operation.from ?? ''}'`, () => valueAt(source));
  if (operation.path === undefined) throw rejectedPatch(`copy operation failed to decode path: ${MISSING}`);
  const place = destinationOf(progress.document, operation.path, 'copy');
  requireShallow(value);
  progress.copiedBytes += stringifyExactJson(value).length;
  if (progress.copiedBytes > MAX_JSON_PATCH_COPY_BYTES) {
    const increase = `the accumulated size increase of copy is ${progress.copiedBytes}`;
    throw rejectedPatch(`Unable to complete the copy, ${increase}, exceeding the limit ${MAX_JSON_PATCH_COPY_BYTES}`);
  }
  explained('error while adding value during copy', () => addAt(place, copyJson(value)));
}

/** A patch must not create an object that nests deeper than a request may, because later code recurses. */
function requireShallow(value: unknown): void {
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw newBadRequest('json parse error: exceeded max depth');
}

function requirePath({ op, path }: PatchOperation): string {
  if (path !== undefined) return path;
  throw rejectedPatch(`${op} operation failed to decode path: operation missing path field: ${MISSING}`);
}

function sourceOf(document: unknown, { op, from }: PatchOperation): Place {
  if (from === undefined) {
    throw rejectedPatch(`${op} operation failed to decode from: operation, missing from field: ${MISSING}`);
  }
  const place = findPlace(document, from);
  if (place !== undefined) return place;
  throw rejectedPatch(`${op} operation does not apply: doc is missing from path: ${from}: ${MISSING}`);
}

function destinationOf(document: unknown, path: string, op: 'copy' | 'move'): Place {
  const place = findPlace(document, path);
  if (place !== undefined) return place;
  throw rejectedPatch(`${op} operation does not apply: doc is missing destination path: ${path}: ${MISSING}`);
}

function explained<T>(during: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof PatchProblem) throw rejectedPatch(`${during}: ${error.message}`);
    throw error;
  }
}
