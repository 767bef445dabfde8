import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../field-error.ts';
import { isQualifiedName } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, numberAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateKeysOnce } from '../../fields/matched-label-keys.ts';
import { invalidFor } from '../../fields/validate-fields.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const NOT_POSITIVE = 'must be greater than zero';

/** `topologySpreadConstraints` of a pod. Two constraints are duplicates if their key and action are equal. */
export function validateTopologySpread(spec: Fields, path: string): FieldError[] {
  const constraints = objectsAt(spec, 'topologySpreadConstraints');
  const last = new Map(constraints.map((constraint, index) => [kindOf(constraint), index]));
  return constraints.flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const kind = kindOf(constraint);
    const repeated = last.get(kind) !== index;
    return [
      ...validateConstraint(constraint, at),
      ...(repeated ? [fieldDuplicate(`${at}.{topologyKey, whenUnsatisfiable}`, kind)] : []),
      ...validateMinDomains(constraint, `${at}.minDomains`),
      ...validateMatchLabelKeys(constraint, `${at}.matchLabelKeys`),
    ];
  });
}

function kindOf(constraint: Fields): string {
  return `{${textAt(constraint, 'topologyKey')}, ${textAt(constraint, 'whenUnsatisfiable')}}`;
}

function validateConstraint(constraint: Fields, path: string): FieldError[] {
  const maxSkew = numberAt(constraint, 'maxSkew') ?? 0;
  const action = textAt(constraint, 'whenUnsatisfiable');
  const errors: FieldError[] = [];
  if (maxSkew <= 0) errors.push(fieldInvalid(`${path}.maxSkew`, maxSkew, NOT_POSITIVE));
  if (textAt(constraint, 'topologyKey') === '') {
    errors.push(fieldRequired(`${path}.topologyKey`, 'can not be empty'));
  }
  if (!ACTIONS.includes(action)) errors.push(fieldNotSupported(`${path}.whenUnsatisfiable`, action, ACTIONS));
  return errors;
}

function validateMinDomains(constraint: Fields, path: string): FieldError[] {
  const minDomains = numberAt(constraint, 'minDomains');
  if (minDomains === undefined) return [];
  const action = textAt(constraint, 'whenUnsatisfiable');
  const errors: FieldError[] = [];
  if (minDomains <= 0) errors.push(fieldInvalid(path, minDomains, NOT_POSITIVE));
  if (action !== 'DoNotSchedule') {
    const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
    errors.push(fieldInvalid(path, minDomains, detail));
  }
  return errors;
}

function validateMatchLabelKeys(constraint: Fields, path: string): FieldError[] {
  const keys = listOfTextsAt(constraint, 'matchLabelKeys');
  if (keys.length === 0) return [];
  const errors = isGiven(constraint, 'labelSelector')
    ? validateKeysOnce(constraint, path)
    : [fieldForbidden(path, 'must not be specified when labelSelector is not set')];
  for (const [index, key] of keys.entries()) append(errors, invalidFor(isQualifiedName(key), `${path}[${index}]`, key));
  return errors;
}
