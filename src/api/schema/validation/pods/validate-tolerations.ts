import type { FieldError } from '../../../field-error.ts';
import { fieldInvalid } from '../../../field-error.ts';
import { isLabelValue, isQualifiedName } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, textAt } from '../../fields/defaults-fields.ts';
import { invalidFor, validateEach } from '../../fields/validate-fields.ts';

/** `tolerations` of a pod. Closed sets of values are elsewhere. */
export function validateTolerations(spec: Fields, path: string): FieldError[] {
  return validateEach(spec, 'tolerations', { path, check: validateToleration });
}

function validateToleration(toleration: Fields, path: string): FieldError[] {
  const key = textAt(toleration, 'key');
  const operator = textAt(toleration, 'operator');
  const effect = textAt(toleration, 'effect');
  const value = textAt(toleration, 'value');
  const errors = key === '' ? [] : invalidFor(isQualifiedName(key), `${path}.key`, key);
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldInvalid(`${path}.operator`, operator, detail));
  }
  if (isGiven(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(fieldInvalid(`${path}.effect`, effect, detail));
  }
  if (operator === '' || operator === 'Equal') {
    const problems = isLabelValue(value);
    if (problems.length > 0) errors.push(fieldInvalid(`${path}.operator`, value, problems.join(';')));
  } else if (operator === 'Exists' && value !== '') {
    errors.push(fieldInvalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  }
  return errors;
}
