import { append } from '../../../base/collections/append.ts';
import { expressionOf } from './mutating-policy.ts';
import { type FieldError, fieldNotSupported, fieldRequired } from '../../../api/field-error.ts';
import { AdmissionCompiler, type ExpressionPlace } from '../cel/admission-compiler.ts';
import { problemOf, validateMatchConditions } from '../cel/expression-validation.ts';
import { messageFunctions, rewriteMessages } from '../cel/message-literals.ts';
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Mutation } from './mutating-policy.ts';
import {
  validateBindingTarget,
  validateConstraints,
  validateParamKind,
  validateVariable,
} from './policy-validation.ts';

/** Follows upstream `pkg/apis/admissionregistration/validation`. Metadata and required fields are validated elsewhere. */

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];

export function validateMutatingPolicy({ spec = {} }: MutatingAdmissionPolicy): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [], mutations = [] } = spec;
  const errors: FieldError[] = [];
  append(errors, choice(failurePolicy, FAILURE_POLICIES, 'spec.failurePolicy'));
  if (paramKind !== undefined) append(errors, validateParamKind(paramKind));
  append(errors, validateConstraints(matchConstraints));
  const place: ExpressionPlace = { params: paramKind === undefined ? 'none' : 'declared', authorizer: 'declared' };
  append(errors, validateMatchConditions(matchConditions, 'spec.matchConditions', place));
  const types = mutations.flatMap((mutation) => [...rewriteMessages(expressionOf(mutation)).types]);
  const compiler = new AdmissionCompiler({}, messageFunctions(new Set(types)));
  for (const [index, variable] of variables.entries()) {
    append(errors, validateVariable(variable, `spec.variables[${index}]`, { compiler, place }));
  }
  if (mutations.length === 0) {
    errors.push(fieldRequired('spec.mutations', 'mutations must contain at least one item'));
  }
  for (const [index, mutation] of mutations.entries()) {
    append(errors, validateMutation(mutation, `spec.mutations[${index}]`, { compiler, place }));
  }
  return [...errors, ...choice(spec.reinvocationPolicy, REINVOCATION_POLICIES, 'spec.reinvocationPolicy')];
}

export function validateMutatingBinding({ spec = {} }: MutatingAdmissionPolicyBinding): FieldError[] {
  return validateBindingTarget(spec);
}

function choice(value: string | undefined, supported: readonly string[], path: string): FieldError[] {
  if (value === undefined || value === '') return [fieldRequired(path)];
  return supported.includes(value) ? [] : [fieldNotSupported(path, value, supported)];
}

interface Compiling {
  readonly compiler: AdmissionCompiler;
  readonly place: ExpressionPlace;
}

function validateMutation(mutation: Mutation, path: string, { compiler, place }: Compiling): FieldError[] {
  const { patchType = '' } = mutation;
  const wrong = choice(patchType, PATCH_TYPES, `${path}.patchType`);
  if (wrong.length > 0) return wrong;
  const use = patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
  if (mutation[use] === undefined) {
    return [fieldRequired(`${path}.${use}`, `must be specified when patchType is ${patchType}`)];
  }
  const expression = expressionOf(mutation);
  if (expression.trim() === '') return [fieldRequired(`${path}.${use}.expression`, 'expression is not specified')];
  const compiled = compiler.compile(rewriteMessages(expression).text, use, place);
  return problemOf(compiled, expression, `${path}.${use}.expression`);
}
