import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid } from '../../field-error.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, objectAt } from '../fields/defaults-fields.ts';
import { sameContent, validateImmutable, validateNonNegative } from '../fields/validate-fields.ts';
import { validateAtMostAll, validateIntOrPercent } from './validate-int-or-percent.ts';

/** Small kinds with one or two checks each. */

const SYSTEM_PRIORITY_CLASSES: ReadonlySet<unknown> = new Set(['system-cluster-critical', 'system-node-critical']);
const MAX_USER_PRIORITY = 1_000_000_000;

export function validatePriorityClass(priorityClass: Fields): FieldError[] {
  const name = String(objectAt(priorityClass, 'metadata')?.['name'] ?? '');
  if (SYSTEM_PRIORITY_CLASSES.has(name)) return [];
  const errors: FieldError[] = [];
  if (name.startsWith('system-')) {
    const detail = "priority class names with 'system-' prefix are reserved for system use only";
    errors.push(fieldForbidden('metadata.name', detail));
  }
  if (Number(priorityClass['value'] ?? 0) > MAX_USER_PRIORITY) {
    const detail = `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`;
    errors.push(fieldForbidden('value', detail));
  }
  return errors;
}

export function validatePriorityClassUpdate(next: Fields, previous: Fields): FieldError[] {
  const errors = validateImmutable(next['preemptionPolicy'], previous['preemptionPolicy'], 'preemptionPolicy');
  if (next['value'] !== previous['value']) errors.unshift(fieldForbidden('value', 'may not be changed in an update.'));
  return errors;
}

export function validateDisruptionBudget(budget: Fields): FieldError[] {
  const spec = objectAt(budget, 'spec');
  const errors: FieldError[] = [];
  if (isGiven(spec, 'minAvailable') && isGiven(spec, 'maxUnavailable')) {
    errors.push(fieldInvalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec?.[field];
    append(errors, validateIntOrPercent(value, `spec.${field}`), validateAtMostAll(value, `spec.${field}`));
  }
  return errors;
}

export function validateLease(lease: Fields): FieldError[] {
  const spec = objectAt(lease, 'spec');
  const seconds = spec?.['leaseDurationSeconds'];
  const errors = validateNonNegative(spec, 'leaseTransitions', 'spec');
  if (typeof seconds === 'number' && seconds <= 0) {
    errors.unshift(fieldInvalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  }
  return errors;
}

export function validateEndpointSliceUpdate(next: Fields, previous: Fields): FieldError[] {
  return validateImmutable(next['addressType'], previous['addressType'], 'addressType');
}

export function validateRuntimeClassUpdate(next: Fields, previous: Fields): FieldError[] {
  return validateImmutable(next['handler'], previous['handler'], 'handler');
}

export function validateVolumeAttachmentUpdate(next: Fields, previous: Fields): FieldError[] {
  if (sameContent(next['spec'], previous['spec'])) return [];
  return [fieldInvalid('spec', next['spec'], 'field is immutable')];
}
