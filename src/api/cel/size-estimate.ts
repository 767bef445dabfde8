/** The upper bound of the count (Go's `math.MaxUint64`, as near as a double comes). */
export const UNBOUNDED = 2 ** 64;

/** A range: of the size of a value, or of a cost (cel-go `checker.SizeEstimate`, `CostEstimate`). */
export interface Estimate {
  readonly min: number;
  readonly max: number;
}

export const unknownSize: Estimate = { min: 0, max: UNBOUNDED };
export const zeroCost: Estimate = { min: 0, max: 0 };

export function fixed(size: number): Estimate {
  return { min: size, max: size };
}

const bounded = (value: number): number => (value >= UNBOUNDED || Number.isNaN(value) ? UNBOUNDED : value);

export function add(one: Estimate, other: Estimate): Estimate {
  return { min: bounded(one.min + other.min), max: bounded(one.max + other.max) };
}

export function multiply(one: Estimate, other: Estimate): Estimate {
  return { min: product(one.min, other.min), max: product(one.max, other.max) };
}

function product(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : bounded(one * other);
}

/** Rounded up to whole units. */
export function scale(estimate: Estimate, factor: number): Estimate {
  return { min: bounded(Math.ceil(estimate.min * factor)), max: bounded(Math.ceil(estimate.max * factor)) };
}

/** The range that covers both. */
export function union(one: Estimate, other: Estimate): Estimate {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}
