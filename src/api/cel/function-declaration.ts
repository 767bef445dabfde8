import type { CallCost } from './call-cost.ts';
import type { CelType } from './cel-type.ts';
import type { CelValue } from './cel-value.ts';

/** One way to call a function (cel-go `decls.OverloadDecl`). */
export interface CelOverload {
  readonly id: string;
  /** Called as `a.f(b)`; the first argument type is that of `a`. */
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /**
   * Evaluates a call whose arguments fit `args`; elements of lists and maps may have any type. Throws CelEvaluationError. Absent for
   * operators that the interpreter evaluates itself.
   */
  readonly call?: (...args: readonly CelValue[]) => CelValue;
  /** Absent: 1 for each call. */
  readonly cost?: CallCost;
}

/** Functions by name; namespaced ones by their whole name: `optional.of`. */
export type CelFunctions = Readonly<Record<string, readonly CelOverload[]>>;

type Implementation = (...args: readonly CelValue[]) => CelValue;

export interface Signature {
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly cost?: CallCost;
}

/** `f(a, b)`. */
export function overload(id: string, signature: Signature, call?: Implementation): CelOverload {
  return { id, member: false, ...signature, ...(call === undefined ? {} : { call }) };
}

/** `a.f(b)`. */
export function member(id: string, signature: Signature, call?: Implementation): CelOverload {
  return { id, member: true, ...signature, ...(call === undefined ? {} : { call }) };
}

/** Merges several sets of functions. Overloads of the same name are combined. */
export function mergeFunctions(libraries: readonly CelFunctions[]): CelFunctions {
  const merged: Record<string, readonly CelOverload[]> = Object.create(null);
  for (const library of libraries) {
    for (const [name, overloads] of Object.entries(library)) merged[name] = [...(merged[name] ?? []), ...overloads];
  }
  return merged;
}
