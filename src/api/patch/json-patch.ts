import { Pointer } from 'rfc6902';

import { copyJson, equalJson, getKey, isDeeperThan, isJsonObject, setKey } from '../codec/json-value.ts';
import { MAX_JSON_DEPTH } from '../codec/json.ts';
import { newBadRequest, newRequestEntityTooLarge } from '../status-error.ts';
import { rejectedPatch } from './rejected-patch.ts';

/** API-194: `apiserver/pkg/endpoints/handlers/patch.go` maxJSONPatchOperations. */
export const MAX_JSON_PATCH_OPERATIONS = 10_000;

/** Bytes that all `copy` operations of one patch may add together; without it 30 operations could fill the memory. */
const MAX_JSON_PATCH_COPY_BYTES = 3 * 1024 * 1024;

const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];
const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/;

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** The document between operations, and what `copy` has added to it so far. */
interface Progress {
  document: unknown;
  copiedBytes: number;
}

/** Where a pointer leads: the whole document, or a slot of an existing container. */
type Location =
  | { readonly at: 'root' }
  | { readonly at: 'index'; readonly list: unknown[]; readonly index: number }
  | { readonly at: 'key'; readonly object: Record<string, unknown>; readonly key: string };

/**
 * JSON Patch (RFC 6902, API-194). All operations apply or none. The result shares nothing with document or patch.
 *
 * @throws StatusError 400 for what is no patch or nests too deeply, 413 above 10,000 operations, 422 for a failing `test`,
 *   a missing path or an operation that does not exist.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = readOperations(patch);
  const progress = { document: copyJson(document), copiedBytes: 0 };
  for (const operation of operations) applyOperation(progress, operation);
  requireShallow(progress.document);
  return progress.document;
}

/** Paths of members that no operation has, such as `[0].vlaue`, for the strict decoding of API-199. */
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

function readOperations(patch: unknown): PatchOperation[] {
  if (!Array.isArray(patch)) {
    throw newBadRequest('error decoding patch: json: a JSON patch must be a list of operations');
  }
  if (patch.length > MAX_JSON_PATCH_OPERATIONS) {
    throw newRequestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${patch.length}`,
    );
  }
  return patch.map((operation: unknown, index) => {
    if (!isJsonObject(operation)) {
      throw newBadRequest(`error decoding patch: json: operation ${index} is not an object`);
    }
    for (const field of ['op', 'path', 'from']) {
      const value = getKey(operation, field);
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw newBadRequest(`error decoding patch: json: field ${field} of operation ${index} is not a string`);
      }
    }
    const from = getKey(operation, 'from');
    return {
      op: String(getKey(operation, 'op') ?? ''),
      path: requirePath(getKey(operation, 'path'), index),
      ...(typeof from === 'string' ? { from } : {}),
      // An operation without a value carries null, as the upstream library reads it.
      value: getKey(operation, 'value') ?? null,
    };
  });
}

function requirePath(path: unknown, index: number): string {
  if (typeof path !== 'string') throw newBadRequest(`error decoding patch: json: operation ${index} has no path`);
  return path;
}

function applyOperation(progress: Progress, operation: PatchOperation): void {
  const { op, path, value } = operation;
  switch (op) {
    case 'add':
      return add(progress, path, copyJson(value));
    case 'remove':
      return remove(progress, path);
    case 'replace':
      return replace(progress, path, copyJson(value));
    case 'test':
      return test(progress, path, value);
    case 'copy':
      return copy(progress, operation);
    case 'move': {
      const from = requireFrom(operation);
      const moved = read(progress, from);
      if (path.startsWith(`${from}/`)) throw rejectedPatch(`cannot move ${from} into itself`);
      if (path === from) return;
      remove(progress, from);
      // Not copied: a patch of many moves costs no more for a large document than for a small one.
      return add(progress, path, moved);
    }
    default:
      throw rejectedPatch(`unexpected kind of operation: ${op}`);
  }
}

/** `value` becomes part of the document. */
function add(progress: Progress, path: string, value: unknown): void {
  const location = locate(progress.document, path);
  if (location.at === 'root') progress.document = value;
  else if (location.at === 'index') location.list.splice(location.index, 0, value);
  else setKey(location.object, location.key, value);
}

function remove(progress: Progress, path: string): void {
  const location = locate(progress.document, path);
  if (location.at === 'root' || !isOccupied(location)) throw rejectedPatch(`nothing to remove at ${path}`);
  if (location.at === 'index') location.list.splice(location.index, 1);
  else delete location.object[location.key];
}

/** `value` becomes part of the document. */
function replace(progress: Progress, path: string, value: unknown): void {
  const location = locate(progress.document, path);
  if (!isOccupied(location)) throw rejectedPatch(`nothing to replace at ${path}`);
  if (location.at === 'root') progress.document = value;
  else if (location.at === 'index') location.list[location.index] = value;
  else setKey(location.object, location.key, value);
}

function copy(progress: Progress, operation: PatchOperation): void {
  const value = read(progress, requireFrom(operation));
  requireShallow(value);
  progress.copiedBytes += JSON.stringify(value).length;
  if (progress.copiedBytes > MAX_JSON_PATCH_COPY_BYTES) throw rejectedPatch('the copy operations add too much');
  add(progress, operation.path, copyJson(value));
}

/** What nests deeper than a request may must not arise from one either: all that comes later recurses. */
function requireShallow(value: unknown): void {
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw newBadRequest('json parse error: exceeded max depth');
}

/** A `test` for null also passes where nothing is, as upstream; otherwise the path must exist. */
function test(progress: Progress, path: string, expected: unknown): void {
  const location = locate(progress.document, path);
  if (!isOccupied(location) && expected === null) return;
  if (!equalJson(read(progress, path), expected)) throw rejectedPatch(`test failed at ${path}`);
}

function requireFrom(operation: PatchOperation): string {
  if (operation.from === undefined) throw rejectedPatch(`${operation.op} without from`);
  return operation.from;
}

function read(progress: Progress, path: string): unknown {
  let value = progress.document;
  for (const token of tokensOf(path)) {
    value = childOf(value, token);
    if (value === undefined) throw rejectedPatch(`missing path ${path}`);
  }
  return value;
}

/** The slot a pointer names; its container exists, the slot may be empty. Inherited names and `1e0` as an index name none. */
function locate(document: unknown, path: string): Location {
  const tokens = tokensOf(path);
  const last = tokens.pop();
  if (last === undefined) return { at: 'root' };
  let parent = document;
  for (const token of tokens) parent = childOf(parent, token);
  if (Array.isArray(parent)) {
    if (last === '-') return { at: 'index', list: parent, index: parent.length };
    const index = ARRAY_INDEX.test(last) ? Number(last) : Number.POSITIVE_INFINITY;
    if (index > parent.length) throw rejectedPatch(`index out of range at ${path}`);
    return { at: 'index', list: parent, index };
  }
  if (!isJsonObject(parent)) throw rejectedPatch(`missing path ${path}`);
  return { at: 'key', object: parent, key: last };
}

function isOccupied(location: Location): boolean {
  if (location.at === 'root') return true;
  return location.at === 'index' ? location.index < location.list.length : Object.hasOwn(location.object, location.key);
}

function tokensOf(path: string): string[] {
  try {
    return Pointer.fromJSON(path).tokens.slice(1);
  } catch {
    throw rejectedPatch(`invalid pointer ${path}`);
  }
}

function childOf(parent: unknown, token: string): unknown {
  if (Array.isArray(parent)) return ARRAY_INDEX.test(token) ? parent[Number(token)] : undefined;
  return isJsonObject(parent) ? getKey(parent, token) : undefined;
}
