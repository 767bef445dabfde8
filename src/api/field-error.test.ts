import { describe, expect, it } from 'vitest';
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldInvalidWithoutValue,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  formatFieldError,
} from './field-error.ts';

const rows: readonly [FieldError, FieldError['reason'], string][] = [
  [fieldInvalid('a.b', 'x', 'bad'), 'FieldValueInvalid', 'a.b: Invalid value: "x": bad'],
  [fieldInvalid('a', 0, 'bad'), 'FieldValueInvalid', 'a: Invalid value: 0: bad'],
  [fieldInvalid('a', true, 'bad'), 'FieldValueInvalid', 'a: Invalid value: true: bad'],
  [fieldInvalid('a', undefined, 'bad'), 'FieldValueInvalid', 'a: Invalid value: null: bad'],
  [fieldInvalid('a', [{ b: '1' }], 'bad'), 'FieldValueInvalid', 'a: Invalid value: [{"b":"1"}]: bad'],
  [fieldInvalidWithoutValue('a', 'rule'), 'FieldValueInvalid', 'a: Invalid value: rule'],
  [fieldRequired('a'), 'FieldValueRequired', 'a: Required value'],
  [fieldRequired('a', 'why'), 'FieldValueRequired', 'a: Required value: why'],
  [fieldForbidden('a', 'why'), 'FieldValueForbidden', 'a: Forbidden: why'],
  [
    fieldNotSupported('a', 'x', ['p', 'q']),
    'FieldValueNotSupported',
    'a: Unsupported value: "x": supported values: "p", "q"',
  ],
  [fieldNotSupported('a', ['x'], []), 'FieldValueNotSupported', 'a: Unsupported value: ["x"]'],
  [fieldDuplicate('a', 'x'), 'FieldValueDuplicate', 'a: Duplicate value: "x"'],
  [fieldNotFound('a', 'x'), 'FieldValueNotFound', 'a: Not found: "x"'],
  [fieldTooLong('a', 262144), 'FieldValueTooLong', 'a: Too long: may not be more than 262144 bytes'],
  [fieldTooLong('a', 1), 'FieldValueTooLong', 'a: Too long: may not be more than 1 byte'],
  [fieldTooMany('a', 9, 8), 'FieldValueTooMany', 'a: Too many: 9: must have at most 8 items'],
  [fieldTooMany('a', 2, 1), 'FieldValueTooMany', 'a: Too many: 2: must have at most 1 item'],
  [fieldTypeInvalid('a', 'x', 'bad'), 'FieldValueTypeInvalid', 'a: Invalid value: "x": bad'],
];

describe('field errors', () => {
  it.each(rows)('API-042 %o', (error, reason, text) => {
    expect(error.reason).toBe(reason);
    expect(formatFieldError(error)).toBe(text);
  });
});
