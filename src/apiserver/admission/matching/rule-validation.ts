import { append } from '../../../base/collections/append.ts';
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../api/field-error.ts';
import { isPathSegmentName } from '../../../api/validation/names.ts';
import type { Rule } from './rule.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Validates a rule of a webhook or a policy (upstream `pkg/apis/admissionregistration/validation`). */
export function validateRule(rule: Rule, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const errors: FieldError[] = [];
  if (operations.length === 0) errors.push(fieldRequired(`${path}.operations`));
  append(errors, aloneIfStar(operations, `${path}.operations`, 'operations'));
  for (const [index, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) {
      errors.push(fieldNotSupported(`${path}.operations[${index}]`, operation, OPERATIONS));
    }
  }
  if (apiGroups.length === 0) errors.push(fieldRequired(`${path}.apiGroups`));
  append(errors, aloneIfStar(apiGroups, `${path}.apiGroups`, 'API groups'));
  if (apiVersions.length === 0) errors.push(fieldRequired(`${path}.apiVersions`));
  append(errors, aloneIfStar(apiVersions, `${path}.apiVersions`, 'API versions'));
  for (const [index, version] of apiVersions.entries()) {
    if (version === '') errors.push(fieldRequired(`${path}.apiVersions[${index}]`));
  }
  append(errors, validateResources(resources, `${path}.resources`));
  if (scope !== undefined && !SCOPES.includes(scope)) errors.push(fieldNotSupported(`${path}.scope`, scope, SCOPES));
  return errors;
}

/** The same for rules of policies, which may also name objects. */
export function validateNamedRule(rule: Rule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const at = `${path}.resourceNames[${index}]`;
    append(
      errors,
      isPathSegmentName(name).map((problem) => fieldInvalid(at, name, problem)),
    );
    if (seen.has(name)) errors.push(fieldDuplicate(at, name));
    seen.add(name);
  }
  return [...errors, ...validateRule(rule, path)];
}

function aloneIfStar(items: readonly string[], path: string, what: string): FieldError[] {
  if (items.length < 2 || !items.includes('*')) return [];
  return [fieldInvalid(path, items, `if '*' is present, must not specify other ${what}`)];
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [fieldRequired(path)] : [];
  const withAnySubresource = new Set<string>();
  const ofAnyResource = new Set<string>();
  // As upstream, only the last entry without a subresource counts.
  let plain = false;
  for (const [index, entry] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (entry === '') {
      errors.push(fieldRequired(at));
      continue;
    }
    const slash = entry.indexOf('/');
    if (slash < 0) {
      plain = entry !== '*';
      continue;
    }
    const resource = entry.slice(0, slash);
    const subresource = entry.slice(slash + 1);
    if (withAnySubresource.has(resource)) {
      errors.push(fieldInvalid(at, entry, `if '${resource}/*' is present, must not specify ${entry}`));
    }
    if (ofAnyResource.has(subresource)) {
      errors.push(fieldInvalid(at, entry, `if '*/${subresource}' is present, must not specify ${entry}`));
    }
    if (subresource === '*') withAnySubresource.add(resource);
    if (resource === '*') ofAnyResource.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(fieldInvalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && plain) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(fieldInvalid(path, resources, detail));
  }
  return errors;
}
