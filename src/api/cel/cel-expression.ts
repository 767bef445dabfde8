import type { CelValue } from './cel-value.ts';

/**
 * An expression with expanded macros, in the form of cel-go's `common/ast`. Operators are calls (`_==_`), `has(a.b)` is a select that only
 * tests, and every loop is a comprehension.
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
  /** The position for messages, in UTF-16 units from the start of the source. */
  readonly offset: number;
}

export interface CelCall {
  readonly kind: 'call';
  readonly function: string;
  /** The target of `target.function(…)`. */
  readonly target: CelExpression | undefined;
  readonly args: readonly CelExpression[];
}

export interface CelEntry {
  readonly key: CelExpression;
  readonly value: CelExpression;
}

/** A loop over a list or the keys of a map: `accumulator` starts as `init` and becomes `step` for each element while `condition` holds. */
export interface CelComprehension {
  readonly kind: 'comprehension';
  readonly range: CelExpression;
  readonly variable: string;
  /** If present, the first variable is the index or key, and this one is the element. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: CelExpression;
  readonly condition: CelExpression;
  readonly step: CelExpression;
  readonly result: CelExpression;
}

/** A name that no source can contain, so that it cannot collide. */
export const ACCUMULATOR = '@result';
/** Comprehensions that only bind a variable loop over an empty list with this variable. */
export const UNUSED_VARIABLE = '#unused';

/** A comprehension without elements, which only gives a value a name (`optMap`, `sortBy`). */
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
