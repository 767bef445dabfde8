import type { FieldError } from '../field-error.ts';
import { fieldInvalid, formatFieldError } from '../field-error.ts';
import { isLabelValue, isQualifiedName } from '../validation/names.ts';

/** The operators in a selector. `exists` and `!` have no value. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One term of a label selector. Values are sorted and unique when parsed. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** The problem of a requirement, as one text; undefined if there is none (apimachinery `labels.NewRequirement`). */
export function requirementProblem(requirement: LabelRequirement): string | undefined {
  const badKey = labelKeyProblem(requirement.key, 'key');
  return textOf(badKey === undefined ? valueErrors(requirement) : [badKey, ...valueErrors(requirement)]);
}

/** The same for a requirement whose key is valid. */
export function valuesProblem(requirement: LabelRequirement): string | undefined {
  return textOf(valueErrors(requirement));
}

function valueErrors({ key, operator, values }: LabelRequirement): FieldError[] {
  const errors: FieldError[] = [];
  const wrongCount = countProblem(operator, values.length);
  if (wrongCount !== undefined) errors.push(fieldInvalid('values', values, wrongCount));
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (parseInt64(value) === undefined) {
        const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
        errors.push(fieldInvalid(`values[${index}]`, value, detail));
      }
    }
  }
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (value === '') continue;
    const messages = isLabelValue(value);
    if (messages.length > 0) errors.push(fieldInvalid(`values[${index}][${key}]`, value, messages.join('; ')));
  }
  return errors;
}

function textOf(errors: readonly FieldError[]): string | undefined {
  if (errors.length === 0) return undefined;
  const texts = [...new Set(errors.map(formatFieldError))];
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
}

export function labelKeyProblem(key: string, path: string): FieldError | undefined {
  const messages = isQualifiedName(key);
  return messages.length === 0 ? undefined : fieldInvalid(path, key, messages.join('; '));
}

function countProblem(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case '=':
    case '==':
    case '!=':
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
    case 'gt':
    case 'lt':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
  }
}

/** Objects without the label match the negative operators (API-101). */
export function requirementMatches(requirement: LabelRequirement, labels: Labels): boolean {
  const { key, operator, values } = requirement;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const left = value === undefined ? undefined : parseInt64(value);
      const right = parseInt64(values[0] ?? '');
      if (left === undefined || right === undefined) return false;
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The term in a form that can be parsed again. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.toSorted().join(',')})`;
    case 'gt':
      return `${key}>${values.join(',')}`;
    case 'lt':
      return `${key}<${values.join(',')}`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}
