import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isQualifiedName } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, numberAt, objectAt, textAt } from '../../fields/defaults-fields.ts';
import { validateKeysOnce } from '../../fields/matched-label-keys.ts';
import { invalidFor, validateEach } from '../../fields/validate-fields.ts';

/** Affinity of pods and volumes. Label selectors are checked elsewhere. */

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const MAX_WEIGHT = 100;
const NOT_AN_OPERATOR = 'not a valid selector operator';

/** `affinity` of a pod. */
export function validateAffinity(spec: Fields, path: string): FieldError[] {
  const affinity = objectAt(spec, 'affinity');
  if (affinity === undefined) return [];
  const at = `${path}.affinity`;
  return [
    ...validateNodeAffinity(objectAt(affinity, 'nodeAffinity'), `${at}.nodeAffinity`),
    ...validatePodAffinity(objectAt(affinity, 'podAffinity'), `${at}.podAffinity`),
    ...validatePodAffinity(objectAt(affinity, 'podAntiAffinity'), `${at}.podAntiAffinity`),
  ];
}

function validateNodeAffinity(affinity: Fields | undefined, path: string): FieldError[] {
  return [
    ...validateNodeSelector(objectAt(affinity, REQUIRED), `${path}.${REQUIRED}`),
    ...validateEach(affinity, PREFERRED, {
      path,
      check: (term, at) => [
        ...validateWeight(term, at),
        // Labels that no node can have are accepted here, because this term is only a preference.
        ...validateTerm(objectAt(term, 'preference'), `${at}.preference`, 'anyValue'),
      ],
    }),
  ];
}

/** A node selector needs at least one term. */
export function validateNodeSelector(selector: Fields | undefined, path: string): FieldError[] {
  if (selector === undefined) return [];
  const terms = selector['nodeSelectorTerms'];
  if (!Array.isArray(terms) || terms.length === 0) {
    return [fieldRequired(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  }
  const check = (term: Fields, at: string): FieldError[] => validateTerm(term, at, 'labelValues');
  return validateEach(selector, 'nodeSelectorTerms', { path, check });
}

function validateTerm(term: Fields | undefined, path: string, values: 'labelValues' | 'anyValue'): FieldError[] {
  return [
    ...validateEach(term, 'matchExpressions', { path, check: (rule, at) => validateExpression(rule, at, values) }),
    ...validateEach(term, 'matchFields', { path, check: validateFieldMatch }),
  ];
}

function validateExpression(rule: Fields, path: string, kind: 'labelValues' | 'anyValue'): FieldError[] {
  const values = listOfTextsAt(rule, 'values');
  const key = textAt(rule, 'key');
  const errors = validateOperator(textAt(rule, 'operator'), values.length, path);
  append(errors, invalidFor(isQualifiedName(key), `${path}.key`, key));
  if (kind === 'anyValue') return errors;
  for (const [index, value] of values.entries()) {
    append(errors, invalidFor(isLabelValue(value), `${path}.values[${index}]`, value));
  }
  return errors;
}

function validateOperator(operator: string, values: number, path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values > 0) return [];
      return [fieldRequired(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values === 0) return [];
      return [fieldForbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (values === 1) return [];
      return [fieldRequired(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [fieldInvalid(`${path}.operator`, operator, NOT_AN_OPERATOR)];
  }
}

function validateFieldMatch(rule: Fields, path: string): FieldError[] {
  const values = listOfTextsAt(rule, 'values');
  const operator = textAt(rule, 'operator');
  const key = textAt(rule, 'key');
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldInvalid(`${path}.operator`, operator, NOT_AN_OPERATOR));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldRequired(`${path}.values`, detail));
  }
  if (key !== 'metadata.name') return [...errors, fieldInvalid(`${path}.key`, key, 'not a valid field selector key')];
  for (const [index, value] of values.entries()) {
    append(errors, invalidFor(isDns1123Subdomain(value), `${path}.values[${index}]`, value));
  }
  return errors;
}

function validateWeight(term: Fields, path: string): FieldError[] {
  const weight = numberAt(term, 'weight') ?? 0;
  if (weight >= 1 && weight <= MAX_WEIGHT) return [];
  return [fieldInvalid(`${path}.weight`, weight, `must be in the range 1-${MAX_WEIGHT}`)];
}

function validatePodAffinity(affinity: Fields | undefined, path: string): FieldError[] {
  return [
    ...validateEach(affinity, REQUIRED, { path, check: validatePodTerm }),
    ...validateEach(affinity, PREFERRED, {
      path,
      check: (term, at) => [
        ...validateWeight(term, at),
        ...validatePodTerm(objectAt(term, 'podAffinityTerm') ?? {}, `${at}.podAffinityTerm`),
      ],
    }),
  ];
}

function validatePodTerm(term: Fields, path: string): FieldError[] {
  const topologyKey = textAt(term, 'topologyKey');
  const errors = listOfTextsAt(term, 'namespaces').flatMap((name) =>
    invalidFor(isDns1123Label(name), `${path}.namespace`, name),
  );
  append(errors, validateLabelKeys(term, path));
  if (topologyKey === '') errors.push(fieldRequired(`${path}.topologyKey`, 'can not be empty'));
  return [...errors, ...invalidFor(isQualifiedName(topologyKey), `${path}.topologyKey`, topologyKey)];
}

/** Keys whose values are taken from the pod's own labels. */
function validateLabelKeys(term: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['matchLabelKeys', 'mismatchLabelKeys']) {
    const keys = listOfTextsAt(term, field);
    if (keys.length > 0 && !isGiven(term, 'labelSelector')) {
      errors.push(fieldForbidden(`${path}.${field}`, 'must not be specified when labelSelector is not set'));
      continue;
    }
    for (const [index, key] of keys.entries()) {
      append(errors, invalidFor(isQualifiedName(key), `${path}.${field}[${index}]`, key));
    }
  }
  append(errors, validateKeysOnce(term, path));
  const mismatching = new Set(listOfTextsAt(term, 'mismatchLabelKeys'));
  for (const [index, key] of listOfTextsAt(term, 'matchLabelKeys').entries()) {
    if (!mismatching.has(key)) continue;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.push(fieldInvalid(`${path}.matchLabelKeys[${index}]`, key, detail));
  }
  return errors;
}
