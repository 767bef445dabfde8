import { copyJson, getKey, isJsonObject, setKey } from '../codec/json/json-value.ts';
import type { StatusError } from '../status-error.ts';
import { newBadRequest } from '../status-error.ts';
import { orderElements } from './element-order.ts';
import { elementIdentity, requireMergeKey } from './merge-key.ts';
import { mergeList, removeFromList } from './merge-list.ts';
import {
  DELETE_FROM_LIST_PREFIX,
  DIRECTIVE,
  RETAIN_KEYS,
  SET_ORDER_PREFIX,
  isContent,
  readDirective,
  withoutDirectives,
} from './patch-directives.ts';
import type { PatchFieldRule, PatchSchema } from './patch-schema.ts';
import { ruleOf, structSchema } from './patch-schema.ts';
import { rejectedPatch } from './rejected-patch.ts';

type Json = Record<string, unknown>;

/**
 * Strategic merge patch (API-195, apimachinery `pkg/util/strategicpatch`): like a merge patch, but lists with a merge key
 * are merged by it, and directives replace, delete, order and retain. The result shares nothing with its inputs and holds
 * no directive.
 *
 * @param typeName the Go type of `document` in the type table; it decides which lists merge
 * @throws StatusError of API-196: 400 bad document or directive, 422 lists of lists or keys outside `$retainKeys`, 500
 *   an element without its merge key
 */
export function applyStrategicMergePatch(document: unknown, patch: unknown, typeName: string): unknown {
  if (!isJsonObject(document) || !isJsonObject(patch)) throw newBadRequest('invalid JSON document');
  return mergeObject(document, patch, structSchema(typeName));
}

/** The depth of the patch bounds the recursion; its decoder limits that depth. */
function mergeObject(original: Json, patch: Json, schema: PatchSchema): Json {
  const directive = readDirective(patch);
  if (directive === 'delete') return {};
  if (directive === 'replace') return withoutDirectives(patch) as Json;

  const result = retainedFields(original, patch);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER_PREFIX)) continue;
    if (key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(DELETE_FROM_LIST_PREFIX)) continue;
    if (Object.hasOwn(patch, SET_ORDER_PREFIX + key)) continue;
    mergeField(result, { key, value: patch[key], rule: ruleOf(schema, key) });
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER_PREFIX)) mergeOrderedField(result, patch, { directive: key, schema });
  }
  // Deletions come last, so a value both added and deleted is deleted.
  for (const key of Object.keys(patch)) {
    if (key.startsWith(DELETE_FROM_LIST_PREFIX)) deleteFromField(result, key, patch[key]);
  }
  return result;
}

/** A copy of the original, without the fields that a `$retainKeys` of the patch leaves out. */
function retainedFields(original: Json, patch: Json): Json {
  const retain = getKey(patch, RETAIN_KEYS);
  if (retain === undefined) return copyJson(original);
  if (!Array.isArray(retain)) throw newBadRequest('invalid patch format of retainKeys');
  const retained = new Set<unknown>(retain);
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || key.startsWith('$')) continue;
    if (!retained.has(key)) throw rejectedPatch("patch content doesn't match retainKeys list");
  }
  const result: Json = {};
  for (const key of Object.keys(original)) {
    if (retained.has(key)) setKey(result, key, copyJson(original[key]));
  }
  return result;
}

function mergeField(
  result: Json,
  field: { readonly key: string; readonly value: unknown; readonly rule: PatchFieldRule },
): void {
  const { key, value, rule } = field;
  const current = getKey(result, key);
  if (value === null) {
    delete result[key];
  } else if (isJsonObject(current) && isJsonObject(value)) {
    const replaces = rule.strategy === 'replace';
    setKey(result, key, replaces ? withoutDirectives(value) : mergeObject(current, value, rule.schema));
  } else if (rule.strategy === 'merge' && Array.isArray(current) && Array.isArray(value)) {
    setKey(
      result,
      key,
      mergeList(current, value, {
        ...(rule.mergeKey === undefined ? {} : { mergeKey: rule.mergeKey }),
        mergeElement: (live, patch) => mergeObject(live, patch, rule.schema),
      }),
    );
  } else {
    replaceField(result, key, value);
  }
}

/**
 * The patch's value without its directives. A patch of directives alone returns nothing: deleting elements of an absent list changes
 * nothing (COL-160).
 */
function replaceField(result: Json, key: string, value: unknown): void {
  const plain = withoutDirectives(value);
  const onlyDirectives = Array.isArray(plain) && plain.length === 0 && Array.isArray(value) && value.length > 0;
  if (!isContent(value) || (onlyDirectives && !Object.hasOwn(result, key))) delete result[key];
  else setKey(result, key, plain);
}

/** `$setElementOrder/<field>`: the list of the patch, if any, is merged first, then the items are ordered. */
function mergeOrderedField(
  result: Json,
  patch: Json,
  at: { readonly directive: string; readonly schema: PatchSchema },
): void {
  const key = at.directive.slice(SET_ORDER_PREFIX.length);
  const order = patch[at.directive];
  const rule = ruleOf(at.schema, key);
  const live = getKey(result, key);
  const addition = getKey(patch, key);
  if (!Array.isArray(order)) throw badOrder();
  if (live !== undefined && !Array.isArray(live)) throw badOrder();
  if (addition !== undefined && !Array.isArray(addition)) throw badOrder();
  if (live === undefined && addition === undefined) return;

  const orderIdentities = order.map((item: unknown) => requireMergeKey(item, rule.mergeKey));
  if (addition !== undefined) {
    checkOrder(addition, orderIdentities, rule);
    mergeField(result, { key, value: addition, rule });
  }
  const merged = getKey(result, key);
  if (!Array.isArray(merged)) return;
  const identify = (item: unknown): unknown => elementIdentity(item, rule.mergeKey);
  for (const item of merged) requireMergeKey(item, rule.mergeKey);
  setKey(
    result,
    key,
    orderElements(merged, identify, {
      patchOrder: orderIdentities,
      serverOrder: (live ?? []).map(identify),
    }),
  );
}

/** Every item of the patch must be in the order list, and the order list must match. */
function checkOrder(addition: readonly unknown[], order: readonly unknown[], rule: PatchFieldRule): void {
  if (order.length === 0) return;
  let position = 0;
  for (const item of addition) {
    if (isJsonObject(item) && Object.hasOwn(item, DIRECTIVE) && readDirective(item) !== 'merge') continue;
    const identity = requireMergeKey(item, rule.mergeKey);
    while (position < order.length && order[position] !== identity) position++;
    if (position++ >= order.length) {
      throw newBadRequest(`The order in patch list doesn't match ${SET_ORDER_PREFIX.slice(0, -1)} list`);
    }
  }
}

function deleteFromField(result: Json, directive: string, values: unknown): void {
  const key = directive.slice(DELETE_FROM_LIST_PREFIX.length);
  if (!Array.isArray(values)) throw newBadRequest('invalid patch format of primitive list');
  const current = getKey(result, key);
  if (Array.isArray(current)) setKey(result, key, removeFromList(current, values));
}

function badOrder(): StatusError {
  return newBadRequest('invalid patch format of setElementOrder list');
}
