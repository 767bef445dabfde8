import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import { validateFieldManager, validateManagedFields } from './managed-fields.ts';

describe('validateFieldManager', () => {
  it('API-078 is printable and at most 128 bytes', () => {
    expect(validateFieldManager('kubectl apply ä', 'fieldManager')).toEqual([]);
    expect(validateFieldManager('', 'fieldManager')).toEqual([]);
    expect(validateFieldManager('x'.repeat(129), 'fieldManager').map(formatFieldError)).toEqual([
      'fieldManager: Too long: may not be more than 128 bytes',
    ]);
    expect(validateFieldManager('ä\n', 'fieldManager').map(formatFieldError)).toEqual([
      'fieldManager: Invalid value: "ä\\n": invalid character U+000A (at position 2)',
    ]);
  });

  it('API-078 names the first three characters that are not printable', () => {
    const finding = (n: number): string =>
      `fieldManager: Invalid value: "\\x01\\x01\\x01\\x01": invalid character U+0001 (at position ${n})`;
    expect(validateFieldManager('\u0001'.repeat(4), 'fieldManager').map(formatFieldError)).toEqual(
      [0, 1, 2].map(finding),
    );
  });

  it('API-078 a manager that is too long is not quoted', () => {
    expect(validateFieldManager('\u0001'.repeat(40_000), 'fieldManager').map(formatFieldError)).toEqual([
      'fieldManager: Too long: may not be more than 128 bytes',
    ]);
  });
});

describe('validateManagedFields', () => {
  it('API-078 knows its words', () => {
    expect(validateManagedFields(undefined, 'm')).toEqual([]);
    expect(validateManagedFields([{ operation: 'Apply', fieldsType: 'FieldsV1', manager: 'x' }], 'm')).toEqual([]);
    expect(
      validateManagedFields(
        [{ operation: 'Update' }, { operation: '', fieldsType: 'V2', manager: '\n', subresource: 's'.repeat(257) }],
        'm',
      ).map(formatFieldError),
    ).toEqual([
      'm[1].operation: Invalid value: "": must be `Apply` or `Update`',
      'm[1].fieldsType: Invalid value: "V2": must be `FieldsV1`',
      'm[1].manager: Invalid value: "\\n": invalid character U+000A (at position 0)',
      'm[1].subresource: Too long: may not be more than 256 bytes',
    ]);
  });
});
