import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid } from '../field-error.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../meta/object-meta.ts';
import { quoted } from '../meta/quoted.ts';
import { isQualifiedName } from './names.ts';

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', FINALIZER_ORPHAN, FINALIZER_FOREGROUND]);

/** Checks the form of each name, and that the two finalizers of garbage collection are not combined (API-071). */
export function validateFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const list = finalizers ?? [];
  const errors = list.flatMap((name) => isQualifiedName(name).map((message) => fieldInvalid(path, name, message)));
  if (list.includes(FINALIZER_ORPHAN) && list.includes(FINALIZER_FOREGROUND)) {
    errors.push(fieldInvalid(path, list, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

/** For built-in types only: a name without a domain must be a known one, or the write is refused (API-071). */
export function validateStandardFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  return (finalizers ?? []).flatMap((name, index) => validateStandardFinalizer(name, `${path}[${index}]`));
}

/** Applies both checks to one name of a namespace's `spec.finalizers`, reported at the caller's path. */
export function validateFinalizerName(name: string, path: string): FieldError[] {
  const form = isQualifiedName(name).map((message) => fieldInvalid(path, name, message));
  return [...form, ...validateStandardFinalizer(name, path)];
}

function validateStandardFinalizer(name: string, path: string): FieldError[] {
  if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return [];
  return [fieldInvalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified')];
}

/** Finalizers may only be removed once an object is terminating (API-072). */
export function validateNoNewFinalizers(
  next: readonly string[] | undefined,
  previous: readonly string[] | undefined,
  path: string,
): FieldError[] {
  const known = new Set(previous);
  const added = [...new Set((next ?? []).filter((name) => !known.has(name)))].sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map(quoted).join(', ')}}`;
  return [
    fieldForbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`),
  ];
}
