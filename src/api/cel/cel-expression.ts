import type { CelValue } from './cel-value.ts';

/**
 * An expression with its macros expanded, in the shape that cel-go's checker, estimator and interpreter share (`common/ast`): operators are
 * calls (`_==_`), `has(a.b)` is a select that only tests, every loop is a comprehension.
 */
export type CelExpression = CelNode &
  (
    | { readonly kind: 'literal'; readonly value: CelValue }
    | { readonly kind: 'ident'; readonly name: string }
    | { readonly kind: 'select'; readonly operand: CelExpression; readonly field: string; readonly testOnly: boolean }
    | CelCall
    | { readonly kind: 'list'; readonly elements: readonly CelExpression[] }
    | { readonly kind: 'map'; readonly entries: readonly CelEntry[] }
    | CelComprehension
  );

interface CelNode {
  /** Unique within one expression. */
  readonly id: number;
  /** Where messages point: UTF-16 units from the start of the source. */
  readonly offset: number;
}

export interface CelCall {
  readonly kind: 'call';
  readonly function: string;
  /** Of `target.function(…)`. */
  readonly target: CelExpression | undefined;
  readonly args: readonly CelExpression[];
}

export interface CelEntry {
  readonly key: CelExpression;
  readonly value: CelExpression;
}

/** Goes over a list or the keys of a map: `accumulator` starts as `init` and becomes `step` for each element while `condition` holds. */
export interface CelComprehension {
  readonly kind: 'comprehension';
  readonly range: CelExpression;
  readonly variable: string;
  /** Second variable: then the first is the index or key, and this the element. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: CelExpression;
  readonly condition: CelExpression;
  readonly step: CelExpression;
  readonly result: CelExpression;
}

/** The name no source can spell, so that it collides with nothing. */
export const ACCUMULATOR = '@result';
/** Comprehensions that only bind a variable go over an empty list with this one. */
export const UNUSED_VARIABLE = '#unused';

/** A comprehension that goes over nothing: it gives a value a name (`optMap`, `sortBy`). */
export function isBinding({ range, condition, accumulator }: CelComprehension): boolean {
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accumulator !== ACCUMULATOR
  );
}

/** The names of `a.b.c`; undefined for everything else. */
export function qualifiedName(expression: CelExpression): readonly string[] | undefined {
  if (expression.kind === 'ident') return [expression.name];
  if (expression.kind !== 'select' || expression.testOnly) return undefined;
  const operand = qualifiedName(expression.operand);
  return operand === undefined ? undefined : [...operand, expression.field];
}
