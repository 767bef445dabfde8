import { CelEvaluationError } from './cel-error.ts';
import type { CelIssue } from './cel-error.ts';
import type { CelExpression } from './cel-expression.ts';
import { parseGoDuration, parseTimestamp } from './cel-time.ts';
import { CelTimestamp, type CelValue } from './cel-value.ts';
import { celTypes, formatType, sameType } from './cel-type.ts';
import { compileGoRegexp, GoRegexpError } from './go-regexp.ts';
import type { CheckedExpression } from './type-checker.ts';

/**
 * Problems that types alone do not show: literal patterns, times and durations that can never be valid, and lists and maps of mixed types,
 * which are allowed only as arguments of `format` (cel-go `cel/validator.go`).
 */
export function validateLiterals({ root, types }: CheckedExpression): readonly CelIssue[] {
  const issues: CelIssue[] = [];
  const report = ({ offset }: CelExpression, message: string): void => {
    issues.push({ offset, message });
  };
  const sameTypes = (elements: readonly CelExpression[]): void => {
    const [first, ...rest] = elements.map((element) => ({ element, type: types.get(element.id) ?? celTypes.dyn }));
    const odd = rest.find(({ type }) => first !== undefined && !sameType(first.type, type));
    if (first === undefined || odd === undefined) return;
    report(odd.element, `expected type '${formatType(first.type)}' but found '${formatType(odd.type)}'`);
  };
  visit(root, 'typed', (each, mixed) => {
    if (each.kind === 'call') reportArgument(each, report);
    if (mixed === 'mixed') return;
    if (each.kind === 'list') sameTypes(each.elements);
    if (each.kind === 'map') {
      sameTypes(each.entries.map(({ key }) => key));
      sameTypes(each.entries.map(({ value }) => value));
    }
  });
  return issues;
}

function reportArgument(
  call: CelExpression & { readonly kind: 'call' },
  report: (expression: CelExpression, message: string) => void,
): void {
  const { function: name, args } = call;
  const isMatches = name === 'matches';
  const arg = isMatches ? args.at(-1) : args[0];
  if (arg?.kind !== 'literal') return;
  const { value } = arg;
  const valid = isMatches ? typeof value !== 'string' || goRegexpProblem(value) === undefined : isTime(name, value);
  if (!valid) report(arg, `invalid ${name} argument`);
}

function goRegexpProblem(pattern: string): string | undefined {
  try {
    compileGoRegexp(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof GoRegexpError) return error.message;
    throw error;
  }
}

/** The reason why the first invalid literal pattern of `find` or `findAll` can never match; undefined if all are valid. */
export function patternProblem(expression: CelExpression): string | undefined {
  let problem: string | undefined;
  visit(expression, 'typed', (each) => {
    if (each.kind !== 'call' || (each.function !== 'find' && each.function !== 'findAll')) return;
    const [pattern] = each.args;
    if (pattern?.kind === 'literal' && typeof pattern.value === 'string') problem ??= goRegexpProblem(pattern.value);
  });
  return problem;
}

/** True for seconds since 1970 in the years 1 to 9999. Throws for others. */
function isTimestamp(seconds: bigint): boolean {
  return new CelTimestamp(seconds * 1_000_000_000n) instanceof CelTimestamp;
}

function isTime(name: string, value: CelValue): boolean {
  try {
    if (typeof value === 'bigint' && name === 'timestamp') return isTimestamp(value);
    if (typeof value !== 'string') return true;
    if (name === 'duration') return parseGoDuration(value) !== undefined;
    if (name === 'timestamp') return parseTimestamp(value) !== undefined;
    return true;
  } catch (error) {
    if (error instanceof CelEvaluationError) return false;
    throw error;
  }
}

/** `mixed` applies below a call of `format`. */
type Literals = 'typed' | 'mixed';

function visit(
  expression: CelExpression,
  literals: Literals,
  see: (expression: CelExpression, literals: Literals) => void,
): void {
  see(expression, literals);
  const inside = expression.kind === 'call' && expression.function === 'format' ? 'mixed' : literals;
  for (const each of parts(expression)) visit(each, inside, see);
}

function parts(expression: CelExpression): readonly CelExpression[] {
  switch (expression.kind) {
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case 'list':
      return expression.elements;
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'comprehension':
      return [expression.range, expression.init, expression.condition, expression.step, expression.result];
    default:
      return [];
  }
}
