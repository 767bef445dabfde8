import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from '../../field-error.ts';
import { ACCOUNT_NAME, TOKEN_SECRET_TYPE } from '../../meta/token-secret.ts';
import { isConfigKey } from '../../validation/value-forms.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt } from '../fields/defaults-fields.ts';
import { invalidFor, sameContent, validateImmutable } from '../fields/validate-fields.ts';

/** Maximum size of all decoded values of a ConfigMap or Secret together (1 MiB). */
const MAX_DATA_BYTES = 1_048_576;
const IMMUTABLE = 'field is immutable when `immutable` is set';
const REDACTED = '<secret contents redacted>';

/** Keys that a Secret of a type must have. If there are several lists, one of them suffices. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateKeys(data: Fields | undefined, path: string): FieldError[] {
  return Object.keys(data ?? {}).flatMap((key) => invalidFor(isConfigKey(key), `${path}[${key}]`, key));
}

function totalBytes(data: Fields | undefined, encoding: 'utf8' | 'base64'): number {
  return Object.values(data ?? {}).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value), encoding), 0);
}

export function validateConfigMap(configMap: Fields): FieldError[] {
  const data = objectAt(configMap, 'data');
  const binaryData = objectAt(configMap, 'binaryData');
  const errors = [...validateKeys(data, 'data'), ...validateKeys(binaryData, 'binaryData')];
  for (const key of Object.keys(data ?? {})) {
    if (Object.hasOwn(binaryData ?? {}, key)) {
      errors.push(fieldInvalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
  }
  // The finding concerns the whole object, which upstream prints as an empty index.
  const size = totalBytes(data, 'utf8') + totalBytes(binaryData, 'base64');
  if (size > MAX_DATA_BYTES) errors.push(fieldTooLong('[]', MAX_DATA_BYTES));
  return errors;
}

export function validateConfigMapUpdate(next: Fields, previous: Fields): FieldError[] {
  return validateFrozen(next, previous, ['data', 'binaryData']);
}

export function validateSecret(secret: Fields): FieldError[] {
  const data = objectAt(secret, 'data');
  const errors = validateKeys(data, 'data');
  if (totalBytes(data, 'base64') > MAX_DATA_BYTES) errors.push(fieldTooLong('data', MAX_DATA_BYTES));
  const type = String(secret['type'] ?? '');
  for (const key of REQUIRED_KEYS[type] ?? []) {
    const present = Object.hasOwn(data ?? {}, key) && !(key === 'ssh-privatekey' && data?.[key] === '');
    if (!present) errors.push(fieldRequired(`data[${key}]`));
    else if (key.startsWith('.docker')) append(errors, validateJsonValue(data, key));
  }
  if (type === 'kubernetes.io/basic-auth' && !hasAny(data, ['username', 'password'])) {
    errors.push(fieldRequired('data[username]'), fieldRequired('data[password]'));
  }
  if (type === TOKEN_SECRET_TYPE) {
    const name = objectAt(objectAt(secret, 'metadata'), 'annotations')?.[ACCOUNT_NAME];
    if (name === undefined || name === '') errors.push(fieldRequired(`metadata.annotations[${ACCOUNT_NAME}]`));
  }
  return errors;
}

export function validateSecretUpdate(next: Fields, previous: Fields): FieldError[] {
  return [...validateImmutable(next['type'], previous['type'], 'type'), ...validateFrozen(next, previous, ['data'])];
}

/** `immutable` cannot be unset, and the data cannot change. */
function validateFrozen(next: Fields, previous: Fields, fields: readonly string[]): FieldError[] {
  if (previous['immutable'] !== true) return [];
  const changed = fields.filter((field) => !sameContent(next[field], previous[field]));
  if (next['immutable'] !== true) changed.unshift('immutable');
  return changed.map((field) => fieldForbidden(field, IMMUTABLE));
}

function hasAny(data: Fields | undefined, keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(data ?? {}, key));
}

function validateJsonValue(data: Fields | undefined, key: string): FieldError[] {
  try {
    JSON.parse(Buffer.from(String(data?.[key]), 'base64').toString('utf8'));
    return [];
  } catch (error) {
    // The parser's message may contain secret content.
    return [fieldInvalid(`data[${key}]`, REDACTED, error instanceof SyntaxError ? 'invalid JSON' : String(error))];
  }
}
