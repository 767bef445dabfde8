import { append } from '../../../base/collections/append.ts';
import { equalJson, isJsonObject } from '../../codec/json/json-value.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldInvalid } from '../../field-error.ts';
import type { Fields } from './defaults-fields.ts';
import { isGiven, objectsAt, textAt } from './defaults-fields.ts';

/** Checks that many kinds share (apimachinery `pkg/api/validation`). */

export function validateImmutable(next: unknown, previous: unknown, path: string): FieldError[] {
  return sameContent(next, previous) ? [] : [fieldInvalid(path, next ?? null, 'field is immutable')];
}

/** Absent numbers are valid. */
export function validateNonNegative(owner: Fields | undefined, field: string, path: string): FieldError[] {
  const value = owner?.[field];
  return (typeof value === 'number' || typeof value === 'bigint') && value < 0
    ? [fieldInvalid(`${path}.${field}`, value, 'must be greater than or equal to 0')]
    : [];
}

/** The findings for every object of a list. */
export function validateEach(
  owner: Fields | undefined,
  field: string,
  list: { readonly path: string; readonly check: (item: Fields, path: string) => FieldError[] },
): FieldError[] {
  const errors: FieldError[] = [];
  if (!isGiven(owner, field)) return errors;
  let index = 0;
  for (const item of objectsAt(owner, field)) {
    append(errors, list.check(item, `${list.path}.${field}[${index}]`));
    index += 1;
  }
  return errors;
}

/** Validates an optional name. */
export function validateOptionalText(
  owner: Fields | undefined,
  field: string,
  rule: { readonly path: string; readonly check: (text: string) => string[] },
): FieldError[] {
  const text = textAt(owner, field);
  return text === '' ? [] : invalidFor(rule.check(text), `${rule.path}.${field}`, text);
}

/** One finding for each message about a value. */
export function invalidFor(messages: readonly string[], path: string, value: unknown): FieldError[] {
  return messages.length === 0 ? [] : messages.map((message) => fieldInvalid(path, value, message));
}

export function outsideRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** Equality of decoded objects in Go: null, absent and an empty list are equal. */
export function sameContent(left: unknown, right: unknown): boolean {
  return equalJson(withoutEmpty(left), withoutEmpty(right));
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmpty);
  if (!isJsonObject(value)) return value ?? null;
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutEmpty(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => inner !== null));
}
