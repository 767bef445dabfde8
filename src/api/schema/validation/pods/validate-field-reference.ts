import type { FieldError } from '../../../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../../../field-error.ts';
import { isQualifiedName } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { textAt } from '../../fields/defaults-fields.ts';
import { invalidFor } from '../../fields/validate-fields.ts';

/** All fields of a pod that the downward API knows. Each place of a reference allows some of them. */
const KNOWN: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** `metadata.labels['app']`. */
const SUBSCRIPT = /^(.+?)\['(.*)'\]$/s;

/** A reference to a field of the pod itself. */
export function validateFieldReference(
  reference: Fields | undefined,
  path: string,
  supported: readonly string[],
): FieldError[] {
  if (reference === undefined) return [];
  const fieldPath = textAt(reference, 'fieldPath');
  if (fieldPath === '') return [fieldRequired(`${path}.fieldPath`)];
  const version = textAt(reference, 'apiVersion');
  if (version !== 'v1') return [notConverted(path, fieldPath, `unsupported pod version: ${version}`)];
  const subscript = SUBSCRIPT.exec(fieldPath);
  if (subscript !== null) return validateSubscript(subscript[1] ?? '', subscript[2] ?? '', { path, fieldPath });
  const meant = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!KNOWN.has(meant)) return [notConverted(path, fieldPath, `field label not supported: ${fieldPath}`)];
  return supported.includes(meant) ? [] : [fieldNotSupported(`${path}.fieldPath`, meant, supported)];
}

function validateSubscript(
  field: string,
  key: string,
  at: { readonly path: string; readonly fieldPath: string },
): FieldError[] {
  if (field === 'metadata.labels') return invalidFor(isQualifiedName(key), at.path, key);
  if (field === 'metadata.annotations') {
    const lower = key.toLowerCase();
    return invalidFor(isQualifiedName(lower), at.path, lower);
  }
  return [notConverted(at.path, at.fieldPath, `field label does not support subscript: ${at.fieldPath}`)];
}

function notConverted(path: string, fieldPath: string, problem: string): FieldError {
  return fieldInvalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`);
}
