import { CelEvaluationError } from './cel-error.ts';
import type { CelIssue } from './cel-error.ts';
import type { CelExpression } from './cel-expression.ts';
import { parseGoDuration, parseTimestamp } from './cel-time.ts';
import { compileGoRegexp, GoRegexpError } from './go-regexp.ts';

/** Literal arguments that can never be right: patterns, times and durations (cel-go `cel/validator.go`). */
export function validateLiterals(expression: CelExpression): readonly CelIssue[] {
  const issues: CelIssue[] = [];
  visit(expression, (each) => {
    if (each.kind !== 'call') return;
    const isMatches = each.function === 'matches';
    const arg = isMatches ? each.args.at(-1) : each.args[0];
    if (arg?.kind !== 'literal' || typeof arg.value !== 'string') return;
    const name = each.function;
    if (isMatches ? !isRegexp(arg.value) : !isTime(name, arg.value)) {
      issues.push({ offset: arg.offset, message: `invalid ${name} argument` });
    }
  });
  return issues;
}

function isRegexp(pattern: string): boolean {
  try {
    compileGoRegexp(pattern);
    return true;
  } catch (error) {
    if (error instanceof GoRegexpError) return false;
    throw error;
  }
}

function isTime(name: string, text: string): boolean {
  try {
    if (name === 'duration') return parseGoDuration(text) !== undefined;
    if (name === 'timestamp') return parseTimestamp(text) !== undefined;
    return true;
  } catch (error) {
    if (error instanceof CelEvaluationError) return false;
    throw error;
  }
}

function visit(expression: CelExpression, see: (expression: CelExpression) => void): void {
  see(expression);
  for (const each of parts(expression)) visit(each, see);
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
