import { canonicalQuantity } from './quantity-spelling.ts';
import type { Fields } from './defaults-fields.ts';
import { objectAt, setIfUnset } from './defaults-fields.ts';

/** Canonical spellings of amounts finer than a thousandth, and how many of the unit make one thousandth. */
const FINER_THAN_MILLI = /^(-?\d+)(n|u|e-9|e-6)$/;
const UNITS_PER_MILLI: Readonly<Record<string, bigint>> = {
  n: 1_000_000n,
  'e-9': 1_000_000n,
  u: 1_000n,
  'e-6': 1_000n,
};

/** Rounded up, away from zero, to a thousandth. Others stay as they are, in their canonical spelling. */
export function roundUpToMilli(quantity: string): string {
  const match = FINER_THAN_MILLI.exec(quantity);
  if (match === null) return quantity;
  const [, amount = '0', unit = 'n'] = match;
  const value = BigInt(amount);
  const perMilli = UNITS_PER_MILLI[unit] ?? 1n;
  const away = value < 0n ? 1n - perMilli : perMilli - 1n;
  const millis = (value + away) / perMilli;
  const suffix = unit.startsWith('e') ? 'e-3' : 'm';
  return canonicalQuantity(`${millis}${suffix}`) ?? quantity;
}

/** A map of resource names to amounts, in place. */
export function defaultResourceList(owner: Fields | undefined, field: string): void {
  const list = objectAt(owner, field);
  if (list === undefined) return;
  for (const name of Object.keys(list)) {
    const amount = list[name];
    if (typeof amount === 'string') list[name] = roundUpToMilli(amount);
  }
}

export function defaultResourceRequirements(owner: Fields | undefined): void {
  const resources = objectAt(owner, 'resources');
  defaultResourceList(resources, 'limits');
  defaultResourceList(resources, 'requests');
}

/** Amounts of `from` for the names that `to` lacks. */
export function fillResourceList(to: Fields, from: Fields | undefined): void {
  if (from === undefined) return;
  for (const name of Object.keys(from)) setIfUnset(to, name, from[name]);
}
