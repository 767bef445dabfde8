import { type CelType, celTypes, listOf, mapOf, sameType, typeParameters } from './cel-type.ts';

/** The types that are bound to parameters so far. A failed attempt leaves no change. */
export class TypeBindings {
  readonly #bound = new Map<string, CelType>();
  /** The changes of the current attempt, with the previous values. */
  #trail: { readonly name: string; readonly before: CelType | undefined }[] = [];

  get(name: string): CelType | undefined {
    return this.#bound.get(name);
  }

  set(name: string, type: CelType): void {
    this.#trail.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  /** True if a value of type `from` can be used as `to` (cel-go `checker/types.go`). */
  assign(from: CelType, to: CelType): boolean {
    return this.#attempt(() => unify(this, from, to));
  }

  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    return this.#attempt(() => unifyAll(this, from, to));
  }

  #attempt(run: () => boolean): boolean {
    this.#trail = [];
    const succeeded = run();
    for (const { name, before } of succeeded ? [] : this.#trail.toReversed()) {
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
    return succeeded;
  }
}

/** Looks up the types of parameters. */
export interface ParameterTypes {
  get(name: string): CelType | undefined;
}

function unifyAll(bindings: TypeBindings, from: readonly CelType[], to: readonly CelType[]): boolean {
  return (
    from.length === to.length &&
    from.every((each, index) => {
      const match = to[index];
      return match !== undefined && unify(bindings, each, match);
    })
  );
}

function unify(bindings: TypeBindings, from: CelType, to: CelType): boolean {
  if (to.kind === 'param') {
    const bound = bind(bindings, from, to);
    if (bound !== 'open') return bound === 'yes';
  }
  if (from.kind === 'param') return bind(bindings, to, from) === 'yes';
  if (isDynamic(from) || isDynamic(to)) return true;
  if (from.kind === 'null') return isNullable(to);
  if (to.kind === 'null') return isNullable(from);
  if (from.kind !== to.kind) return false;
  switch (from.kind) {
    case 'type':
      return true;
    case 'object':
      return sameType(from, to);
    case 'opaque':
      return to.kind === 'opaque' && from.name === to.name && unifyAll(bindings, from.parameters, to.parameters);
    default:
      return unifyAll(bindings, typeParameters(from), typeParameters(to));
  }
}

/** `open` means that there is no binding, but one is possible. */
function bind(bindings: TypeBindings, type: CelType, param: CelType & { kind: 'param' }): 'yes' | 'no' | 'open' {
  if (sameType(type, param)) return 'yes';
  const known = bindings.get(param.name);
  if (known !== undefined) {
    if (sameType(type, known)) return 'yes';
    if (!unify(bindings, type, known)) return 'no';
    const general = mostGeneral(type, known);
    if (!occurs(bindings, param, general)) bindings.set(param.name, general);
    return 'yes';
  }
  if (occurs(bindings, param, type)) return 'open';
  bindings.set(param.name, type);
  return 'yes';
}

function occurs(bindings: ParameterTypes, param: CelType & { kind: 'param' }, within: CelType): boolean {
  if (sameType(param, within)) return true;
  if (within.kind === 'param') {
    const bound = bindings.get(within.name);
    return bound !== undefined && occurs(bindings, param, bound);
  }
  return typeParameters(within).some((each) => occurs(bindings, param, each));
}

export function isDynamic({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error';
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'object', 'opaque', 'timestamp', 'duration'].includes(kind);
}

export function mostGeneral(one: CelType, other: CelType): CelType {
  return isLessSpecific(one, other) ? one : other;
}

function isLessSpecific(one: CelType, other: CelType): boolean {
  if (one.kind === 'dyn' || one.kind === 'param') return true;
  if (other.kind === 'dyn' || other.kind === 'param' || one.kind !== other.kind) return false;
  if (one.kind === 'type') return true;
  if (one.kind === 'opaque' || one.kind === 'list' || one.kind === 'map') {
    const inner = typeParameters(one);
    const others = typeParameters(other);
    const sameName = !('name' in one && 'name' in other) || one.name === other.name;
    return (
      sameName &&
      inner.length === others.length &&
      inner.every((each, index) => isLessSpecific(each, others[index] ?? celTypes.error))
    );
  }
  return sameType(one, other);
}

/** Replaces the parameters in `type` by their bindings. Unbound parameters stay (`open`) or become `dyn`. */
export function substitute(bindings: ParameterTypes, type: CelType, unbound: 'open' | 'dyn'): CelType {
  switch (type.kind) {
    case 'param': {
      const bound = bindings.get(type.name);
      if (bound !== undefined) return substitute(bindings, bound, unbound);
      return unbound === 'dyn' ? celTypes.dyn : type;
    }
    case 'list': {
      const element = substitute(bindings, type.element, unbound);
      return element === type.element ? type : listOf(element);
    }
    case 'map': {
      const key = substitute(bindings, type.key, unbound);
      const value = substitute(bindings, type.value, unbound);
      return key === type.key && value === type.value ? type : mapOf(key, value);
    }
    case 'opaque': {
      const parameters = type.parameters.map((each) => substitute(bindings, each, unbound));
      return parameters.length === 0 ? type : { kind: 'opaque', name: type.name, parameters };
    }
    case 'type':
      return type.parameter === undefined
        ? type
        : { kind: 'type', parameter: substitute(bindings, type.parameter, unbound) };
    default:
      return type;
  }
}
