import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, int64At, numberAt, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateResourceReference } from './validate-env.ts';
import { validateFieldReference } from './validate-field-reference.ts';
import { validateKeyToPath } from './validate-key-to-path.ts';
import { validateMode, validateOwnPath } from './validate-paths.ts';

const FIELD_PATHS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const SOURCES = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** One file of the downward API. Findings are reported at its source. */
export function validateDownwardFile(file: Fields, path: string): FieldError[] {
  const place = textAt(file, 'path');
  const field = objectAt(file, 'fieldRef');
  const resource = objectAt(file, 'resourceFieldRef');
  const errors = place === '' ? [fieldRequired(`${path}.path`)] : validateOwnPath(place, `${path}.path`);
  if (field !== undefined) {
    append(errors, validateFieldReference(field, `${path}.fieldRef`, FIELD_PATHS));
    if (resource !== undefined) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(fieldInvalid(path, 'resource', detail));
    }
  } else if (resource !== undefined) {
    append(errors, validateResourceReference(resource, `${path}.resourceFieldRef`, 'volume'));
  } else {
    errors.push(fieldRequired(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  return [...errors, ...validateMode(numberAt(file, 'mode'), `${path}.mode`)];
}

/** Several sources in one directory. Their file names must differ. */
export function validateProjected(source: Fields, path: string): FieldError[] {
  const errors = validateMode(numberAt(source, 'defaultMode'), `${path}.defaultMode`);
  const files = new Set<string>();
  for (const [index, projection] of objectsAt(source, 'sources').entries()) {
    const at = `${path}.sources[${index}]`;
    append(errors, validateProjection(projection, { at, volume: path, files }));
    if (SOURCES.filter((field) => isGiven(projection, field)).length > 1) {
      errors.push(fieldForbidden(at, 'may not specify more than 1 volume type per source'));
    }
  }
  return errors;
}

interface ProjectionPlace {
  readonly at: string;
  readonly volume: string;
  readonly files: Set<string>;
}

function validateProjection(projection: Fields, place: ProjectionPlace): FieldError[] {
  const { at, volume } = place;
  const errors: FieldError[] = [];
  for (const field of ['secret', 'configMap']) {
    const source = objectAt(projection, field);
    if (source !== undefined) append(errors, validateKeys(source, `${at}.${field}`, place));
  }
  for (const file of objectsAt(objectAt(projection, 'downwardAPI'), 'items')) {
    const name = textAt(file, 'path');
    append(errors, validateDownwardFile(file, `${at}.downwardAPI`), conflictOf(name, name, place));
  }
  const token = objectAt(projection, 'serviceAccountToken');
  if (token !== undefined) append(errors, validateToken(token, `${at}.serviceAccountToken`, volume));
  return errors;
}

function validateKeys(source: Fields, path: string, place: ProjectionPlace): FieldError[] {
  const name = textAt(source, 'name');
  const errors = name === '' ? [fieldRequired(`${path}.name`)] : [];
  for (const [index, item] of objectsAt(source, 'items').entries()) {
    append(errors, validateKeyToPath(item, `${path}.items[${index}]`), conflictOf(textAt(item, 'path'), name, place));
  }
  return errors;
}

function conflictOf(file: string, shown: string, { files, volume }: ProjectionPlace): FieldError[] {
  if (file === '') return [];
  if (files.has(file)) return [fieldInvalid(volume, shown, 'conflicting duplicate paths')];
  files.add(file);
  return [];
}

function validateToken(token: Fields, path: string, volume: string): FieldError[] {
  const seconds = int64At(token, 'expirationSeconds') ?? 0;
  const file = textAt(token, 'path');
  const errors: FieldError[] = [];
  if (seconds < MIN_TOKEN_SECONDS) {
    const detail = 'may not specify a duration less than 10 minutes';
    errors.push(fieldInvalid(`${path}.expirationSeconds`, seconds, detail));
  }
  if (seconds > MAX_TOKEN_SECONDS) {
    const detail = 'may not specify a duration larger than 2^32 seconds';
    errors.push(fieldInvalid(`${path}.expirationSeconds`, seconds, detail));
  }
  return [...errors, ...(file === '' ? [fieldRequired(`${volume}.path`)] : validateOwnPath(file, `${volume}.path`))];
}
