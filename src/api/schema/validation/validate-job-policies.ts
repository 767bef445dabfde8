import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import {
  fieldDuplicate,
  fieldInvalid,
  fieldInvalidWithoutValue,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
} from '../../field-error.ts';
import { isQualifiedName } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, numberAt, objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { invalidFor, validateNonNegative } from '../fields/validate-fields.ts';
import { repeatedIndexes } from '../../../base/collections/repeated.ts';

/** Policies that end a job early, as failed or as complete. */

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

/** `podFailurePolicy`. */
export function validatePodFailurePolicy(spec: Fields | undefined, path: string): FieldError[] {
  const policy = objectAt(spec, 'podFailurePolicy');
  const rules = objectsAt(policy, 'rules');
  const at = `${path}.podFailurePolicy.rules`;
  const errors = rules.length > MAX_RULES ? [fieldTooMany(at, rules.length, MAX_RULES)] : [];
  return [...errors, ...rules.flatMap((rule, index) => validateFailureRule(rule, spec, `${at}[${index}]`))];
}

/** Reports a missing or unknown value of a closed set. */
function validateChoice(value: string, choices: readonly string[], path: string): FieldError[] {
  if (choices.includes(value)) return [];
  const listed = choices.map((choice) => `"${choice}"`).join(' ');
  return value === '' ? [fieldRequired(path, `valid values: [${listed}]`)] : [fieldNotSupported(path, value, choices)];
}

function validateFailureRule(rule: Fields, spec: Fields | undefined, path: string): FieldError[] {
  const action = textAt(rule, 'action');
  const exitCodes = objectAt(rule, 'onExitCodes');
  const conditions = objectsAt(rule, 'onPodConditions');
  const errors = validateChoice(action, ACTIONS, `${path}.action`);
  if (action === 'FailIndex' && !isGiven(spec, 'backoffLimitPerIndex')) {
    errors.push(fieldInvalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  }
  if (exitCodes !== undefined) append(errors, validateExitCodes(exitCodes, spec, `${path}.onExitCodes`));
  append(errors, validateConditions(conditions, `${path}.onPodConditions`));
  if (exitCodes !== undefined && conditions.length > 0) {
    const detail = 'specifying both OnExitCodes and OnPodConditions is not supported';
    errors.push(fieldInvalidWithoutValue(path, detail));
  }
  if (exitCodes === undefined && conditions.length === 0) {
    errors.push(fieldInvalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

function validateConditions(conditions: readonly Fields[], path: string): FieldError[] {
  const errors = conditions.length > MAX_RULES ? [fieldTooMany(path, conditions.length, MAX_RULES)] : [];
  for (const [index, condition] of conditions.entries()) {
    const type = textAt(condition, 'type');
    append(
      errors,
      invalidFor(isQualifiedName(type), `${path}[${index}].type`, type),
      validateChoice(textAt(condition, 'status'), STATUSES, `${path}[${index}].status`),
    );
  }
  return errors;
}

function validateExitCodes(exitCodes: Fields, spec: Fields | undefined, path: string): FieldError[] {
  const operator = textAt(exitCodes, 'operator');
  const container = exitCodes['containerName'];
  const values = (exitCodes['values'] ?? []) as readonly number[];
  const errors = validateChoice(operator, OPERATORS, `${path}.operator`);
  if (typeof container === 'string' && !containersOf(spec).has(container)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(fieldInvalid(`${path}.containerName`, container, detail));
  }
  if (values.length === 0) errors.push(fieldInvalid(`${path}.values`, values, 'at least one value is required'));
  if (values.length > MAX_EXIT_CODES) errors.push(fieldTooMany(`${path}.values`, values.length, MAX_EXIT_CODES));
  const repeated = repeatedIndexes(values);
  for (const [index, value] of values.entries()) {
    const at = `${path}.values[${index}]`;
    if (operator === 'In' && value === 0) errors.push(fieldInvalid(at, 0, 'must not be 0 for the In operator'));
    if (repeated.has(index)) errors.push(fieldDuplicate(at, value));
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) {
    errors.push(fieldInvalid(`${path}.values`, values, 'must be ordered'));
  }
  return errors;
}

function containersOf(spec: Fields | undefined): ReadonlySet<string> {
  const podSpec = objectAt(objectAt(spec, 'template'), 'spec');
  const containers = [...objectsAt(podSpec, 'containers'), ...objectsAt(podSpec, 'initContainers')];
  return new Set(containers.map((container) => textAt(container, 'name')));
}

/** `successPolicy` of an indexed job. */
export function validateSuccessPolicy(spec: Fields | undefined, path: string): FieldError[] {
  const policy = objectAt(spec, 'successPolicy');
  if (policy === undefined) return [];
  const rules = objectsAt(policy, 'rules');
  const at = `${path}.successPolicy.rules`;
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    errors.push(fieldRequired(at, 'at least one rules must be specified when the successPolicy is specified'));
  }
  if (rules.length > MAX_RULES) errors.push(fieldTooMany(at, rules.length, MAX_RULES));
  const completions = numberAt(spec, 'completions');
  return [...errors, ...rules.flatMap((rule, index) => validateSuccessRule(rule, completions, `${at}[${index}]`))];
}

function validateSuccessRule(rule: Fields, completions: number | undefined, path: string): FieldError[] {
  const count = numberAt(rule, 'succeededCount');
  if (count === undefined) {
    if (isGiven(rule, 'succeededIndexes')) return [];
    return [fieldRequired(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors = validateNonNegative(rule, 'succeededCount', path);
  if (completions !== undefined && count > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
    errors.push(fieldInvalid(`${path}.succeededCount`, count, detail));
  }
  return errors;
}
