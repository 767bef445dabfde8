import type { Int64 } from '../base/json/exact-json.ts';
import { marshalled, quoted } from './meta/quoted.ts';

/** The closed set of validation findings. The words are part of the protocol (`details.causes[].reason`). */
export type FieldErrorReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';

/** One finding about one field. `message` is the text after `<field>: `. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  /** Dotted path with indexes: `metadata.finalizers[0]`. */
  readonly field: string;
  readonly message: string;
}

/** Formats a value: strings quoted, numbers and booleans bare, all others as compact JSON (apimachinery `field.Error.ErrorBody`). */
export function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : marshalled(value);
}

function withDetail(head: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? head : `${head}: ${detail}`;
}

export function fieldInvalid(path: string, value: unknown, detail: string): FieldError {
  return fieldInvalidAsShown(path, shown(value), detail);
}

/** Like {@link fieldInvalid}, with the value as {@link shown}: several findings about one long value share its text. */
export function fieldInvalidAsShown(path: string, text: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field: path, message: withDetail(`Invalid value: ${text}`, detail) };
}

/** Like {@link fieldInvalid}, for findings that do not repeat the value (API-471). */
export function fieldInvalidWithoutValue(path: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field: path, message: withDetail('Invalid value', detail) };
}

/** A value of the wrong JSON type in a custom resource. */
export function fieldTypeInvalid(path: string, value: unknown, detail: string): FieldError {
  return {
    reason: 'FieldValueTypeInvalid',
    field: path,
    message: withDetail(`Invalid value: ${shown(value)}`, detail),
  };
}

export function fieldRequired(path: string, detail?: string): FieldError {
  return { reason: 'FieldValueRequired', field: path, message: withDetail('Required value', detail) };
}

export function fieldForbidden(path: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field: path, message: withDetail('Forbidden', detail) };
}

export function fieldNotSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? '' : `supported values: ${supported.map(quoted).join(', ')}`;
  return {
    reason: 'FieldValueNotSupported',
    field: path,
    message: withDetail(`Unsupported value: ${shown(value)}`, detail),
  };
}

export function fieldDuplicate(path: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field: path, message: `Duplicate value: ${shown(value)}` };
}

/** Like {@link fieldDuplicate}, for findings that do not repeat the value (API-471). */
export function fieldDuplicateWithoutValue(path: string): FieldError {
  return { reason: 'FieldValueDuplicate', field: path, message: 'Duplicate value' };
}

export function fieldNotFound(path: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field: path, message: `Not found: ${shown(value)}` };
}

/** `max` in bytes. */
export function fieldTooLong(path: string, max: Int64): FieldError {
  const unit = max === 1 ? 'byte' : 'bytes';
  return {
    reason: 'FieldValueTooLong',
    field: path,
    message: `Too long: may not be more than ${max} ${unit}`,
  };
}

export function fieldTooMany(path: string, actual: number, max: Int64): FieldError {
  const unit = max === 1 ? 'item' : 'items';
  return {
    reason: 'FieldValueTooMany',
    field: path,
    message: `Too many: ${actual}: must have at most ${max} ${unit}`,
  };
}

/** `metadata.name: Required value: name or generateName is required`. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}
