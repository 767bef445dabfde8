import { fieldInvalid, formatFieldError } from '../../../api/field-error.ts';
import { newBadRequest } from '../../../api/status-error.ts';

/** The object in a row of a table, beside the cells. */
export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** The query parameter `includeObject`; throws a 400 for an unknown value (API-430). */
export function parseIncludeObject(value: string | null | undefined): IncludeObject {
  if (value === null || value === undefined || value === '') return 'Metadata';
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value;
  const error = fieldInvalid('includeObject', value, "must be 'Metadata', 'Object', 'None', or empty");
  throw newBadRequest(`Unable to convert to Table as requested: ${formatFieldError(error)}`);
}
