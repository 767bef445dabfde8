import { append } from '../../../base/collections/append.ts';
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
} from '../../../api/field-error.ts';
import { isQualifiedName } from '../../../api/validation/names.ts';
import type { MatchCondition } from '../webhook/configuration.ts';
import { AdmissionCompiler, type Compiled, type ExpressionPlace } from './admission-compiler.ts';

const MAX_CONDITIONS = 64;

/** Validates the `matchConditions` of a webhook or a policy. `place` says which of the two. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: string,
  place: ExpressionPlace,
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MAX_CONDITIONS) errors.push(fieldTooMany(path, conditions.length, MAX_CONDITIONS));
  const compiler = new AdmissionCompiler();
  const seen = new Set<string>();
  for (const [index, { name = '', expression = '' }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    const trimmed = expression.trim();
    if (trimmed === '') errors.push(fieldRequired(`${at}.expression`));
    else append(errors, problemOf(compiler.compile(trimmed, 'condition', place), trimmed, `${at}.expression`));
    if (name === '') {
      errors.push(fieldRequired(`${at}.name`));
      continue;
    }
    append(
      errors,
      isQualifiedName(name).map((problem) => fieldInvalid(`${at}.name`, name, problem)),
    );
    if (seen.has(name)) errors.push(fieldDuplicate(`${at}.name`, name));
    seen.add(name);
  }
  return errors;
}

export function problemOf(compiled: Compiled, expression: string, path: string): FieldError[] {
  return compiled.outcome === 'problem' ? [fieldInvalid(path, expression, compiled.message)] : [];
}
