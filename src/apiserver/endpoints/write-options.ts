import type { FieldError } from '../../api/field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported } from '../../api/field-error.ts';
import { newInvalid } from '../../api/status-error.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Query of a create, update or patch (apimachinery `CreateOptions`, `UpdateOptions`, `PatchOptions`). */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** Empty when the client gave none. */
  readonly fieldManager: string;
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_FIELD_MANAGER_BYTES = 128;

/** API-078, API-198, API-230, API-236: every wrong value is named at once in one 422. */
export function parseWriteOptions(query: URLSearchParams, kind: WriteOptionsKind): WriteOptions {
  if (query.size === 0) return defaultWriteOptions;
  const errors: FieldError[] = [];
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const wrong = dryRun.filter((value) => value !== 'All');
  if (wrong.length > 0) errors.push(fieldNotSupported('dryRun', wrong, ['All']));
  const fieldManager = query.get('fieldManager') ?? '';
  if (Buffer.byteLength(fieldManager) > MAX_FIELD_MANAGER_BYTES) {
    errors.push(fieldInvalid('fieldManager', fieldManager, `may not be more than ${MAX_FIELD_MANAGER_BYTES} bytes`));
  }
  if (/\p{C}/u.test(fieldManager)) {
    errors.push(fieldInvalid('fieldManager', fieldManager, 'should only contain printable characters'));
  }
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(fieldNotSupported('fieldValidation', fieldValidation, ['Ignore', 'Strict', 'Warn']));
  }
  if (kind === 'PatchOptions' && query.has('force')) {
    errors.push(fieldForbidden('force', 'may not be specified for non-apply patch'));
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    fieldManager,
  };
}

const defaultWriteOptions: WriteOptions = { dryRun: false, fieldValidation: 'Warn', fieldManager: '' };
