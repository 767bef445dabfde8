import { ACCUMULATOR, type CelExpression } from './cel-expression.ts';
import type { ExpressionBuilder } from './expression-builder.ts';

/** A call that is expanded to a loop instead of evaluating its arguments first (cel-go `parser/macro.go`, `ext`). */
export interface MacroCall {
  readonly offset: number;
  readonly target: CelExpression;
  /** A copy of the target with new ids. */
  readonly copyTarget: () => CelExpression;
  readonly args: readonly CelExpression[];
}

type Expand = (build: ExpressionBuilder, call: MacroCall) => CelExpression | undefined;

/** Macros by name and number of arguments; undefined for other calls. An expansion that fails has reported its reason. */
export function findMacro(name: string, arity: number): Expand | undefined {
  return MACROS.get(`${name}/${arity}`);
}

interface LoopVariables {
  readonly variable: string;
  readonly variable2: string | undefined;
  /** The arguments after the variables. */
  readonly rest: readonly CelExpression[];
}

/** The first one or two arguments as variable names. */
function loopVariables(
  build: ExpressionBuilder,
  args: readonly CelExpression[],
  count: 1 | 2,
): LoopVariables | undefined {
  const names: string[] = [];
  for (const arg of args.slice(0, count)) {
    if (arg.kind !== 'ident') {
      build.report(arg.offset, 'argument must be a simple name');
      return undefined;
    }
    if (arg.name === '__result__') {
      build.report(arg.offset, 'iteration variable overwrites accumulator variable');
      return undefined;
    }
    names.push(arg.name);
  }
  const [variable = '', variable2] = names;
  if (variable === variable2) {
    build.report(args[1]?.offset ?? 0, `duplicate variable name: ${variable}`);
    return undefined;
  }
  return { variable, variable2, rest: args.slice(count) };
}

interface Loop {
  readonly init: CelExpression;
  readonly condition: CelExpression;
  readonly step: CelExpression;
  readonly result: CelExpression;
}

/** Expands a macro that loops over its target. `plan` builds the parts of the loop. */
function loop(
  count: 1 | 2,
  plan: (build: ExpressionBuilder, at: number, variables: LoopVariables) => Loop | undefined,
): Expand {
  return (build, { offset, target, args }) => {
    const variables = loopVariables(build, args, count);
    if (variables === undefined) return undefined;
    const planned = plan(build, offset, variables);
    if (planned === undefined) return undefined;
    const { variable, variable2 } = variables;
    return build.comprehension(offset, { range: target, variable, variable2, accumulator: ACCUMULATOR, ...planned });
  };
}

type Plan = Parameters<typeof loop>[1];

const all: Plan = (build, at, { rest: [predicate] }) =>
  predicate && {
    init: build.literal(at, true),
    condition: build.call(at, '@not_strictly_false', [build.accumulator(at)]),
    step: build.call(at, '_&&_', [build.accumulator(at), predicate]),
    result: build.accumulator(at),
  };

const exists: Plan = (build, at, { rest: [predicate] }) =>
  predicate && {
    init: build.literal(at, false),
    condition: build.call(at, '@not_strictly_false', [build.call(at, '!_', [build.accumulator(at)])]),
    step: build.call(at, '_||_', [build.accumulator(at), predicate]),
    result: build.accumulator(at),
  };

const existsOne: Plan = (build, at, { rest: [predicate] }) =>
  predicate && {
    init: build.literal(at, 0n),
    condition: build.literal(at, true),
    step: build.call(at, '_?_:_', [
      predicate,
      build.call(at, '_+_', [build.accumulator(at), build.literal(at, 1n)]),
      build.accumulator(at),
    ]),
    result: build.call(at, '_==_', [build.accumulator(at), build.literal(at, 1n)]),
  };

/** Collects the results of `[filter,] transform` for each element by `add`. */
function collect(
  kind: 'list' | 'map',
  add: (build: ExpressionBuilder, at: number, value: LoopStep) => CelExpression,
): Plan {
  return (build, at, { variable, rest }) => {
    const [transform] = rest.slice(-1);
    const filter = rest.length === 2 ? rest[0] : undefined;
    if (transform === undefined) return undefined;
    const added = add(build, at, { variable, transform });
    return {
      init: kind === 'list' ? build.list(at, []) : build.map(at, []),
      condition: build.literal(at, true),
      step: filter === undefined ? added : build.call(at, '_?_:_', [filter, added, build.accumulator(at)]),
      result: build.accumulator(at),
    };
  };
}

interface LoopStep {
  readonly variable: string;
  readonly transform: CelExpression;
}

const toList = collect('list', (build, at, { transform }) =>
  build.call(at, '_+_', [build.accumulator(at), build.list(at, [transform])]),
);

const toMap = collect('map', (build, at, { variable, transform }) =>
  build.call(at, 'cel.@mapInsert', [build.accumulator(at), build.ident(at, variable), transform]),
);

const toMapEntry = collect('map', (build, at, { transform }) =>
  build.call(at, 'cel.@mapInsert', [build.accumulator(at), transform]),
);

const filter: Plan = (build, at, { variable, rest: [predicate] }) =>
  predicate && {
    init: build.list(at, []),
    condition: build.literal(at, true),
    step: build.call(at, '_?_:_', [
      predicate,
      build.call(at, '_+_', [build.accumulator(at), build.list(at, [build.ident(at, variable)])]),
      build.accumulator(at),
    ]),
    result: build.accumulator(at),
  };

/** `x.optMap(v, e)` is an optional of `e` if `x` has a value. In `optFlatMap`, `e` is already an optional. */
function optionalMap(name: 'optMap' | 'optFlatMap'): Expand {
  return (build, { offset, target, copyTarget, args: [variable, result] }) => {
    if (variable?.kind !== 'ident' || result === undefined) {
      build.report(variable?.offset ?? offset, `${name}() variable name must be a simple identifier`);
      return undefined;
    }
    const value = build.memberCall(offset, 'value', [copyTarget()]);
    const bound = build.binding(offset, { name: variable.name, value, result });
    return build.call(offset, '_?_:_', [
      build.memberCall(offset, 'hasValue', [target]),
      name === 'optMap' ? build.call(offset, 'optional.of', [bound]) : bound,
      build.call(offset, 'optional.none', []),
    ]);
  };
}

/** `list.sortBy(v, key)` sorts by a list of keys, which `map` creates. */
const sortBy: Expand = (build, call) => {
  const { offset, target } = call;
  const input = '@__sortBy_input__';
  const keys = loop(1, toList)(build, { ...call, target: build.ident(offset, input) });
  if (keys === undefined) return undefined;
  const result = build.memberCall(offset, '@sortByAssociatedKeys', [build.ident(offset, input), keys]);
  return build.binding(offset, { name: input, value: target, result });
};

const MACROS: ReadonlyMap<string, Expand> = new Map([
  ['all/2', loop(1, all)],
  ['exists/2', loop(1, exists)],
  ['exists_one/2', loop(1, existsOne)],
  ['existsOne/2', loop(1, existsOne)],
  ['map/2', loop(1, toList)],
  ['map/3', loop(1, toList)],
  ['filter/2', loop(1, filter)],
  ['all/3', loop(2, all)],
  ['exists/3', loop(2, exists)],
  ['exists_one/3', loop(2, existsOne)],
  ['existsOne/3', loop(2, existsOne)],
  ['transformList/3', loop(2, toList)],
  ['transformList/4', loop(2, toList)],
  ['transformMap/3', loop(2, toMap)],
  ['transformMap/4', loop(2, toMap)],
  ['transformMapEntry/3', loop(2, toMapEntry)],
  ['transformMapEntry/4', loop(2, toMapEntry)],
  ['optMap/2', optionalMap('optMap')],
  ['optFlatMap/2', optionalMap('optFlatMap')],
  ['sortBy/2', sortBy],
]);
