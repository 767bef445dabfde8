import type { FieldError } from '../../field-error.ts';
import { fieldInvalid } from '../../field-error.ts';
import { isPercent } from '../../validation/value-forms.ts';
import { invalidFor } from '../fields/validate-fields.ts';

const WHOLE = 100;

/** A number or percentage of pods: `1`, `25%`. Absent values are valid. */
export function validateIntOrPercent(value: unknown, path: string): FieldError[] {
  if (typeof value === 'string') return invalidFor(isPercent(value), path, value);
  if (typeof value !== 'number' || value >= 0) return [];
  return [fieldInvalid(path, value, 'must be greater than or equal to 0')];
}

export function validateAtMostAll(value: unknown, path: string): FieldError[] {
  const percent = typeof value === 'string' && isPercent(value).length === 0 ? Number.parseInt(value, 10) : 0;
  return percent > WHOLE ? [fieldInvalid(path, value, 'must not be greater than 100%')] : [];
}

/** True for 0, `0%`, and every text that is not a percentage. */
export function isNone(value: unknown): boolean {
  if (typeof value === 'number') return value === 0;
  return typeof value !== 'string' || Number.isNaN(Number.parseInt(value, 10)) || Number.parseInt(value, 10) === 0;
}
