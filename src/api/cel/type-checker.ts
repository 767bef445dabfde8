import type { CelIssue } from './cel-error.ts';
import { type CelComprehension, type CelExpression, qualifiedName } from './cel-expression.ts';
import {
  type CelType,
  celTypes,
  fieldOf,
  formatType,
  listOf,
  mapOf,
  optionalOf,
  optionalValueType,
} from './cel-type.ts';
import type { CelFunctions, CelOverload } from './function-declaration.ts';
import { isDynamic, mostGeneral, substitute, TypeBindings } from './type-unification.ts';

/** The resolved meaning of a call: the function by its full name, and the overloads that its operands may fit. */
export interface CelReference {
  readonly function: string;
  /** `namespace` means that the apparent target is a part of the function's name. */
  readonly target: 'value' | 'namespace' | 'none';
  readonly overloads: readonly CelOverload[];
}

export interface CheckedExpression {
  readonly root: CelExpression;
  /** By the id of the node. */
  readonly types: ReadonlyMap<number, CelType>;
  readonly references: ReadonlyMap<number, CelReference>;
  /** Names with dots that denote one value: `google.protobuf.Timestamp`. */
  readonly names: ReadonlyMap<number, string>;
  /** Variables whose name has dots (`authorizer.requestResource`), by the id of the node for the whole name. */
  readonly dottedVariables: ReadonlyMap<number, string>;
  /** Variables of the environment that the expression uses. */
  readonly variables: ReadonlySet<string>;
  readonly issues: readonly CelIssue[];
}

export interface CheckerEnvironment {
  readonly variables: Readonly<Record<string, CelType>>;
  readonly functions: CelFunctions;
  /** Names of types, which are values of type `type`. */
  readonly typeNames: ReadonlyMap<string, CelType>;
}

/** Determines the type of every part of an expression, and reports type errors (cel-go `checker/checker.go`). */
export function checkExpression(root: CelExpression, environment: CheckerEnvironment): CheckedExpression {
  return new Checker(environment).run(root);
}

class Checker {
  readonly #environment: CheckerEnvironment;
  readonly #types = new Map<number, CelType>();
  readonly #references = new Map<number, CelReference>();
  readonly #names = new Map<number, string>();
  readonly #dottedVariables = new Map<number, string>();
  readonly #variables = new Set<string>();
  readonly #issues: CelIssue[] = [];
  /** The innermost scope is last. */
  readonly #scopes: Map<string, CelType>[] = [];
  readonly #bindings = new TypeBindings();
  #parameters = 0;

  constructor(environment: CheckerEnvironment) {
    this.#environment = environment;
  }

  run(root: CelExpression): CheckedExpression {
    this.#check(root);
    const types = new Map<number, CelType>();
    for (const [id, type] of this.#types) types.set(id, substitute(this.#bindings, type, 'dyn'));
    return {
      root,
      types,
      references: this.#references,
      names: this.#names,
      dottedVariables: this.#dottedVariables,
      variables: this.#variables,
      issues: this.#issues,
    };
  }

  #check(expression: CelExpression): CelType {
    const type = this.#typeOf(expression);
    this.#types.set(expression.id, type);
    return type;
  }

  #typeOf(expression: CelExpression): CelType {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression);
      case 'ident':
        return this.#resolve(expression, expression.name) ?? this.#undeclared(expression, expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list': {
        let element: CelType | undefined;
        for (const each of expression.elements) element = this.#join(element, this.#check(each));
        return listOf(element ?? this.#newParameter());
      }
      case 'map': {
        let key: CelType | undefined;
        let value: CelType | undefined;
        for (const entry of expression.entries) {
          key = this.#join(key, this.#check(entry.key));
          value = this.#join(value, this.#check(entry.value));
        }
        return mapOf(key ?? this.#newParameter(), value ?? this.#newParameter());
      }
      case 'comprehension':
        return this.#comprehension(expression);
    }
  }

  #report({ offset }: CelExpression, message: string): CelType {
    this.#issues.push({ offset, message });
    return celTypes.error;
  }

  #undeclared(expression: CelExpression, name: string): CelType {
    return this.#report(expression, `undeclared reference to '${name}' (in container '')`);
  }

  #newParameter(): CelType {
    return { kind: 'param', name: `_var${this.#parameters++}` };
  }

  #now(type: CelType): CelType {
    return substitute(this.#bindings, type, 'open');
  }

  #assignable(from: CelType, to: CelType): boolean {
    return this.#bindings.assign(from, to);
  }

  #resolve({ id }: CelExpression, name: string): CelType | undefined {
    for (const scope of this.#scopes.toReversed()) {
      const local = scope.get(name);
      if (local !== undefined) return local;
    }
    const { variables, typeNames } = this.#environment;
    if (Object.hasOwn(variables, name)) {
      this.#variables.add(name);
      return variables[name];
    }
    const named = typeNames.get(name);
    if (named === undefined) return undefined;
    this.#names.set(id, name);
    return { kind: 'type', parameter: named };
  }

  /** A name with dots may denote a type or a variable, unless a macro binds its first part. */
  #select(expression: CelExpression & { readonly kind: 'select' }): CelType {
    const names = qualifiedName(expression);
    const dotted = this.#dottedVariable(names);
    if (dotted !== undefined) {
      this.#dottedVariables.set(expression.id, dotted.name);
      this.#variables.add(dotted.name);
      return dotted.type;
    }
    if (names !== undefined && this.#environment.typeNames.has(names.join('.'))) {
      const type = this.#resolve(expression, names.join('.'));
      if (type !== undefined) return type;
    }
    const type = this.#field(expression, expression.operand, { name: expression.field, optional: false });
    return expression.testOnly ? celTypes.bool : this.#now(type);
  }

  #dottedVariable(names: readonly string[] = []): { readonly name: string; readonly type: CelType } | undefined {
    const name = names.join('.');
    const type = Object.hasOwn(this.#environment.variables, name) ? this.#environment.variables[name] : undefined;
    const bound = this.#scopes.some((scope) => scope.has(names[0] ?? ''));
    return type === undefined || bound ? undefined : { name, type };
  }

  #field(
    expression: CelExpression,
    operand: CelExpression,
    { name, optional }: { readonly name: string; readonly optional: boolean },
  ): CelType {
    const operandType = this.#now(this.#check(operand));
    const inner = optionalValueType(operandType);
    const type = this.#fieldType(expression, inner ?? operandType, name);
    return inner !== undefined || optional ? optionalOf(type) : type;
  }

  #fieldType(expression: CelExpression, type: CelType, name: string): CelType {
    switch (type.kind) {
      case 'map':
        return type.value;
      case 'object':
        return fieldOf(type, name)?.type ?? this.#report(expression, `undefined field '${name}'`);
      case 'param':
        this.#assignable(celTypes.dyn, type);
        return celTypes.dyn;
      default:
        if (!isDynamic(type)) {
          this.#report(expression, `type '${formatType(type)}' does not support field selection`);
        }
        return celTypes.dyn;
    }
  }

  #call(call: CelExpression & { readonly kind: 'call' }): CelType {
    const { functions } = this.#environment;
    if (call.function === '_?._') {
      const [operand, field] = call.args;
      const name = field?.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
      if (field !== undefined) this.#types.set(field.id, celTypes.string);
      return operand === undefined ? celTypes.error : this.#now(this.#field(call, operand, { name, optional: true }));
    }
    for (const arg of call.args) this.#check(arg);
    const { target } = call;
    if (target === undefined) {
      const overloads = functions[call.function];
      if (overloads === undefined) return this.#undeclared(call, call.function);
      return this.#overloads(call, { function: call.function, target: 'none', overloads });
    }
    const namespaced = [...(qualifiedName(target) ?? []), call.function].join('.');
    const inNamespace = qualifiedName(target) === undefined ? undefined : functions[namespaced];
    if (inNamespace !== undefined) {
      return this.#overloads(call, { function: namespaced, target: 'namespace', overloads: inNamespace });
    }
    this.#check(target);
    const overloads = functions[call.function];
    if (overloads === undefined) return this.#undeclared(call, call.function);
    return this.#overloads(call, { function: call.function, target: 'value', overloads });
  }

  #overloads(call: CelExpression & { readonly kind: 'call' }, reference: CelReference): CelType {
    const isMember = reference.target === 'value' && call.target !== undefined;
    const operands = isMember && call.target !== undefined ? [call.target, ...call.args] : call.args;
    const types = operands.map(({ id }) => this.#types.get(id) ?? celTypes.error);
    if (reference.function === '_&&_' || reference.function === '_||_') return this.#logical(call, reference);
    const fitting: CelOverload[] = [];
    let result: CelType | undefined;
    for (const each of reference.overloads) {
      if (each.member !== isMember) continue;
      const fresh = this.#fresh(each);
      if (!this.#bindings.assignAll(types, fresh.args)) continue;
      fitting.push(each);
      const type = this.#now(fresh.result);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && formatType(type) !== formatType(result)) result = celTypes.dyn;
    }
    if (result === undefined) return this.#noOverload(call, reference.function, { types, isMember });
    this.#references.set(call.id, { ...reference, overloads: fitting });
    return result;
  }

  #noOverload(
    call: CelExpression,
    name: string,
    { types, isMember }: { readonly types: readonly CelType[]; readonly isMember: boolean },
  ): CelType {
    const shown = types.map((type) => formatType(substitute(this.#bindings, type, 'dyn')));
    const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.#report(call, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #logical(call: CelExpression & { readonly kind: 'call' }, reference: CelReference): CelType {
    let fits = true;
    for (const arg of call.args) {
      const type = this.#types.get(arg.id) ?? celTypes.error;
      if (this.#assignable(type, celTypes.bool)) continue;
      fits = false;
      this.#report(arg, `expected type 'bool' but found '${formatType(this.#now(type))}'`);
    }
    if (!fits) return celTypes.error;
    this.#references.set(call.id, reference);
    return celTypes.bool;
  }

  /** An overload whose type parameters are replaced by new, unbound ones. */
  #fresh({ args, result }: CelOverload): { readonly args: readonly CelType[]; readonly result: CelType } {
    const parameters = new Map<string, CelType>();
    const collect = (type: CelType): void => {
      if (type.kind === 'param' && !parameters.has(type.name)) parameters.set(type.name, this.#newParameter());
      else if (type.kind === 'list') collect(type.element);
      else if (type.kind === 'map') [type.key, type.value].forEach(collect);
      else if (type.kind === 'opaque') type.parameters.forEach(collect);
    };
    [...args, result].forEach(collect);
    if (parameters.size === 0) return { args, result };
    return {
      args: args.map((arg) => substitute(parameters, arg, 'open')),
      result: substitute(parameters, result, 'open'),
    };
  }

  #comprehension(loop: CelExpression & CelComprehension): CelType {
    this.#check(loop.range);
    const accumulator = this.#check(loop.init);
    const rangeType = this.#now(this.#types.get(loop.range.id) ?? celTypes.error);
    this.#scopes.push(new Map([[loop.accumulator, accumulator]]));
    this.#scopes.push(this.#loopScope(loop, rangeType));
    this.#check(loop.condition);
    this.#expect(loop.condition, celTypes.bool);
    this.#check(loop.step);
    this.#expect(loop.step, accumulator);
    this.#scopes.pop();
    const result = this.#check(loop.result);
    this.#scopes.pop();
    return this.#now(result);
  }

  #loopScope({ range, variable, variable2 }: CelComprehension, type: CelType): Map<string, CelType> {
    const [first, second] = this.#rangeTypes(range, type, variable2 === undefined ? 'one' : 'two');
    return new Map([[variable, first], ...(variable2 === undefined ? [] : ([[variable2, second]] as const))]);
  }

  #rangeTypes(range: CelExpression, type: CelType, count: 'one' | 'two'): readonly [CelType, CelType] {
    switch (type.kind) {
      case 'list':
        return count === 'one' ? [type.element, type.element] : [celTypes.int, type.element];
      case 'map':
        return [type.key, type.value];
      case 'dyn':
      case 'error':
      case 'param':
        this.#assignable(celTypes.dyn, type);
        return [celTypes.dyn, celTypes.dyn];
      default: {
        const shown = formatType(type);
        const message = `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#report(range, message);
        return [celTypes.error, celTypes.error];
      }
    }
  }

  #expect(expression: CelExpression, type: CelType): void {
    const actual = this.#types.get(expression.id) ?? celTypes.error;
    if (this.#assignable(type, actual)) return;
    const found = formatType(this.#now(actual));
    this.#report(expression, `expected type '${formatType(this.#now(type))}' but found '${found}'`);
  }

  /** The common type of a literal's elements. Another check requires that they have one type. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#assignable(previous, current) ? mostGeneral(previous, current) : celTypes.dyn;
  }
}

function literalType({ value }: CelExpression & { readonly kind: 'literal' }): CelType {
  if (value === null) return celTypes.null;
  switch (typeof value) {
    case 'bigint':
      return celTypes.int;
    case 'number':
      return celTypes.double;
    case 'string':
      return celTypes.string;
    case 'boolean':
      return celTypes.bool;
    default:
      return value instanceof Uint8Array ? celTypes.bytes : celTypes.uint;
  }
}
