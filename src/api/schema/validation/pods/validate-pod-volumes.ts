import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { compareQuantities, parseQuantity } from '../../../quantity.ts';
import { isDns1123Label } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, numberAt, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateClaimSpec } from './validate-claim-spec.ts';
import { invalidFor, validateEach } from '../../fields/validate-fields.ts';
import { validateKeyToPath } from './validate-key-to-path.ts';
import type { PodVolumes } from './validate-mounts.ts';
import { validateMode, validateNoBacksteps } from './validate-paths.ts';
import { validateDownwardFile, validateProjected } from './validate-projected-volume.ts';

type SourceCheck = (source: Fields, path: string) => FieldError[];

/**
 * The sources of a volume, in upstream's order; the first of several counts. Sources without a check have only required fields, which are
 * checked elsewhere.
 */
const SOURCES: ReadonlyMap<string, SourceCheck | undefined> = new Map<string, SourceCheck | undefined>([
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  ['gitRepo', undefined],
  ['gcePersistentDisk', undefined],
  ['awsElasticBlockStore', undefined],
  ['secret', (source, path) => validateFiles(source, path, 'secretName')],
  ['nfs', validateNfs],
  ['iscsi', undefined],
  ['glusterfs', undefined],
  ['flocker', undefined],
  ['persistentVolumeClaim', (source, path) => requireText(source, 'claimName', path)],
  ['rbd', undefined],
  ['cinder', undefined],
  ['cephfs', undefined],
  ['quobyte', undefined],
  ['downwardAPI', validateDownward],
  ['fc', undefined],
  ['flexVolume', undefined],
  ['configMap', (source, path) => validateFiles(source, path, 'name')],
  ['azureFile', undefined],
  ['vsphereVolume', undefined],
  ['photonPersistentDisk', undefined],
  ['portworxVolume', undefined],
  ['azureDisk', undefined],
  ['storageos', undefined],
  ['projected', validateProjected],
  ['scaleIO', undefined],
  ['csi', (source, path) => requireText(source, 'driver', path)],
  ['ephemeral', validateEphemeral],
  ['image', undefined],
]);

export interface VolumeFindings {
  readonly errors: FieldError[];
  /** The volumes that containers may mount. */
  readonly volumes: PodVolumes;
}

const NO_VOLUMES: ReadonlyMap<string, Fields> = new Map();

/** `volumes` of a pod. An invalid volume cannot be mounted. */
export function validatePodVolumes(spec: Fields, path: string): VolumeFindings {
  if (!isGiven(spec, 'volumes')) return { errors: [], volumes: NO_VOLUMES };
  const volumes = new Map<string, Fields>();
  const check = (volume: Fields, at: string): FieldError[] => {
    const name = textAt(volume, 'name');
    const found = validateSources(volume, at);
    append(found, validateVolumeName(name, `${at}.name`));
    if (volumes.has(name)) found.push(fieldDuplicate(`${at}.name`, name));
    if (found.length === 0) volumes.set(name, volume);
    return found;
  };
  return { errors: validateEach(spec, 'volumes', { path, check }), volumes };
}

function validateVolumeName(name: string, path: string): FieldError[] {
  return name === '' ? [fieldRequired(path)] : invalidFor(isDns1123Label(name), path, name);
}

function validateSources(volume: Fields, path: string): FieldError[] {
  const given = Object.keys(volume).filter((field) => SOURCES.has(field) && isGiven(volume, field));
  const [first, ...more] = given.length < 2 ? given : [...SOURCES.keys()].filter((field) => given.includes(field));
  if (first === undefined) return [fieldRequired(path, 'must specify a volume type')];
  const check = SOURCES.get(first);
  const errors = check === undefined ? [] : check(objectAt(volume, first) ?? {}, `${path}.${first}`);
  for (const field of more) {
    errors.push(fieldForbidden(`${path}.${field}`, 'may not specify more than 1 volume type'));
  }
  return errors;
}

function requireText(source: Fields, field: string, path: string): FieldError[] {
  return textAt(source, field) === '' ? [fieldRequired(`${path}.${field}`)] : [];
}

function validateEmptyDir(source: Fields, path: string): FieldError[] {
  const limit = textAt(source, 'sizeLimit');
  if (limit === '' || compareQuantities(parseQuantity(limit), parseQuantity('0')) >= 0) return [];
  return [fieldForbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
}

function validateHostPath(source: Fields, path: string): FieldError[] {
  const missing = requireText(source, 'path', path);
  return missing.length > 0 ? missing : validateNoBacksteps(textAt(source, 'path'), `${path}.path`);
}

function validateNfs(source: Fields, path: string): FieldError[] {
  const place = textAt(source, 'path');
  const errors = [...requireText(source, 'server', path), ...requireText(source, 'path', path)];
  if (!place.startsWith('/')) errors.push(fieldInvalid(`${path}.path`, place, 'must be an absolute path'));
  return errors;
}

/** A Secret or ConfigMap, with all or some of its keys. */
function validateFiles(source: Fields, path: string, nameField: string): FieldError[] {
  const errors = requireText(source, nameField, path);
  append(errors, validateMode(numberAt(source, 'defaultMode'), `${path}.defaultMode`));
  append(errors, validateEach(source, 'items', { path, check: validateKeyToPath }));
  return errors;
}

/** Findings about a file are reported at its source. */
function validateDownward(source: Fields, path: string): FieldError[] {
  return [
    ...validateMode(numberAt(source, 'defaultMode'), `${path}.defaultMode`),
    ...objectsAt(source, 'items').flatMap((file) => validateDownwardFile(file, path)),
  ];
}

function validateEphemeral(source: Fields, path: string): FieldError[] {
  const template = objectAt(source, 'volumeClaimTemplate');
  if (template === undefined) return [fieldRequired(`${path}.volumeClaimTemplate`)];
  return validateClaimSpec(objectAt(template, 'spec'), `${path}.volumeClaimTemplate.spec`);
}
