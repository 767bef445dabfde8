import { isJsonObject, setKey } from '../codec/json/json-value.ts';
import { newBadRequest } from '../status-error.ts';
import { goValue } from './go-value.ts';

/** Keys of a strategic merge patch that are instructions, not fields (API-195). */
export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const DELETE_FROM_LIST_PREFIX = '$deleteFromPrimitiveList/';
export const SET_ORDER_PREFIX = '$setElementOrder/';

/** `merge` is the default and has no effect. */
export type PatchDirective = 'replace' | 'delete' | 'merge';

/**
 * The directive of an object of the patch.
 * @throws StatusError 400 for an unknown one (API-196)
 */
export function readDirective(patch: Record<string, unknown>): PatchDirective {
  if (!Object.hasOwn(patch, DIRECTIVE)) return 'merge';
  const directive = patch[DIRECTIVE];
  if (directive === 'replace' || directive === 'delete' || directive === 'merge') return directive;
  throw newBadRequest(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}

/**
 * A value of the patch as plain content, without nulls in objects, without directives, and without nested objects that only delete or
 * replace something (upstream drops these with their content). The topmost object always counts as content, because its caller has already
 * used {@link isContent}.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter(isContent).map(withoutDirectives);
  }
  if (!isJsonObject(value)) return value;
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (key === DIRECTIVE || key === RETAIN_KEYS || inner === null || !isContent(inner)) continue;
    if (key.startsWith(DELETE_FROM_LIST_PREFIX) || key.startsWith(SET_ORDER_PREFIX)) continue;
    setKey(plain, key, withoutDirectives(inner));
  }
  return plain;
}

/** False for an object that only deletes or replaces something. */
export function isContent(value: unknown): boolean {
  return !isJsonObject(value) || readDirective(value) === 'merge';
}
