import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from '../field-error.ts';
import { byteLength, isLabelValue, isQualifiedName } from './names.ts';

/** Maximum bytes of all annotation keys and values of one object (API-066). */
const TOTAL_ANNOTATION_SIZE_LIMIT = 262_144;

/** Problems of keys are reported at the map, not at the entry (API-066). */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...validateLabelName(key, path),
    ...isLabelValue(value).map((message) => fieldInvalid(path, value, message)),
  ]);
}

function validateLabelName(key: string, path: string): FieldError[] {
  return isQualifiedName(key).map((message) => fieldInvalid(path, key, message));
}

/** Unlike in labels, the prefix of a key may contain upper case. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    size += byteLength(key) + byteLength(value);
    append(
      errors,
      isQualifiedName(key.toLowerCase()).map((message) => fieldInvalid(path, key, message)),
    );
  }
  if (size > TOTAL_ANNOTATION_SIZE_LIMIT) errors.push(fieldTooLong(path, TOTAL_ANNOTATION_SIZE_LIMIT));
  return errors;
}

export interface LabelSelectorRequirementObject {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[] | null;
}

/** `metav1.LabelSelector`, the type of `spec.selector` of workloads. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: readonly LabelSelectorRequirementObject[] | null;
}

/** Checks the selector of an object (API-502). */
export function validateLabelSelector(selector: LabelSelectorObject | undefined, path: string): FieldError[] {
  const errors = validateLabels(selector?.matchLabels ?? undefined, `${path}.matchLabels`);
  for (const [index, requirement] of (selector?.matchExpressions ?? []).entries()) {
    append(errors, validateRequirement(requirement, `${path}.matchExpressions[${index}]`));
  }
  return errors;
}

function validateRequirement(requirement: LabelSelectorRequirementObject, path: string): FieldError[] {
  const { key = '', operator = '' } = requirement;
  const values = requirement.values ?? [];
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(fieldRequired(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(
        fieldForbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else {
    errors.push(fieldInvalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  append(errors, validateLabelName(key, `${path}.key`));
  for (const [index, value] of values.entries()) {
    append(
      errors,
      isLabelValue(value).map((message) => fieldInvalid(`${path}.values[${index}]`, value, message)),
    );
  }
  return errors;
}
