import { type EstimatedOperand, LIST_CREATE, MAP_CREATE, TRAVERSAL } from './call-cost.ts';
import { comparisonCost, unitCost, type CallEstimate } from './call-cost.ts';
import { ACCUMULATOR, type CelComprehension, type CelExpression, isBinding } from './cel-expression.ts';
import { type CelType, celTypes, fieldOf, optionalValueType } from './cel-type.ts';
import { costSize } from './cel-value.ts';
import type { CheckedExpression } from './type-checker.ts';
import {
  add,
  type Estimate,
  fixed,
  multiply,
  scale,
  union,
  UNBOUNDED,
  unknownSize,
  zeroCost,
} from './size-estimate.ts';

/**
 * The least and greatest cost of an expression, as kube-apiserver estimates it when it judges rules (cel-go `checker/cost.go`,
 * apiextensions `schema/cel.sizeEstimator`). Sizes come from `maxElements` of `sized` and of its parts, and otherwise from the expression.
 * `sized` gives the size of every name, not only of `self`: `int` in `type(self) == int` has the size of `self` as well. If it is
 * undefined, no name has a known size.
 */
export function estimateCost(checked: CheckedExpression, sized: CelType | undefined): Estimate {
  return new Estimator(checked, sized).cost(checked.root);
}

/** Sizes of the keys and values of a list or map. */
interface EntrySize {
  readonly container: 'list' | 'map';
  readonly key: Estimate;
  readonly value: Estimate;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Estimate | undefined;
  readonly entry: EntrySize | undefined;
}

class Estimator {
  readonly #checked: CheckedExpression;
  readonly #sized: CelType | undefined;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Estimate>();
  readonly #entries = new Map<number, EntrySize>();
  readonly #locals = new Map<string, Local[]>();

  constructor(checked: CheckedExpression, sized: CelType | undefined) {
    this.#checked = checked;
    this.#sized = sized;
  }

  cost(expression: CelExpression): Estimate {
    switch (expression.kind) {
      case 'literal':
        return zeroCost;
      case 'ident':
        this.#paths.set(expression.id, this.#locals.get(expression.name)?.at(-1)?.path ?? [expression.name]);
        return fixed(1);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'comprehension':
        return isBinding(expression) ? this.#binding(expression) : this.#loop(expression);
    }
  }

  #type({ id }: CelExpression): CelType {
    return this.#checked.types.get(id) ?? celTypes.dyn;
  }

  #select(expression: CelExpression & { readonly kind: 'select' }): Estimate {
    const { names, dottedVariables } = this.#checked;
    const dotted = names.get(expression.id) ?? dottedVariables.get(expression.id);
    if (dotted !== undefined) {
      this.#paths.set(expression.id, [dotted]);
      return fixed(1);
    }
    const operand = this.cost(expression.operand);
    if (expression.testOnly) return operand;
    this.#paths.set(expression.id, [...this.#path(expression.operand), expression.field]);
    const { kind } = this.#type(expression.operand);
    return kind === 'map' || kind === 'object' || kind === 'param' ? add(operand, fixed(1)) : operand;
  }

  #list(expression: CelExpression & { readonly kind: 'list' }): Estimate {
    let cost = fixed(LIST_CREATE);
    let value: Estimate = { min: expression.elements.length === 0 ? 0 : UNBOUNDED, max: 0 };
    for (const element of expression.elements) {
      cost = add(cost, this.cost(element));
      value = union(value, this.#size(element) ?? unknownSize);
    }
    this.#entries.set(expression.id, { container: 'list', key: fixed(1), value });
    return cost;
  }

  #map(expression: CelExpression & { readonly kind: 'map' }): Estimate {
    let cost = fixed(MAP_CREATE);
    const start: Estimate = { min: expression.entries.length === 0 ? 0 : UNBOUNDED, max: 0 };
    let key = start;
    let value = start;
    for (const entry of expression.entries) {
      cost = add(cost, add(this.cost(entry.key), this.cost(entry.value)));
      key = union(key, this.#size(entry.key) ?? unknownSize);
      value = union(value, this.#size(entry.value) ?? unknownSize);
    }
    this.#entries.set(expression.id, { container: 'map', key, value });
    return cost;
  }

  #call(call: CelExpression & { readonly kind: 'call' }): Estimate {
    const [first, second] = call.args;
    if (call.function === 'dyn' && first !== undefined) {
      const cost = add(fixed(1), this.cost(first));
      this.#copySizes(call, first);
      return cost;
    }
    if (call.function === '_?._' && first !== undefined && second !== undefined) return zeroCost;
    const reference = this.#checked.references.get(call.id);
    if (reference === undefined || reference.overloads.length === 0) return zeroCost;
    const target = reference.target === 'value' ? call.target : undefined;
    const costs = call.args.map((arg) => this.cost(arg));
    const targetCost = target === undefined ? zeroCost : this.cost(target);
    const operands = target === undefined ? call.args : [target, ...call.args];
    const special = this.#operator(call, costs);
    if (special !== undefined) return this.#result(call, special);
    const known = operands.map((operand) => this.#operand(operand));
    const argCost = costs.reduce(add, targetCost);
    let cost: Estimate = { min: UNBOUNDED, max: 0 };
    let size: Estimate | undefined;
    for (const each of reference.overloads) {
      const estimate = (each.cost ?? unitCost).estimate(known);
      cost = union(cost, estimate);
      if (estimate.resultSize !== undefined)
        size = size === undefined ? estimate.resultSize : union(size, estimate.resultSize);
    }
    return this.#result(call, { ...add(cost, argCost), ...(size === undefined ? {} : { resultSize: size }) });
  }

  #result(call: CelExpression, { min, max, resultSize }: CallEstimate): Estimate {
    const size = resultSize ?? this.#size(call);
    if (size !== undefined) this.#sizes.set(call.id, size);
    return { min, max };
  }

  /** Operators that the interpreter evaluates itself. */
  #operator(call: CelExpression & { readonly kind: 'call' }, costs: readonly Estimate[]): CallEstimate | undefined {
    const [left, right, other] = call.args;
    const [leftCost = zeroCost, rightCost = zeroCost, otherCost = zeroCost] = costs;
    const both = add(leftCost, rightCost);
    if (left === undefined || right === undefined) return undefined;
    switch (call.function) {
      case '_&&_':
      case '_||_':
        return { min: leftCost.min, max: both.max };
      case '_?_:_': {
        if (other === undefined) return undefined;
        const resultSize = union(this.#size(right) ?? unknownSize, this.#size(other) ?? unknownSize);
        this.#setEntry(call, unionEntries(this.#entry(right), this.#entry(other)));
        return { ...add(leftCost, union(rightCost, otherCost)), resultSize };
      }
      case '_==_':
      case '_!=_':
        return add(comparisonCost.estimate([this.#operand(left), this.#operand(right)]), both);
      case '@in': {
        const isMap = this.#type(right).kind === 'map';
        return add(isMap ? fixed(1) : (this.#size(right) ?? unknownSize), both);
      }
      case '_[_]':
        return this.#index(call, left, add(fixed(1), both));
      case '_+_':
        return this.#addition(call, { left, right, both });
      default:
        return undefined;
    }
  }

  #index(call: CelExpression, container: CelExpression, cost: Estimate): CallEstimate {
    const { kind } = this.#type(container);
    if (kind !== 'list' && kind !== 'map') return cost;
    this.#paths.set(call.id, [...this.#path(container), kind === 'list' ? '@items' : '@values']);
    const resultSize = this.#entry(container)?.value;
    return resultSize === undefined ? cost : { ...cost, resultSize };
  }

  /** The result of a concatenation is as long as both operands. */
  #addition(
    call: CelExpression,
    { left, right, both }: { readonly left: CelExpression; readonly right: CelExpression; readonly both: Estimate },
  ): CallEstimate | undefined {
    const { kind } = this.#type(call);
    if (kind !== 'string' && kind !== 'bytes' && kind !== 'list') return undefined;
    const resultSize = add(this.#size(left) ?? unknownSize, this.#size(right) ?? unknownSize);
    this.#setEntry(call, unionEntries(this.#entry(left), this.#entry(right)));
    return { ...add(kind === 'list' ? fixed(1) : scale(resultSize, TRAVERSAL), both), resultSize };
  }

  #loop(loop: CelExpression & CelComprehension): Estimate {
    const outside = add(this.cost(loop.range), this.cost(loop.init));
    const each = this.#with([[loop.accumulator, this.#local(loop.init)]], () => {
      const inside = this.#with(this.#loopLocals(loop), () => add(this.cost(loop.step), this.cost(loop.condition)));
      return { inside, result: this.cost(loop.result) };
    });
    const count = this.#size(loop.range) ?? unknownSize;
    if (loop.init.kind === 'literal') {
      const size = this.#size(loop.init);
      if (size !== undefined) this.#sizes.set(loop.id, size);
    } else if (loop.init.kind === 'list' || loop.init.kind === 'map') {
      this.#sizes.set(loop.id, count);
      this.#setEntry(loop, this.#entry(loop.step));
    }
    return add(add(outside, each.result), multiply(count, each.inside));
  }

  #loopLocals({ range, variable, variable2 }: CelComprehension): readonly (readonly [string, Local])[] {
    const entry = this.#entry(range);
    const isList = (entry?.container ?? this.#type(range).kind) === 'list';
    const path = this.#path(range);
    const at = (step: string, size: Estimate | undefined): Local => ({ path: [...path, step], size, entry: undefined });
    const value = at(isList ? '@items' : '@values', entry?.value);
    if (variable2 !== undefined)
      return [
        [variable, at(isList ? '@indices' : '@keys', entry?.key)],
        [variable2, value],
      ];
    return [[variable, isList ? value : at('@keys', entry?.key)]];
  }

  #binding(loop: CelExpression & CelComprehension): Estimate {
    const outside = add(this.cost(loop.range), this.cost(loop.init));
    const result = this.#with([[loop.accumulator, this.#local(loop.init)]], () => this.cost(loop.result));
    this.#copySizes(loop, loop.result);
    return add(outside, result);
  }

  #local(expression: CelExpression): Local {
    return { path: this.#path(expression), size: this.#size(expression), entry: this.#entry(expression) };
  }

  #with<T>(locals: readonly (readonly [string, Local])[], run: () => T): T {
    for (const [name, local] of locals) this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
    const result = run();
    for (const [name] of locals) this.#locals.set(name, (this.#locals.get(name) ?? []).slice(0, -1));
    return result;
  }

  /** The origin of a value: a variable and steps into it. Empty if unknown. */
  #path(expression: CelExpression): readonly string[] {
    const local = expression.kind === 'ident' ? this.#locals.get(expression.name)?.at(-1) : undefined;
    return local?.path ?? this.#paths.get(expression.id) ?? [];
  }

  #operand(expression: CelExpression): EstimatedOperand {
    const type = this.#type(expression);
    const path = this.#path(expression);
    const element = type.kind === 'list' ? this.#declared([...path, '@items'], path) : undefined;
    const literal = expression.kind === 'literal' ? expression.value : undefined;
    return { type, size: this.#size(expression), elementSize: element, literal };
  }

  #size(expression: CelExpression): Estimate | undefined {
    const known = this.#sizes.get(expression.id);
    if (known !== undefined) return known;
    if (expression.kind === 'literal') return fixed(costSize(expression.value));
    if (expression.kind === 'list') return fixed(expression.elements.length);
    if (expression.kind === 'map') return fixed(expression.entries.length);
    const path = this.#path(expression);
    const declared = this.#declared(path, path);
    if (declared !== undefined) return declared;
    if (isScalar(this.#type(expression))) return fixed(1);
    return expression.kind === 'ident' ? this.#locals.get(expression.name)?.at(-1)?.size : undefined;
  }

  /** The declared size of a name or a part of it. A declared part without a size has size 0. */
  #declared(path: readonly string[], origin: readonly string[]): Estimate | undefined {
    const [root = '', ...steps] = path;
    if (origin.length === 0 || root === ACCUMULATOR) return undefined;
    let type = this.#sized;
    for (const step of steps) type = type === undefined ? undefined : inside(type, step);
    return type === undefined ? undefined : { min: 0, max: type.maxElements ?? 0 };
  }

  #setEntry({ id }: CelExpression, entry: EntrySize | undefined): void {
    if (entry !== undefined) this.#entries.set(id, entry);
  }

  #entry(expression: CelExpression): EntrySize | undefined {
    const known = this.#entries.get(expression.id);
    if (known !== undefined) return known;
    return expression.kind === 'ident' ? this.#locals.get(expression.name)?.at(-1)?.entry : undefined;
  }

  #copySizes(to: CelExpression, from: CelExpression): void {
    const size = this.#size(from);
    if (size !== undefined) this.#sizes.set(to.id, size);
    this.#setEntry(to, this.#entry(from));
  }
}

function unionEntries(one: EntrySize | undefined, other: EntrySize | undefined): EntrySize | undefined {
  if (one === undefined || other === undefined) return undefined;
  return { container: one.container, key: union(one.key, other.key), value: union(one.value, other.value) };
}

function inside(type: CelType, step: string): CelType | undefined {
  switch (step) {
    case '@items':
      return type.kind === 'list' ? type.element : type.kind === 'map' ? type.value : undefined;
    case '@values':
      return type.kind === 'map' ? type.value : type.kind === 'list' ? type.element : undefined;
    case '@keys':
      return type.kind === 'map' ? type.key : undefined;
    default:
      return fieldOf(type, step)?.type;
  }
}

function isScalar(type: CelType): boolean {
  const value = optionalValueType(type);
  if (value !== undefined) return isScalar(value);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
