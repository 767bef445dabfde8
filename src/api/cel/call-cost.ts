import { CelList, CelMap, costSize, type CelValue } from './cel-value.ts';
import type { CelType } from './cel-type.ts';
import { add, type Estimate, fixed, multiply, scale, unknownSize } from './size-estimate.ts';

/** One pass over a text costs a tenth of its length (cel-go `common.StringTraversalCostFactor`). */
export const TRAVERSAL = 0.1;
/** The estimate assumes one expression for every fourth character of a pattern. */
export const PATTERN = 0.25;
export const LIST_CREATE = 10;
export const MAP_CREATE = 30;

/** An operand as the estimator knows it. */
export interface EstimatedOperand {
  readonly type: CelType;
  /** Undefined if the size is unbounded. */
  readonly size: Estimate | undefined;
  /** The size of the elements, if the operand is a list with elements of a known type. */
  readonly elementSize: Estimate | undefined;
  readonly literal: CelValue | undefined;
}

export interface CallEstimate extends Estimate {
  readonly resultSize?: Estimate;
}

/**
 * The cost of calling a function, beyond its operands (apiserver `cel/library/cost.go`). If `when` is `before`, the cost needs only the
 * operands and is charged before the call, so that a call that is too expensive never starts. `after` needs the result.
 */
export interface CallCost {
  readonly when: 'before' | 'after';
  readonly actual: (operands: readonly CelValue[], result: CelValue) => number;
  readonly estimate: (operands: readonly EstimatedOperand[]) => CallEstimate;
}

export function sizeOf(operand: EstimatedOperand | undefined): Estimate {
  return operand?.size ?? unknownSize;
}

/** A cost that is the same for every call. */
export function fixedCost(cost: number): CallCost {
  return { when: 'before', actual: () => cost, estimate: () => fixed(cost) };
}

export const unitCost = fixedCost(1);

/** The cost of reading the first operand `times` times. `result` says whether the result is as long as the operand, or unknown. */
export function traversalCost({
  times = 1,
  result,
}: { readonly times?: number; readonly result?: 'same' } = {}): CallCost {
  return {
    when: 'before',
    actual: ([text = null]) => Math.ceil(costSize(text) * times * TRAVERSAL),
    estimate: ([text]) => ({
      ...scale(sizeOf(text), times * TRAVERSAL),
      ...(result === undefined ? {} : { resultSize: sizeOf(text) }),
    }),
  };
}

/**
 * The cost of matching a text (first operand) against a pattern (second). One character is added, because an empty text costs something
 * too.
 */
export const patternCost: CallCost = {
  when: 'before',
  actual: ([text = null, pattern = null]) =>
    Math.ceil((1 + costSize(text)) * TRAVERSAL) * Math.ceil(costSize(pattern) * PATTERN),
  estimate: ([text, pattern]) =>
    multiply(scale(add(sizeOf(text), fixed(1)), TRAVERSAL), scale(sizeOf(pattern), PATTERN)),
};

/** The cost of `contains`: each of the two texts is read once for each part of the other. */
export const containsCost: CallCost = {
  when: 'before',
  actual: ([text = null, part = null]) => Math.ceil(costSize(text) * TRAVERSAL) * Math.ceil(costSize(part) * TRAVERSAL),
  estimate: ([text, part]) => multiply(scale(sizeOf(text), TRAVERSAL), scale(sizeOf(part), TRAVERSAL)),
};

/** The cost of `==`, `!=` and the order of texts: the length of the shorter operand. */
export const comparisonCost: CallCost = {
  when: 'before',
  actual: ([left = null, right = null]) => Math.ceil(Math.min(costSize(left), costSize(right)) * TRAVERSAL),
  estimate: ([left, right]) => {
    const max = Math.min(sizeOf(left).max, sizeOf(right).max);
    return scale({ min: max > 0 ? 1 : 0, max }, TRAVERSAL);
  },
};

/** The cost of reading all elements of a list and everything in them. */
export const elementsCost: CallCost = {
  when: 'before',
  actual: ([list = null]) => deepCost(list),
  estimate: ([list]) => {
    const { type, elementSize } = list ?? {};
    if (type?.kind !== 'list') return scale(sizeOf(list), type?.kind === 'dyn' ? 1 : TRAVERSAL);
    const element = type.element.kind === 'string' || type.element.kind === 'bytes';
    const each = element ? add(fixed(1), scale(elementSize ?? unknownSize, TRAVERSAL)) : fixed(1);
    return multiply(sizeOf(list), each);
  },
};

/** Evaluation stops far below this cost, so the count stops here. */
const ENOUGH = 100_000_000;

function deepCost(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(value.length * TRAVERSAL);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL);
  let cost = 0;
  if (value instanceof CelList) {
    if (value.size > ENOUGH) return value.size;
    for (const element of value) cost += deepCost(element);
    return cost;
  }
  if (value instanceof CelMap) {
    for (const key of value.keys()) cost += deepCost(key) + deepCost(value.get(key) ?? null);
    return cost;
  }
  return 1;
}
