import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../../api/field-error.ts';
import { fieldForbidden, fieldNotSupported, fieldRequired } from '../../../api/field-error.ts';
import { newInvalid } from '../../../api/status-error.ts';
import { validateFieldManager } from '../../../api/validation/managed-fields.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The query of a create, update or patch (apimachinery `CreateOptions`, `UpdateOptions`, `PatchOptions`). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Empty if the client set none. */
  readonly fieldManager: string;
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

/** Throws one 422 with every invalid value (API-078, API-198, API-230, API-236). */
export function parseWriteOptions(query: URLSearchParams, kind: WriteOptionsKind): WriteOptions {
  if (query.size === 0) return defaultWriteOptions;
  const forbidden = kind === 'PatchOptions' && query.has('force');
  return parse(query, kind, forbidden ? [fieldForbidden('force', 'may not be specified for non-apply patch')] : []);
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other managers instead of a conflict. */
  readonly force: boolean;
}

/** The PatchOptions of an apply, which requires a fieldManager (API-210). */
export function parseApplyOptions(query: URLSearchParams): ApplyOptions {
  const nobody = (query.get('fieldManager') ?? '') === '';
  const errors = nobody ? [fieldRequired('fieldManager', 'is required for apply patch')] : [];
  const force = query.get('force')?.toLowerCase();
  return {
    ...parse(query, 'PatchOptions', errors),
    force: force !== undefined && force !== 'false' && force !== '0',
  };
}

function parse(query: URLSearchParams, kind: WriteOptionsKind, errors: FieldError[]): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? '';
  append(errors, validateFieldManager(fieldManager, 'fieldManager'));
  const dryRun = query.getAll('dryRun');
  if (dryRun.some((value) => value !== 'All')) errors.push(fieldNotSupported('dryRun', dryRun, ['All']));
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(fieldNotSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    fieldManager,
  };
}

const defaultWriteOptions: WriteOptions = { dryRun: false, fieldValidation: 'Warn', fieldManager: '' };
