import { append } from '../../../base/collections/append.ts';
import { isReserved } from '../../../api/cel/cel-escaping.ts';
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../api/field-error.ts';
import { parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import { validateLabelSelector } from '../../../api/validation/labels.ts';
import {
  isDns1035Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isQualifiedName,
} from '../../../api/validation/names.ts';
import { AdmissionCompiler, type ExpressionPlace } from '../cel/admission-compiler.ts';
import { problemOf, validateMatchConditions } from '../cel/expression-validation.ts';
import { validateNamedRule } from '../matching/rule-validation.ts';
import type {
  BindingSpec,
  ParamKind,
  ParamRef,
  PolicyAuditAnnotation,
  PolicyMatchResources,
  PolicyValidation,
  PolicyVariable,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts';
import { repeatedIndexes } from '../../../base/collections/repeated.ts';

/** Follows upstream `pkg/apis/admissionregistration/validation`. Metadata and required fields are validated elsewhere. */

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

export function validatePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [] } = spec;
  const { validations = [], auditAnnotations = [] } = spec;
  const errors: FieldError[] = [];
  if (failurePolicy === undefined) errors.push(fieldRequired('spec.failurePolicy'));
  else append(errors, oneOf(failurePolicy, FAILURE_POLICIES, 'spec.failurePolicy'));
  if (paramKind !== undefined) append(errors, validateParamKind(paramKind));
  append(errors, validateConstraints(matchConstraints));
  const params = paramKind === undefined ? 'none' : 'declared';
  const place: ExpressionPlace = { params, authorizer: 'declared' };
  append(errors, validateMatchConditions(matchConditions, 'spec.matchConditions', place));
  const compiler = new AdmissionCompiler();
  for (const [index, variable] of variables.entries()) {
    append(errors, validateVariable(variable, `spec.variables[${index}]`, { compiler, place }));
  }
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [...errors, fieldRequired('spec.validations', detail), fieldRequired('spec.auditAnnotations', detail)];
  }
  for (const [index, validation] of validations.entries()) {
    append(errors, validateValidation(validation, `spec.validations[${index}]`, { compiler, place }));
  }
  return [...errors, ...validateAuditAnnotations(auditAnnotations, metadata?.name ?? '', { compiler, place })];
}

interface Compiling {
  readonly compiler: AdmissionCompiler;
  readonly place: ExpressionPlace;
}

function oneOf(value: string, supported: readonly string[], path: string): FieldError[] {
  return supported.includes(value) ? [] : [fieldNotSupported(path, value, supported)];
}

export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind): FieldError[] {
  const path = 'spec.paramKind';
  const errors: FieldError[] = [];
  const gv = parseGroupVersion(apiVersion);
  if (apiVersion === '') errors.push(fieldRequired(`${path}.apiVersion`));
  else if (gv === undefined) {
    errors.push(fieldInvalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const groupProblems = gv.group === '' ? [] : isDns1123Subdomain(gv.group);
    if (groupProblems.length > 0) {
      errors.push(fieldInvalid(`${path}.apiVersion`, gv.group, groupProblems.join(',')));
    }
    const versionProblems = isDns1035Label(gv.version);
    if (gv.version === '') errors.push(fieldInvalid(`${path}.apiVersion`, apiVersion, 'version must be specified'));
    else if (versionProblems.length > 0) {
      errors.push(fieldInvalid(`${path}.apiVersion`, gv.version, versionProblems.join(',')));
    }
  }
  if (kind === '') return [...errors, fieldRequired(`${path}.kind`)];
  const problems = isDns1035Label(kind.toLowerCase());
  if (problems.length === 0) return errors;
  const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return [...errors, fieldInvalid(`${path}.kind`, kind, detail)];
}

export function validateConstraints(constraints: PolicyMatchResources | undefined): FieldError[] {
  const path = 'spec.matchConstraints';
  if (constraints === undefined) return [fieldRequired(path)];
  const errors = validateMatchResources(constraints, path);
  if ((constraints.resourceRules ?? []).length === 0) errors.push(fieldRequired(`${path}.resourceRules`));
  return errors;
}

function validateMatchResources(resources: PolicyMatchResources, path: string): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = resources;
  const errors: FieldError[] = [];
  if (matchPolicy === undefined) errors.push(fieldRequired(`${path}.matchPolicy`));
  else append(errors, oneOf(matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`));
  if (namespaceSelector === undefined) errors.push(fieldRequired(`${path}.namespaceSelector`));
  else append(errors, validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`));
  if (objectSelector === undefined) errors.push(fieldRequired(`${path}.objectSelector`));
  else append(errors, validateLabelSelector(objectSelector, `${path}.objectSelector`));
  for (const [index, rule] of resourceRules.entries()) {
    append(errors, validateNamedRule(rule, `${path}.resourceRules[${index}]`));
  }
  for (const [index, rule] of excludeResourceRules.entries()) {
    append(errors, validateNamedRule(rule, `${path}.excludeResourceRules[${index}]`));
  }
  return errors;
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
export function validateVariable(variable: PolicyVariable, path: string, { compiler, place }: Compiling): FieldError[] {
  const { name = '', expression = '' } = variable;
  const errors: FieldError[] = [];
  if (name.trim() === '') errors.push(fieldRequired(`${path}.name`, 'name is not specified'));
  else if (!IDENTIFIER.test(name) || isReserved(name)) {
    errors.push(fieldInvalid(`${path}.name`, name, 'name is not a valid CEL identifier'));
  }
  if (expression.trim() === '') return [...errors, fieldRequired(`${path}.expression`, 'expression is not specified')];
  const compiled = compiler.declareVariable(name, expression, place);
  return [...errors, ...problemOf(compiled, expression, `${path}.expression`)];
}

function validateValidation(validation: PolicyValidation, path: string, { compiler, place }: Compiling): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const errors: FieldError[] = [];
  if (expression.trim() === '') errors.push(fieldRequired(`${path}.expression`, 'expression is not specified'));
  else append(errors, problemOf(compiler.compile(expression, 'condition', place), expression, `${path}.expression`));
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(fieldInvalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  } else if (messageExpression !== '') {
    const compiled = compiler.compile(messageExpression, 'message', { ...place, authorizer: 'none' });
    append(errors, problemOf(compiled, messageExpression, `${path}.messageExpression`));
  }
  if (message !== '' && message.trim() === '') {
    errors.push(fieldInvalid(`${path}.message`, message, 'message must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(fieldInvalid(`${path}.message`, message, 'message must not contain line breaks'));
  }
  if (reason !== undefined) append(errors, oneOf(reason, REASONS, `${path}.reason`));
  return errors;
}

function validateAuditAnnotations(
  annotations: readonly PolicyAuditAnnotation[],
  policy: string,
  { compiler, place }: Compiling,
): FieldError[] {
  const path = 'spec.auditAnnotations';
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const detail = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(fieldInvalid(path, annotations, detail));
  }
  const seen = new Set<string>();
  for (const [index, { key = '', valueExpression = '' }] of annotations.entries()) {
    const at = `${path}[${index}]`;
    const qualified = `${policy}/${key}`;
    if (policy === '') errors.push(fieldInvalid(`${at}.key`, key, 'requires metadata.name be non-empty'));
    else
      append(
        errors,
        isQualifiedName(qualified).map((problem) => fieldInvalid(`${at}.key`, qualified, problem)),
      );
    const trimmed = valueExpression.trim();
    if (trimmed === '') errors.push(fieldRequired(`${at}.valueExpression`, 'valueExpression is not specified'));
    else if (Buffer.byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES) {
      const detail = `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`;
      errors.push(fieldRequired(`${at}.valueExpression`, detail));
    } else {
      const compiled = compiler.compile(trimmed, 'auditAnnotation', place);
      append(errors, problemOf(compiled, valueExpression, `${at}.valueExpression`));
    }
    if (seen.has(key)) errors.push(fieldDuplicate(`${at}.key`, key));
    seen.add(key);
  }
  return errors;
}

export function validateBinding({ spec = {} }: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { validationActions = [] } = spec;
  return [...validateBindingTarget(spec), ...validateActions(validationActions, 'spec.validationActions')];
}

/** Checks the policy, parameters and resources of bindings of both types. */
export function validateBindingTarget(spec: Omit<BindingSpec, 'validationActions'>): FieldError[] {
  const { policyName = '', paramRef, matchResources } = spec;
  const errors: FieldError[] =
    policyName === ''
      ? [fieldRequired('spec.policyName')]
      : isDns1123Subdomain(policyName).map((problem) => fieldInvalid('spec.policyName', policyName, problem));
  if (paramRef !== undefined) append(errors, validateParamRef(paramRef, 'spec.paramRef'));
  // The spelling is upstream's.
  if (matchResources !== undefined) append(errors, validateMatchResources(matchResources, 'spec.matchResouces'));
  return errors;
}

function validateParamRef({ name = '', selector, parameterNotFoundAction = '' }: ParamRef, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const exclusive = 'name and selector are mutually exclusive';
  if (name !== '') {
    append(
      errors,
      isPathSegmentName(name).map((problem) => fieldInvalid(`${path}.name`, name, problem)),
    );
    if (selector !== undefined) errors.push(fieldForbidden(`${path}.name`, exclusive));
  }
  if (selector !== undefined) {
    append(errors, validateLabelSelector(selector, `${path}.selector`));
    if (name !== '') errors.push(fieldForbidden(`${path}.selector`, exclusive));
  }
  if (name === '' && selector === undefined) {
    errors.push(fieldRequired(path, 'one of name or selector must be specified'));
  }
  if (parameterNotFoundAction === '') errors.push(fieldRequired(`${path}.parameterNotFoundAction`));
  else append(errors, oneOf(parameterNotFoundAction, NOT_FOUND_ACTIONS, `${path}.parameterNotFoundAction`));
  return errors;
}

function validateActions(actions: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const repeated = repeatedIndexes(actions);
  for (const [index, action] of actions.entries()) {
    append(errors, oneOf(action, ACTIONS, `${path}[${index}]`));
    if (repeated.has(index)) errors.push(fieldDuplicate(`${path}[${index}]`, action));
  }
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(fieldInvalid(path, actions, detail));
  }
  if (actions.length === 0) errors.push(fieldRequired(path, 'at least one validation action is required'));
  return errors;
}
