import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldTooLong } from '../field-error.ts';
import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { isPrintable } from '../meta/quoted.ts';
import { byteLength } from './names.ts';

const FIELD_MANAGER_MAX = 128;
const SUBRESOURCE_NAME_MAX = 256;

/** Maximum number of reported characters of one manager, because an object of 3 MiB has space for a hundred thousand. */
const MOST_CHARACTERS_TOLD = 3;

/**
 * Checks that a field manager is printable and at most 128 bytes (API-078), also in the query. A longer one is not checked further, because
 * each finding about a character quotes the whole manager.
 */
export function validateFieldManager(manager: string, path: string): FieldError[] {
  if (byteLength(manager) > FIELD_MANAGER_MAX) return [fieldTooLong(path, FIELD_MANAGER_MAX)];
  const errors: FieldError[] = [];
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(fieldInvalid(path, manager, `invalid character U+${code} (at position ${position})`));
      if (errors.length === MOST_CHARACTERS_TOLD) break;
    }
    position += byteLength(character);
  }
  return errors;
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: string): FieldError[] {
  return (entries ?? []).flatMap((entry, index) => {
    const at = `${path}[${index}]`;
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
    const errors: FieldError[] = [];
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(fieldInvalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(fieldInvalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    append(errors, validateFieldManager(manager, `${at}.manager`));
    if (byteLength(subresource) > SUBRESOURCE_NAME_MAX) {
      errors.push(fieldTooLong(`${at}.subresource`, SUBRESOURCE_NAME_MAX));
    }
    return errors;
  });
}
