import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../field-error.ts';
import type { Fields } from './defaults-fields.ts';
import { objectAt, objectsAt } from './defaults-fields.ts';
import { sameContent } from './validate-fields.ts';

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}

/** Roles and cluster roles; only the latter may name URLs. */
export function validateRole(role: Fields): FieldError[] {
  return objectsAt(role, 'rules').flatMap((rule, index) => validateRule(rule, index, role['kind'] === 'ClusterRole'));
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
  const kind = objectAt(binding, 'roleRef')?.['kind'];
  const kinds = clusterWide ? ['ClusterRole'] : ['Role', 'ClusterRole'];
  const errors: FieldError[] = [];
  if (kind !== '' && kind !== undefined && !kinds.includes(kind as string)) {
    errors.push(fieldNotSupported('roleRef.kind', kind, kinds));
  }
  for (const [index, subject] of objectsAt(binding, 'subjects').entries()) {
    const path = `subjects[${index}]`;
    const isAccount = subject['kind'] === 'ServiceAccount';
    const group = String(subject['apiGroup'] ?? '');
    const wanted = isAccount ? '' : 'rbac.authorization.k8s.io';
    if (group !== wanted) errors.push(fieldNotSupported(`${path}.apiGroup`, group, [wanted]));
    if (isAccount && clusterWide && (subject['namespace'] ?? '') === '') {
      errors.push(fieldRequired(`${path}.namespace`));
    }
  }
  return errors;
}

export function validateRoleBindingUpdate(next: Fields, previous: Fields): FieldError[] {
  if (sameContent(next['roleRef'], previous['roleRef'])) return [];
  return [fieldInvalid('roleRef', next['roleRef'], 'cannot change roleRef')];
}
