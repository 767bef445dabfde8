import { formatQuantity, parseQuantity, roundUpToMilli } from '../../quantity.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, setIfUnset } from '../fields/defaults-fields.ts';

/** Whole numbers whose suffix is a thousandth or more need no rounding, and most amounts have this form. */
const NOTHING_TO_ROUND = /^\d+(?:[mkMGTPE]|[KMGTPE]i)?$/;

/** Defaults a map of resource names to amounts, in place. */
export function defaultResourceList(owner: Fields | undefined, field: string): void {
  const list = objectAt(owner, field);
  if (list === undefined) return;
  for (const name of Object.keys(list)) {
    const amount = list[name];
    if (typeof amount !== 'string' || NOTHING_TO_ROUND.test(amount)) continue;
    list[name] = formatQuantity(roundUpToMilli(parseQuantity(amount)));
  }
}

export function defaultResourceRequirements(owner: Fields | undefined): void {
  const resources = objectAt(owner, 'resources');
  defaultResourceList(resources, 'limits');
  defaultResourceList(resources, 'requests');
}

/** Copies amounts from `from` for names that `to` lacks. */
export function fillResourceList(to: Fields, from: Fields | undefined): void {
  if (from === undefined) return;
  for (const name of Object.keys(from)) setIfUnset(to, name, from[name]);
}
