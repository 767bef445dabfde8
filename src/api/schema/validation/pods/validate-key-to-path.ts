import type { FieldError } from '../../../field-error.ts';
import { fieldRequired } from '../../../field-error.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { numberAt, textAt } from '../../fields/defaults-fields.ts';
import { validateMode, validateOwnPath } from './validate-paths.ts';

/** One key of a Secret or ConfigMap as a file. */
export function validateKeyToPath(item: Fields, path: string): FieldError[] {
  return [
    ...(textAt(item, 'key') === '' ? [fieldRequired(`${path}.key`)] : []),
    ...(textAt(item, 'path') === '' ? [fieldRequired(`${path}.path`)] : []),
    ...validateOwnPath(textAt(item, 'path'), `${path}.path`),
    ...validateMode(numberAt(item, 'mode'), `${path}.mode`),
  ];
}
