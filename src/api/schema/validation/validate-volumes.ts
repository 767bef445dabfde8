import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import { fieldsOf } from '../../kinds/type-table.ts';
import { compareQuantities, parseQuantity } from '../../quantity.ts';
import { isDns1123Subdomain } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isEmptyMap, isGiven, objectAt, textAt } from '../fields/defaults-fields.ts';
import { validateNodeSelector } from './pods/validate-affinity.ts';
import { storageRequest, validateClaimSpec, validatePositive, validateSinglePod } from './pods/validate-claim-spec.ts';
import { sameContent, validateImmutable, validateOptionalText } from '../fields/validate-fields.ts';
import { validateNoBacksteps } from './pods/validate-paths.ts';

const ZERO = parseQuantity('0');

function accessModesOf(spec: Fields | undefined): readonly unknown[] {
  const modes = spec?.['accessModes'];
  return Array.isArray(modes) ? (modes as unknown[]) : [];
}

export function validatePersistentVolumeClaim(claim: Fields): FieldError[] {
  return validateClaimSpec(objectAt(claim, 'spec'), 'spec');
}

/** The volume name may be set once. A bound claim may request more storage and other attributes. */
export function validatePersistentVolumeClaimUpdate(next: Fields, previous: Fields): FieldError[] {
  const spec = objectAt(next, 'spec');
  const old = objectAt(previous, 'spec');
  const bound = objectAt(next, 'status')?.['phase'] === 'Bound';
  const errors: FieldError[] = [];
  if (!sameContent(fixedClaimSpec(spec, { old, bound }), fixedClaimSpec(old, { old, bound }))) {
    errors.push(
      fieldForbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  }
  const wanted = storageRequest(spec);
  const before = storageRequest(old);
  if (wanted !== undefined && before !== undefined) append(errors, validateShrinking(wanted, before, previous));
  return [...errors, ...validateImmutable(spec?.['volumeMode'], old?.['volumeMode'], 'volumeMode')];
}

function fixedClaimSpec(
  spec: Fields | undefined,
  rule: { readonly old: Fields | undefined; readonly bound: boolean },
): Fields {
  const fixed: Fields = { ...spec };
  if ((rule.old?.['volumeName'] ?? '') === '') delete fixed['volumeName'];
  if (rule.bound) {
    delete fixed['volumeAttributesClassName'];
    const resources = { ...objectAt(spec, 'resources') };
    const { storage: _storage, ...others } = objectAt(resources, 'requests') ?? {};
    fixed['resources'] = { ...resources, requests: others };
  }
  return fixed;
}

/** After a failed expansion the request may shrink again, but not below the size of the volume. */
function validateShrinking(wanted: string, before: string, previous: Fields): FieldError[] {
  if (compareQuantities(parseQuantity(wanted), parseQuantity(before)) >= 0) return [];
  const actual = objectAt(objectAt(previous, 'status'), 'capacity')?.['storage'];
  const capacity = typeof actual === 'string' ? parseQuantity(actual) : ZERO;
  if (compareQuantities(parseQuantity(wanted), capacity) > 0) return [];
  return [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

/** Names of the volume sources that are set. */
function volumeSources(spec: Fields | undefined): string[] {
  const names = fieldsOf('api/core/v1.PersistentVolumeSource').map(({ name }) => name);
  return names.filter((name) => spec?.[name] !== undefined && spec[name] !== null);
}

export function validatePersistentVolume(volume: Fields): FieldError[] {
  const spec = objectAt(volume, 'spec');
  const errors: FieldError[] = [];
  if (accessModesOf(spec).length === 0) errors.push(fieldRequired('spec.accessModes'));
  append(errors, validateSinglePod(spec, 'spec'));
  const capacity = objectAt(spec, 'capacity');
  const storage = capacity?.['storage'];
  if (isEmptyMap(capacity)) errors.push(fieldRequired('spec.capacity'));
  if (storage === undefined || Object.keys(capacity ?? {}).length > 1) {
    errors.push(fieldNotSupported('spec.capacity', capacity ?? null, ['storage']));
  }
  if (typeof storage === 'string') append(errors, validatePositive(storage, 'spec.capacity[storage]'));
  return [...errors, ...validateVolumeSource(spec), ...validateVolumePlace(spec)];
}

function validateVolumeSource(spec: Fields | undefined): FieldError[] {
  const sources = volumeSources(spec);
  if (sources.length === 0) return [fieldRequired('spec', 'must specify a volume type')];
  const errors = sources
    .slice(1)
    .map((extra) => fieldForbidden(`spec.${extra}`, 'may not specify more than 1 volume type'));
  for (const field of ['hostPath', 'local']) {
    const source = objectAt(spec, field);
    if (source !== undefined) append(errors, validateNoBacksteps(textAt(source, 'path'), `spec.${field}.path`));
  }
  return errors;
}

/** Checks on which nodes and by which claim the volume can be used. */
function validateVolumePlace(spec: Fields | undefined): FieldError[] {
  const affinity = objectAt(spec, 'nodeAffinity');
  const required = objectAt(affinity, 'required');
  const errors = validateNodeSelector(required, 'spec.nodeAffinity.required');
  if (affinity !== undefined && required === undefined) {
    errors.push(fieldRequired('spec.nodeAffinity.required', 'must specify required node constraints'));
  }
  if (isGiven(spec, 'local') && affinity === undefined) {
    errors.push(fieldRequired('spec.nodeAffinity', 'Local volume requires node affinity'));
  }
  if (isRoot(textAt(objectAt(spec, 'hostPath'), 'path')) && spec?.['persistentVolumeReclaimPolicy'] === 'Recycle') {
    const detail = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(fieldForbidden('spec.persistentVolumeReclaimPolicy', detail));
  }
  return [...errors, ...validateOptionalText(spec, 'storageClassName', { path: 'spec', check: isDns1123Subdomain })];
}

function isRoot(path: string): boolean {
  return /^\/[/.]*$/.test(path);
}

export function validatePersistentVolumeUpdate(next: Fields, previous: Fields): FieldError[] {
  const spec = objectAt(next, 'spec');
  const old = objectAt(previous, 'spec');
  const source = (owner: Fields | undefined): Fields =>
    Object.fromEntries(volumeSources(owner).map((field) => [field, owner?.[field]]));
  const errors = validateImmutable(spec?.['volumeMode'], old?.['volumeMode'], 'volumeMode');
  if (!sameContent(source(spec), source(old))) {
    errors.unshift(
      fieldForbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
    );
  }
  return errors;
}

export function validateStorageClassUpdate(next: Fields, previous: Fields): FieldError[] {
  const errors = ['parameters', 'provisioner', 'reclaimPolicy']
    .filter((field) => !sameContent(next[field], previous[field]))
    .map((field) => fieldForbidden(field, `updates to ${field} are forbidden.`));
  return [
    ...errors,
    ...validateImmutable(next['volumeBindingMode'], previous['volumeBindingMode'], 'volumeBindingMode'),
  ];
}
