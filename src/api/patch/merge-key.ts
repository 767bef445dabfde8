import { isJsonObject } from '../codec/json/json-value.ts';
import { newBadRequest, newUntypedInternal } from '../status-error.ts';
import { goValue } from './go-value.ts';

/** The identity of an element: the value of its merge key, or in a list of scalars the element itself. */
export function elementIdentity(element: unknown, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined || !isJsonObject(element)) return element;
  return element[mergeKey];
}

/**
 * The identity, which must be present.
 * @throws StatusError 500 with upstream's text (API-196), 400 for a scalar
 */
export function requireMergeKey(element: unknown, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined) return element;
  if (!isJsonObject(element)) throw newBadRequest('invalid patch format: an element of a list of objects is no object');
  if (!Object.hasOwn(element, mergeKey)) {
    throw newUntypedInternal(`map: ${goValue(element)} does not contain declared merge key: ${mergeKey}`);
  }
  return element[mergeKey];
}
