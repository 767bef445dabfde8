import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import { isDns1123Subdomain, isPathSegmentName } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, objectsAt } from '../fields/defaults-fields.ts';
import { sameContent } from '../fields/validate-fields.ts';

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}

/** Roles and cluster roles. Only a cluster role may name URLs. */
export function validateRole(role: Fields): FieldError[] {
  const aggregation = objectAt(role, 'aggregationRule');
  const none = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return [
    ...objectsAt(role, 'rules').flatMap((rule, index) => validateRule(rule, index, role['kind'] === 'ClusterRole')),
    ...(aggregation !== undefined && isEmptyList(aggregation['clusterRoleSelectors'])
      ? [fieldRequired('aggregationRule.clusterRoleSelectors', none)]
      : []),
  ];
}

function validateRule(rule: Fields, index: number, clusterWide: boolean): FieldError[] {
  const path = `rules[${index}]`;
  const errors: FieldError[] = [];
  if (isEmptyList(rule['verbs'])) {
    errors.push(fieldRequired(`${path}.verbs`, 'verbs must contain at least one value'));
  }
  if (!isEmptyList(rule['nonResourceURLs'])) {
    if (!clusterWide) {
      const detail = 'namespaced rules cannot apply to non-resource URLs';
      errors.push(fieldInvalid(`${path}.nonResourceURLs`, rule['nonResourceURLs'], detail));
    }
    if (!['apiGroups', 'resources', 'resourceNames'].every((field) => isEmptyList(rule[field]))) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(fieldInvalid(`${path}.nonResourceURLs`, rule['nonResourceURLs'], detail));
    }
    return errors;
  }
  if (isEmptyList(rule['apiGroups'])) {
    errors.push(fieldRequired(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (isEmptyList(rule['resources'])) {
    errors.push(fieldRequired(`${path}.resources`, 'resource rules must supply at least one resource'));
  }
  return errors;
}

/** Role bindings and cluster role bindings. */
export function validateRoleBinding(binding: Fields): FieldError[] {
  const clusterWide = binding['kind'] === 'ClusterRoleBinding';
  const { kind, name } = objectAt(binding, 'roleRef') ?? {};
  const kinds = clusterWide ? ['ClusterRole'] : ['Role', 'ClusterRole'];
  const errors: FieldError[] = [];
  if (kind !== '' && kind !== undefined && !kinds.includes(kind as string)) {
    errors.push(fieldNotSupported('roleRef.kind', kind, kinds));
  }
  if (typeof name === 'string' && name !== '') {
    append(
      errors,
      isPathSegmentName(name).map((why) => fieldInvalid('roleRef.name', name, why)),
    );
  }
  for (const [index, subject] of objectsAt(binding, 'subjects').entries()) {
    append(errors, validateSubject(subject, `subjects[${index}]`, clusterWide));
  }
  return errors;
}

/** The type itself requires a name and a known kind. */
function validateSubject(subject: Fields, path: string, clusterWide: boolean): FieldError[] {
  const { kind, name } = subject;
  const group = String(subject['apiGroup'] ?? '');
  if (kind === 'User' || kind === 'Group') {
    const wanted = 'rbac.authorization.k8s.io';
    return group === wanted ? [] : [fieldNotSupported(`${path}.apiGroup`, group, [wanted])];
  }
  if (kind !== 'ServiceAccount') return [];
  const problems = typeof name === 'string' && name !== '' ? isDns1123Subdomain(name) : [];
  return [
    ...problems.map((why) => fieldInvalid(`${path}.name`, name, why)),
    ...(group === '' ? [] : [fieldNotSupported(`${path}.apiGroup`, group, [''])]),
    ...(clusterWide && (subject['namespace'] ?? '') === '' ? [fieldRequired(`${path}.namespace`)] : []),
  ];
}

export function validateRoleBindingUpdate(next: Fields, previous: Fields): FieldError[] {
  if (sameContent(next['roleRef'], previous['roleRef'])) return [];
  return [fieldInvalid('roleRef', next['roleRef'], 'cannot change roleRef')];
}
