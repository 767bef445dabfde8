import { equalValues } from './cel-comparison.ts';
import { CelBudgetExceededError, CelEvaluationError, noSuchOverload } from './cel-error.ts';
import { type CelComprehension, type CelExpression, isBinding } from './cel-expression.ts';
import {
  asOptional,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  type CelValue,
  costSize,
  GrowingList,
  isOfType,
  runtimeTypeName,
  showKey,
  ValueList,
  ValueMap,
} from './cel-value.ts';
import { numeric } from './cel-comparison.ts';
import { comparisonCost, LIST_CREATE, MAP_CREATE } from './call-cost.ts';
import type { CelOverload } from './function-declaration.ts';
import { listContains } from './json-value.ts';
import type { CheckedExpression, CelReference } from './type-checker.ts';

/** The state of one evaluation. A slot of a comprehension may hold the error of its last step, because later elements may absorb it. */
export interface Frame {
  readonly slots: (CelValue | CelEvaluationError)[];
  readonly variable: (name: string) => CelValue;
  /** Cost so far, in units. It exceeds `limit` only briefly. */
  cost: number;
  readonly limit: number;
}

export type Step = (frame: Frame) => CelValue;

function charge(frame: Frame, cost: number): void {
  frame.cost += cost;
  if (frame.cost > frame.limit) throw new CelBudgetExceededError('call');
}

/** Compiles an expression: every node becomes a function, so that the tree is walked once (cel-go `interpreter/planner.go`). */
export function planExpression(checked: CheckedExpression): Step {
  return new Planner(checked).plan(checked.root);
}

const typeValueOf = (name: string): Step => {
  const value = new CelTypeValue(name);
  return () => value;
};

class Planner {
  readonly #checked: CheckedExpression;
  /** Slots of the variables in scope. */
  readonly #scope = new Map<string, number[]>();
  #slots = 0;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
  }

  plan(expression: CelExpression): Step {
    const name = this.#checked.names.get(expression.id);
    if (name !== undefined) return typeValueOf(name);
    const dotted = this.#checked.dottedVariables.get(expression.id);
    if (dotted !== undefined) return this.#ident(dotted);
    const constant = this.#constant(expression);
    if (constant !== undefined) return () => constant;
    switch (expression.kind) {
      case 'literal': {
        const { value } = expression;
        return () => value;
      }
      case 'ident':
        return this.#ident(expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list': {
        const elements = expression.elements.map((each) => this.plan(each));
        return (frame) => {
          const values = elements.map((each) => each(frame));
          charge(frame, LIST_CREATE);
          return new ValueList(values);
        };
      }
      case 'map': {
        const entries = expression.entries.map(({ key, value }) => [this.plan(key), this.plan(value)] as const);
        return (frame) => {
          const values = entries.map(([key, value]) => [key(frame), value(frame)] as const);
          charge(frame, MAP_CREATE);
          return new ValueMap(values);
        };
      }
      case 'comprehension':
        return isBinding(expression) ? this.#binding(expression) : this.#loop(expression);
    }
  }

  /** Constant values are created once and cost nothing: literals, and lists, maps and conversions of constants. */
  #constant(expression: CelExpression): CelValue | undefined {
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'list': {
        const values = this.#constants(expression.elements);
        return values && new ValueList(values);
      }
      case 'map': {
        const keys = this.#constants(expression.entries.map(({ key }) => key));
        const values = this.#constants(expression.entries.map(({ value }) => value));
        if (keys === undefined || values === undefined) return undefined;
        return unlessError(() => new ValueMap(keys.map((key, index) => [key, values[index] ?? null])));
      }
      case 'call':
        return CONVERSIONS.has(expression.function) ? this.#converted(expression) : undefined;
      default:
        return undefined;
    }
  }

  #constants(expressions: readonly CelExpression[]): readonly CelValue[] | undefined {
    const values: CelValue[] = [];
    for (const each of expressions) {
      const value = this.#constant(each);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return values;
  }

  #converted(call: CelExpression & { readonly kind: 'call' }): CelValue | undefined {
    const values = this.#constants(call.args);
    const overloads = this.#checked.references.get(call.id)?.overloads ?? [];
    const found = values && overloads.find((each) => fits(each, values));
    return values && unlessError(() => found?.call?.(...values));
  }

  #ident(name: string): Step {
    const slot = this.#scope.get(name)?.at(-1);
    if (slot === undefined) {
      return (frame) => {
        charge(frame, 1);
        return frame.variable(name);
      };
    }
    return (frame) => {
      charge(frame, 1);
      const value = frame.slots[slot];
      if (value instanceof CelEvaluationError) throw value;
      return value ?? null;
    };
  }

  /** Runs `plan` with one slot for each name. */
  #within<T>(names: readonly string[], plan: (slots: readonly number[]) => T): T {
    const slots = names.map(() => this.#slots++);
    for (const [index, name] of names.entries()) {
      const outer = this.#scope.get(name) ?? [];
      this.#scope.set(name, [...outer, slots[index] ?? 0]);
    }
    const planned = plan(slots);
    for (const name of names) this.#scope.set(name, (this.#scope.get(name) ?? []).slice(0, -1));
    return planned;
  }

  #select({ operand, field, testOnly }: CelExpression & { readonly kind: 'select' }): Step {
    const target = this.plan(operand);
    if (testOnly) return (frame) => hasField(target(frame), field);
    const cost = accessCost(operand);
    return (frame) => {
      const value = target(frame);
      charge(frame, cost);
      return value instanceof CelOptional ? optionalField(value, field) : readKey(value, field);
    };
  }

  #call(call: CelExpression & { readonly kind: 'call' }): Step {
    const operands = call.args.map((arg) => this.plan(arg));
    const [first, second, third] = operands;
    const [firstArg, secondArg, thirdArg] = call.args;
    switch (call.function) {
      case '_&&_':
        if (first !== undefined && second !== undefined) return logical(first, second, false);
        break;
      case '_||_':
        if (first !== undefined && second !== undefined) return logical(first, second, true);
        break;
      case '_?_:_':
        if (first !== undefined && second !== undefined && third !== undefined) {
          return conditional(first, free(second, secondArg), free(third, thirdArg));
        }
        break;
      case '@not_strictly_false':
        if (first !== undefined) return notStrictlyFalse(first);
        break;
      case '_==_':
        if (first !== undefined && second !== undefined) return equality(first, second, true);
        break;
      case '_!=_':
        if (first !== undefined && second !== undefined) return equality(first, second, false);
        break;
      case '@in':
        if (first !== undefined && second !== undefined && secondArg !== undefined) {
          return membership(first, second, this.#constant(secondArg) === undefined ? 'searched' : 'constant');
        }
        break;
      case '_[_]':
      case '_[?_]':
      case '_?._':
        if (first !== undefined && second !== undefined && firstArg !== undefined && secondArg !== undefined) {
          // A key that was read from a value was already charged.
          const cost = accessCost(firstArg) - (isAttribute(secondArg) ? 1 : 0);
          return access(first, second, { cost, optional: call.function !== '_[_]' });
        }
        break;
    }
    return this.#function(call, operands);
  }

  #function(call: CelExpression & { readonly kind: 'call' }, args: readonly Step[]): Step {
    const reference = this.#checked.references.get(call.id);
    const target = reference?.target === 'value' && call.target !== undefined ? this.plan(call.target) : undefined;
    if (target !== undefined && args.length === 1) {
      const [alternative] = args;
      if (alternative !== undefined && isOptionalChoice(reference))
        return optionalChoice(target, alternative, call.function);
    }
    const operands = target === undefined ? args : [target, ...args];
    const { overloads = [], function: name = call.function } = reference ?? {};
    return (frame) => {
      const values = evaluateAll(operands, frame);
      const found = overloads.find((each) => fits(each, values));
      if (found?.call === undefined) {
        charge(frame, 1);
        throw noOverload(name, values);
      }
      return invoke(frame, found, values);
    };
  }

  #binding({ accumulator, init, result }: CelComprehension): Step {
    const value = this.plan(init);
    return this.#within([accumulator], ([slot = 0]) => {
      const body = this.plan(result);
      return (frame) => {
        frame.slots[slot] = value(frame);
        return body(frame);
      };
    });
  }

  #loop(loop: CelComprehension): Step {
    const range = this.plan(loop.range);
    const init = this.plan(loop.init);
    const collects = loop.init.kind === 'list';
    const names = loop.variable2 === undefined ? [loop.variable] : [loop.variable, loop.variable2];
    return this.#within([loop.accumulator], ([accumulator = 0]) => {
      const result = this.plan(loop.result);
      return this.#within(names, ([first = 0, second]) => {
        const condition = this.plan(loop.condition);
        const step = this.plan(loop.step);
        const unconditional = loop.condition.kind === 'literal';
        return (frame) => {
          const over = range(frame);
          const start = init(frame);
          const { slots } = frame;
          slots[accumulator] = collects ? new GrowingList() : start;
          for (const [key, value] of elements(over, second !== undefined)) {
            slots[first] = key;
            if (second !== undefined) slots[second] = value;
            if (condition(frame) !== true) break;
            slots[accumulator] = attempt(step, frame);
            if (unconditional && slots[accumulator] instanceof CelEvaluationError) break;
          }
          const collected = slots[accumulator];
          if (collected instanceof GrowingList) slots[accumulator] = collected.done();
          return result(frame);
        };
      });
    });
  }
}

/** Conversions that turn a constant into a constant. */
const CONVERSIONS: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'uint',
]);

/** A constant that cannot be created is an error of the evaluation. */
function unlessError(make: () => CelValue | undefined): CelValue | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof CelEvaluationError) return undefined;
    throw error;
  }
}

/** A variable, or a part of one. */
function isAttribute(expression: CelExpression): boolean {
  if (expression.kind === 'ident') return true;
  if (expression.kind === 'select') return !expression.testOnly;
  return expression.kind === 'call' && ['_[_]', '_[?_]', '_?._'].includes(expression.function);
}

/** Reading a part costs this much more if the base is not a variable or a part of one. */
function accessCost(expression: CelExpression): number {
  return isAttribute(expression) ? 1 : 2;
}

/** A variable, or a part of one, costs nothing as a branch of `?:`. */
function free(step: Step, expression: CelExpression | undefined): Step {
  if (expression === undefined || !isAttribute(expression)) return step;
  return (frame) => {
    frame.cost--;
    return step(frame);
  };
}

/** Evaluates all operands. If one fails, the others are still evaluated and charged. */
function evaluateAll(operands: readonly Step[], frame: Frame): readonly CelValue[] {
  const values: CelValue[] = [];
  let failure: CelEvaluationError | undefined;
  for (const operand of operands) {
    const value = attempt(operand, frame);
    if (value instanceof CelEvaluationError) failure ??= value;
    else values.push(value);
  }
  if (failure === undefined) return values;
  charge(frame, 1);
  throw failure;
}

function* elements(over: CelValue, pairs: boolean): Generator<readonly [CelValue, CelValue]> {
  if (over instanceof CelList) {
    for (let index = 0; index < over.size; index++) {
      const element = over.at(index);
      yield pairs ? [BigInt(index), element] : [element, null];
    }
  } else if (over instanceof CelMap) {
    for (const key of over.keys()) yield [key, pairs ? (over.get(key) ?? null) : null];
  } else {
    throw noSuchOverload();
  }
}

/** Returns the value or the evaluation error; other exceptions propagate. */
function attempt(step: Step, frame: Frame): CelValue | CelEvaluationError {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof CelEvaluationError) return error;
    throw error;
  }
}

/** If either operand is `decisive`, it decides the result, even if the other one fails. */
function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const one = attempt(left, frame);
    if (one === decisive) return decisive;
    const other = attempt(right, frame);
    if (other === decisive) return decisive;
    for (const value of [one, other]) {
      if (value instanceof CelEvaluationError) throw value;
      if (typeof value !== 'boolean') throw noSuchOverload();
    }
    return !decisive;
  };
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (typeof value !== 'boolean') throw noSuchOverload();
    return value ? yes(frame) : no(frame);
  };
}

function notStrictlyFalse(operand: Step): Step {
  return (frame) => {
    const value = attempt(operand, frame);
    charge(frame, 1);
    return value !== false;
  };
}

function equality(left: Step, right: Step, wanted: boolean): Step {
  const operands = [left, right];
  return (frame) => {
    const values = evaluateAll(operands, frame);
    const [one = null, other = null] = values;
    charge(frame, comparisonCost.actual(values, null));
    return equalValues(one, other) === wanted;
  };
}

/** A constant list costs nothing to search, because upstream uses a lookup table for it. */
function membership(element: Step, collection: Step, kind: 'searched' | 'constant'): Step {
  const operands = [element, collection];
  return (frame) => {
    const [value = null, within = null] = evaluateAll(operands, frame);
    if (kind === 'searched') charge(frame, within instanceof CelList ? costSize(within) : 1);
    if (within instanceof CelList) return listContains(within, value);
    if (within instanceof CelMap) return within.has(value);
    throw noSuchOverload();
  };
}

function hasField(value: CelValue, field: string): boolean {
  if (value instanceof CelOptional) return value.value !== undefined && hasField(value.value, field);
  return value instanceof CelMap && value.has(field);
}

function access(
  target: Step,
  key: Step,
  { cost, optional }: { readonly cost: number; readonly optional: boolean },
): Step {
  return (frame) => {
    const value = target(frame);
    const at = key(frame);
    if (optional || value instanceof CelOptional) {
      const found = value instanceof CelOptional ? optionalField(value, at) : new CelOptional(findKey(value, at));
      // A missing value costs nothing.
      if (found.value !== undefined) charge(frame, cost);
      return found;
    }
    charge(frame, cost);
    return readKey(value, at);
  };
}

function optionalField({ value }: CelOptional, key: CelValue): CelOptional {
  return value === undefined ? CelOptional.none : new CelOptional(findKey(value, key));
}

/** Undefined if there is no such element. */
function findKey(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.get(key);
  if (!(value instanceof CelList)) throw noSuchOverload();
  const index = numeric(key);
  if (index === undefined || (typeof index === 'number' && !Number.isInteger(index))) {
    throw new CelEvaluationError(`unsupported index type '${runtimeTypeName(key)}' in list`);
  }
  return index >= 0 && index < value.size ? value.at(Number(index)) : undefined;
}

function readKey(value: CelValue, key: CelValue): CelValue {
  const found = findKey(value, key);
  if (found !== undefined) return found;
  throw new CelEvaluationError(
    value instanceof CelMap ? `no such key: ${showKey(key)}` : `index out of bounds: ${showKey(key)}`,
  );
}

function isOptionalChoice(reference: CelReference | undefined): boolean {
  return (
    reference?.overloads.some(({ id }) => id === 'optional_or_optional' || id === 'optional_orValue_value') ?? false
  );
}

/** `or` and `orValue` evaluate the alternative only if it is needed. */
function optionalChoice(target: Step, alternative: Step, name: string): Step {
  return (frame) => {
    const optional = asOptional(target(frame));
    if (optional.value === undefined) return alternative(frame);
    return name === 'or' ? optional : optional.value;
  };
}

function fits({ args }: CelOverload, values: readonly CelValue[]): boolean {
  return args.length === values.length && args.every((type, index) => isOfType(values[index] ?? null, type));
}

function noOverload(name: string, values: readonly CelValue[]): CelEvaluationError {
  if (!/^[A-Za-z]/.test(name)) return noSuchOverload();
  return new CelEvaluationError(`no such overload: ${name}(${values.map(runtimeTypeName).join(', ')})`);
}

function invoke(frame: Frame, { call, cost }: CelOverload, values: readonly CelValue[]): CelValue {
  if (call === undefined) throw noSuchOverload();
  if (cost === undefined) charge(frame, 1);
  else if (cost.when === 'before') charge(frame, cost.actual(values, null));
  const result = call(...values);
  if (cost?.when === 'after') charge(frame, cost.actual(values, result));
  return result;
}
