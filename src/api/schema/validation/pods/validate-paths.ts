import type { FieldError } from '../../../field-error.ts';
import { fieldInvalid } from '../../../field-error.ts';

/** Paths in the file system of a volume or node. */

/** The path must not leave its directory. Only one finding is reported. */
export function validateNoBacksteps(text: string, path: string): FieldError[] {
  return text.includes('..') && text.split('/').includes('..')
    ? [fieldInvalid(path, text, "must not contain '..'")]
    : [];
}

export function validateRelativePath(text: string, path: string): FieldError[] {
  const errors = validateNoBacksteps(text, path);
  if (text.startsWith('/')) errors.unshift(fieldInvalid(path, text, 'must be a relative path'));
  return errors;
}

/** Names that begin with two dots are reserved for the kubelet. */
export function validateOwnPath(text: string, path: string): FieldError[] {
  const errors = validateRelativePath(text, path);
  if (text.startsWith('..') && !text.startsWith('../')) {
    errors.push(fieldInvalid(path, text, "must not start with '..'"));
  }
  return errors;
}

const MAX_MODE = 0o777;

/** File permissions. */
export function validateMode(mode: number | undefined, path: string): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_MODE)) return [];
  return [fieldInvalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}
