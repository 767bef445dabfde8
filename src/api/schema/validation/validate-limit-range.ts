import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldRequired } from '../../field-error.ts';
import { compareQuantities, parseQuantity } from '../../quantity.ts';
import { isQualifiedName } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from '../fields/resource-names.ts';
import { invalidFor } from '../fields/validate-fields.ts';

/** Limits of each pod, container and claim of a namespace. */

const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
const LIMITS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

export function validateLimitRange(range: Fields): FieldError[] {
  const types = new Set<string>();
  return objectsAt(objectAt(range, 'spec'), 'limits').flatMap((limit, index) => {
    const path = `spec.limits[${index}]`;
    const type = textAt(limit, 'type');
    const errors = validateLimitType(type, `${path}.type`);
    if (types.has(type)) errors.push(fieldDuplicate(`${path}.type`, type));
    types.add(type);
    return [...errors, ...validateLimit(limit, type, path), ...validateOrder(limit, path)];
  });
}

function validateLimitType(type: string, path: string): FieldError[] {
  const errors = invalidFor(isQualifiedName(type), path, type);
  if (errors.length > 0 || type.includes('/') || LIMIT_TYPES.includes(type)) return errors;
  return [fieldInvalid(path, type, 'must be a standard limit type or fully qualified')];
}

function validateLimit(limit: Fields, type: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of LIMITS) {
    const names = Object.keys(objectAt(limit, field) ?? {});
    if (type === 'Pod' && field.startsWith('default')) {
      if (names.length === 0) continue;
      errors.push(fieldForbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    const check = type === 'Pod' || type === 'Container' ? validateContainerResourceName : validateResourceName;
    append(
      errors,
      names.flatMap((name) => check(name, `${path}.${field}[${name}]`)),
    );
  }
  if (type !== 'PersistentVolumeClaim') return errors;
  if (['min', 'max'].some((field) => objectAt(limit, field)?.['storage'] !== undefined)) return errors;
  const detail = 'either minimum or maximum storage value is required, but neither was provided';
  return [...errors, fieldRequired(`${path}.limits`, detail)];
}

/** `[lower, higher, reported field, words]`. */
const ORDER = [
  ['min', 'max', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min value', 'default value'],
  ['default', 'max', 'default', 'default value', 'max value'],
] as const;

function validateOrder(limit: Fields, path: string): FieldError[] {
  const names = new Set(LIMITS.flatMap((field) => Object.keys(objectAt(limit, field) ?? {})));
  return [...names].flatMap((name) => validateOrderOf(name, limit, path));
}

function validateOrderOf(name: string, limit: Fields, path: string): FieldError[] {
  const amountOf = (field: string): string => textAt(objectAt(limit, field), name);
  const compare = (a: string, b: string): number => compareQuantities(parseQuantity(a), parseQuantity(b));
  const errors: FieldError[] = [];
  for (const [low, high, shown, lowWords, highWords] of ORDER) {
    const [a, b] = [amountOf(low), amountOf(high)];
    if (a === '' || b === '' || compare(a, b) <= 0) continue;
    // If the default is wrong, upstream prints the bound.
    const value = shown === 'default' ? amountOf(low === 'min' ? 'min' : 'max') : amountOf(shown);
    errors.push(fieldInvalid(`${path}.${shown}[${name}]`, value, `${lowWords} ${a} is greater than ${highWords} ${b}`));
  }
  const ratio = amountOf('maxLimitRequestRatio');
  if (ratio !== '' && compare(ratio, '1') < 0) {
    errors.push(fieldInvalid(`${path}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`));
  }
  const [limits, requests] = [amountOf('default'), amountOf('defaultRequest')];
  if (limits !== '' && requests !== '' && !isOvercommitAllowed(name) && compare(limits, requests) !== 0) {
    const detail = `default value ${limits} must equal to defaultRequest value ${requests} in ${name}`;
    errors.push(fieldInvalid(`${path}.defaultRequest[${name}]`, requests, detail));
  }
  return errors;
}
