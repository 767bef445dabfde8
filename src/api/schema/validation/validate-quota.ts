import type { FieldError } from '../../field-error.ts';
import { fieldInvalid, fieldRequired } from '../../field-error.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { listOfTextsAt, objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { isQuotaResource, validateQuotaResourceName } from '../fields/resource-names.ts';
import { sameContent } from '../fields/validate-fields.ts';
import { validateAmount } from './pods/validate-resources.ts';

/** Limits of a namespace as a whole. */

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;
const NAMED_SCOPES = ['PriorityClass', 'VolumeAttributesClass'];

export function validateResourceQuota(quota: Fields): FieldError[] {
  const spec = objectAt(quota, 'spec');
  const hard = Object.entries(objectAt(spec, 'hard') ?? {});
  const errors = hard.flatMap(([name, amount]) => {
    const path = `spec.hard[${name}]`;
    return [...validateQuotaResourceName(name, path), ...validateAmount(name, String(amount), path)];
  });
  return [...errors, ...validateScopes(spec), ...validateScopeSelector(objectAt(spec, 'scopeSelector'))];
}

export function validateResourceQuotaUpdate(next: Fields, previous: Fields): FieldError[] {
  const scopes = (quota: Fields): string[] => listOfTextsAt(objectAt(quota, 'spec'), 'scopes').toSorted();
  if (sameContent(scopes(next), scopes(previous))) return [];
  return [fieldInvalid('spec.scopes', objectAt(next, 'spec')?.['scopes'] ?? null, 'field is immutable')];
}

function conflicting(scopes: readonly string[]): boolean {
  return CONFLICTS.some((pair) => pair.every((scope) => scopes.includes(scope)));
}

/** False for resources that pod scopes cannot restrict. */
function isCountedBy(scope: string, resource: string): boolean {
  if (!isQuotaResource(resource)) return true;
  const compute = /^(?:cpu|memory|(?:requests|limits)\.(?:cpu|memory))$/.test(resource);
  switch (scope) {
    case 'Terminating':
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'PriorityClass':
    case 'CrossNamespacePodAffinity':
      return resource === 'pods' || compute;
    case 'BestEffort':
      return resource === 'pods';
    case 'VolumeAttributesClass':
      return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
    default:
      return true;
  }
}

/** Each finding contains the whole list and is reported once, whatever the number of scopes and resources it concerns. */
function validateScopes(spec: Fields | undefined): FieldError[] {
  const scopes = listOfTextsAt(spec, 'scopes');
  if (scopes.length === 0) return [];
  const resources = Object.keys(objectAt(spec, 'hard') ?? {});
  const details = new Set<string>();
  for (const scope of new Set(scopes)) {
    if (!SCOPES.includes(scope)) details.add('unsupported scope');
    else if (!resources.every((resource) => isCountedBy(scope, resource))) {
      details.add('unsupported scope applied to resource');
    }
  }
  if (conflicting(scopes)) details.add('conflicting scopes');
  return [...details].map((detail) => fieldInvalid('spec.scopes', scopes, detail));
}

function validateScopeSelector(selector: Fields | undefined): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  return objectsAt(selector, 'matchExpressions').flatMap((rule) => {
    const scope = textAt(rule, 'scopeName');
    const operator = textAt(rule, 'operator');
    const errors: FieldError[] = [];
    if (!SCOPES.includes(scope)) errors.push(fieldInvalid(`${path}.scopeName`, scope, 'unsupported scope'));
    else if (!NAMED_SCOPES.includes(scope) && operator !== 'Exists') {
      const detail =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.push(fieldInvalid(`${path}.operator`, operator, detail));
    }
    return [...errors, ...validateScopeValues(operator, listOfTextsAt(rule, 'values'), path)];
  });
}

function validateScopeValues(operator: string, values: readonly string[], path: string): FieldError[] {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return [];
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    return [fieldRequired(`${path}.values`, detail)];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return [];
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return [fieldInvalid(`${path}.values`, values, detail)];
  }
  return [fieldInvalid(`${path}.operator`, operator, 'not a valid selector operator')];
}
