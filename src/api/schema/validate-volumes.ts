import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../field-error.ts';
import { fieldsOf } from '../kinds/type-table.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';
import type { Fields } from './defaults-fields.ts';
import { isEmptyMap, objectAt } from './defaults-fields.ts';
import { sameContent, validateImmutable } from './validate-fields.ts';

const ZERO = parseQuantity('0');

function accessModesOf(spec: Fields | undefined): readonly unknown[] {
  const modes = spec?.['accessModes'];
  return Array.isArray(modes) ? (modes as unknown[]) : [];
}

/** The amount of storage a claim asks for, as text. */
function storageRequest(spec: Fields | undefined): string | undefined {
  const amount = objectAt(objectAt(spec, 'resources'), 'requests')?.['storage'];
  return typeof amount === 'string' ? amount : undefined;
}

function positive(amount: string): boolean {
  return compareQuantities(parseQuantity(amount), ZERO) > 0;
}

export function validatePersistentVolumeClaim(claim: Fields): FieldError[] {
  const spec = objectAt(claim, 'spec');
  const errors: FieldError[] = [];
  const modes = accessModesOf(spec);
  if (modes.length === 0) errors.push(fieldRequired('spec.accessModes', 'at least 1 access mode is required'));
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    errors.push(fieldForbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes'));
  }
  const storage = storageRequest(spec);
  if (storage === undefined) errors.push(fieldRequired('spec.resources[storage]'));
  else if (!positive(storage))
    errors.push(fieldInvalid('spec.resources[storage]', storage, 'must be greater than zero'));
  return errors;
}

/** The volume's name may be set once; a bound claim may ask for more storage, and for other attributes. */
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
  if (wanted !== undefined && before !== undefined) errors.push(...validateShrinking(wanted, before, previous));
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

/** After a failed expansion the request may go back, but not below what the volume already has. */
function validateShrinking(wanted: string, before: string, previous: Fields): FieldError[] {
  if (compareQuantities(parseQuantity(wanted), parseQuantity(before)) >= 0) return [];
  const actual = objectAt(objectAt(previous, 'status'), 'capacity')?.['storage'];
  const capacity = typeof actual === 'string' ? parseQuantity(actual) : ZERO;
  if (compareQuantities(parseQuantity(wanted), capacity) > 0) return [];
  return [fieldForbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

let sourceFields: readonly string[] | undefined;

/** Fields of a volume that each name a sort of storage. */
function volumeSources(spec: Fields | undefined): string[] {
  sourceFields ??= fieldsOf('api/core/v1.PersistentVolumeSource').map((field) => field.name);
  return sourceFields.filter((field) => spec?.[field] !== undefined && spec[field] !== null);
}

export function validatePersistentVolume(volume: Fields): FieldError[] {
  const spec = objectAt(volume, 'spec');
  const errors: FieldError[] = [];
  if (accessModesOf(spec).length === 0) errors.push(fieldRequired('spec.accessModes'));
  const capacity = objectAt(spec, 'capacity');
  if (isEmptyMap(capacity)) errors.push(fieldRequired('spec.capacity'));
  const storage = capacity?.['storage'];
  if (typeof storage === 'string' && !positive(storage)) {
    errors.push(fieldInvalid('spec.capacity[storage]', storage, 'must be greater than zero'));
  }
  const sources = volumeSources(spec);
  if (sources.length === 0) errors.push(fieldRequired('spec', 'must specify a volume type'));
  for (const extra of sources.slice(1)) {
    errors.push(fieldForbidden(`spec.${extra}`, 'may not specify more than 1 volume type'));
  }
  return errors;
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
