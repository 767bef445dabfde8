import { inspect } from 'node:util';
import { isObject } from './given-value.ts';

/**
 * Refuses a value that is not an object of options, and unknown options, so that a misspelled option is not ignored. For callers without
 * types.
 */
export function checkKeys(what: string, given: object, known: readonly string[]): void {
  if (!isObject(given)) throw new TypeError(`${what} takes an object, not ${inspect(given)}`);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new TypeError(`${what} has no "${unknown}"; there are: ${known.join(', ')}`);
}
