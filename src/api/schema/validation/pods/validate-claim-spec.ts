import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { compareQuantities, parseQuantity } from '../../../quantity.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { listOfTextsAt, objectAt, textAt } from '../../fields/defaults-fields.ts';
import { ACCESS_MODES } from '../../fields/supported-values.ts';
import { sameContent, validateOptionalText } from '../../fields/validate-fields.ts';

const ZERO = parseQuantity('0');

/** The storage request of a claim, as text. */
export function storageRequest(spec: Fields | undefined): string | undefined {
  const amount = objectAt(objectAt(spec, 'resources'), 'requests')?.['storage'];
  return typeof amount === 'string' ? amount : undefined;
}

export function validatePositive(amount: string, path: string): FieldError[] {
  if (compareQuantities(parseQuantity(amount), ZERO) > 0) return [];
  return [fieldInvalid(path, amount, 'must be greater than zero')];
}

/** A mode for a single pod excludes all others; unknown modes are reported elsewhere. */
export function validateSinglePod(spec: Fields | undefined, path: string): FieldError[] {
  const modes = listOfTextsAt(spec, 'accessModes');
  const others = modes.filter((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (!modes.includes('ReadWriteOncePod') || others.length === 0) return [];
  return [fieldForbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes')];
}

/** The spec of a claim, or of a claim template. */
export function validateClaimSpec(spec: Fields | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (listOfTextsAt(spec, 'accessModes').length === 0) {
    errors.push(fieldRequired(`${path}.accessModes`, 'at least 1 access mode is required'));
  }
  append(errors, validateSinglePod(spec, path));
  const storage = storageRequest(spec);
  const storagePath = `${path}.resources[storage]`;
  append(errors, storage === undefined ? [fieldRequired(storagePath)] : validatePositive(storage, storagePath));
  append(errors, validateOptionalText(spec, 'storageClassName', { path, check: isDns1123Subdomain }));
  return [...errors, ...validateSources(spec, path)];
}

/** The data source of a volume. The older field repeats the newer one unless the newer one refers to another namespace. */
function validateSources(spec: Fields | undefined, path: string): FieldError[] {
  const source = objectAt(spec, 'dataSource');
  const reference = objectAt(spec, 'dataSourceRef');
  const errors = [
    ...validateSource(source, `${path}.dataSource`),
    ...validateSource(reference, `${path}.dataSourceRef`),
    ...validateOptionalText(reference, 'namespace', { path: `${path}.dataSourceRef`, check: isDns1123Label }),
  ];
  if (source === undefined || reference === undefined) return errors;
  // Upstream prints an empty object instead of the value.
  if (textAt(reference, 'namespace') !== '') {
    const detail = 'may not be specified when dataSourceRef.namespace is specified';
    return [...errors, fieldInvalid(path, {}, detail)];
  }
  const { namespace: _namespace, ...rest } = reference;
  return sameContent(source, rest) ? errors : [...errors, fieldInvalid(path, {}, 'must match dataSourceRef')];
}

function validateSource(source: Fields | undefined, path: string): FieldError[] {
  if (source === undefined) return [];
  const kind = textAt(source, 'kind');
  const errors: FieldError[] = [];
  if (textAt(source, 'name') === '') errors.push(fieldRequired(`${path}.name`));
  if (kind === '') errors.push(fieldRequired(`${path}.kind`));
  if (textAt(source, 'apiGroup') === '' && kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldInvalid(path, kind, detail));
  }
  return [...errors, ...validateOptionalText(source, 'apiGroup', { path, check: isDns1123Subdomain })];
}
