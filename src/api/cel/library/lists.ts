import type { CallCost, CallEstimate } from '../call-cost.ts';
import { elementsCost, LIST_CREATE, sizeOf, TRAVERSAL } from '../call-cost.ts';
import { CelBudgetExceededError, CelEvaluationError } from '../cel-error.ts';
import { compareValues, equalValues } from '../cel-comparison.ts';
import { type CelType, celTypes, listOf, typeParameter } from '../cel-type.ts';
import { asInt, asList, CelDuration, CelList, CelUint, type CelValue, costSize, ValueList } from '../cel-value.ts';
import { type CelFunctions, type CelOverload, member, overload } from '../function-declaration.ts';
import { add, type Estimate, fixed, multiply, scale, UNBOUNDED } from '../size-estimate.ts';
import { operators } from './operators.ts';

const { bool, bytes, double, duration, int, string, timestamp, uint } = celTypes;
const A = typeParameter('A');

const SUMMABLE: readonly (readonly [string, CelType, CelValue])[] = [
  ['int', int, 0n],
  ['uint', uint, new CelUint(0n)],
  ['double', double, 0],
  ['duration', duration, new CelDuration(0n)],
];
const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['bool', bool],
  ['duration', duration],
  ['timestamp', timestamp],
  ['string', string],
  ['bytes', bytes],
];

function isSorted(list: CelList): boolean {
  for (let index = 1; index < list.size; index++) {
    if (compareValues(list.at(index - 1), list.at(index)) > 0) return false;
  }
  return true;
}

const additions = operators.flatMap((library) => library['_+_'] ?? []);

function sum(list: CelList, zero: CelValue): CelValue {
  const addition = additions.find(({ id }) => id === `add_${sumKind(zero)}`)?.call;
  let total = zero;
  for (const element of list) total = addition?.(total, element) ?? total;
  return total;
}

function sumKind(zero: CelValue): string {
  if (typeof zero === 'bigint') return 'int64';
  if (typeof zero === 'number') return 'double';
  return zero instanceof CelUint ? 'uint64' : 'duration_duration';
}

/** `sign` is 1 for the greatest and -1 for the least element. */
function extreme(list: CelList, name: 'min' | 'max', sign: 1 | -1): CelValue {
  if (list.size === 0) throw new CelEvaluationError(`${name} called on empty list`);
  let best = list.at(0);
  for (const element of list) if (compareValues(element, best) * sign > 0) best = element;
  return best;
}

function indexOf(list: CelList, value: CelValue, from: 'first' | 'last'): bigint {
  for (let step = 0; step < list.size; step++) {
    const index = from === 'first' ? step : list.size - 1 - step;
    if (equalValues(list.at(index), value)) return BigInt(index);
  }
  return -1n;
}

/** `kubernetes.lists`. */
const kubernetesLists: CelFunctions = {
  isSorted: COMPARABLE.map(([name, type]) =>
    member(`list_${name}_is_sorted_bool`, { args: [listOf(type)], result: bool, cost: elementsCost }, (list = null) =>
      isSorted(asList(list)),
    ),
  ),
  sum: SUMMABLE.map(([name, type, zero]) =>
    member(`list_${name}_sum_${name}`, { args: [listOf(type)], result: type, cost: elementsCost }, (list = null) =>
      sum(asList(list), zero),
    ),
  ),
  max: COMPARABLE.map(([name, type]) =>
    member(`list_${name}_max_${name}`, { args: [listOf(type)], result: type, cost: elementsCost }, (list = null) =>
      extreme(asList(list), 'max', 1),
    ),
  ),
  min: COMPARABLE.map(([name, type]) =>
    member(`list_${name}_min_${name}`, { args: [listOf(type)], result: type, cost: elementsCost }, (list = null) =>
      extreme(asList(list), 'min', -1),
    ),
  ),
  indexOf: [
    member(
      'list_a_index_of_int',
      { args: [listOf(A), A], result: int, cost: elementsCost },
      (list = null, value = null) => indexOf(asList(list), value, 'first'),
    ),
  ],
  lastIndexOf: [
    member(
      'list_a_last_index_of_int',
      { args: [listOf(A), A], result: int, cost: elementsCost },
      (list = null, value = null) => indexOf(asList(list), value, 'last'),
    ),
  ],
};

function slice(list: CelList, start: bigint, end: bigint): ValueList {
  if (start < 0n || end < 0n) {
    throw new CelEvaluationError(`cannot slice(${start}, ${end}), negative indexes not supported`);
  }
  if (start > end) {
    const why = 'start index must be less than or equal to end index';
    throw new CelEvaluationError(`cannot slice(${start}, ${end}), ${why}`);
  }
  if (end > list.size) {
    throw new CelEvaluationError(`cannot slice(${start}, ${end}), list is length ${list.size}`);
  }
  const items: CelValue[] = [];
  for (let index = Number(start); index < Number(end); index++) items.push(list.at(index));
  return new ValueList(items);
}

function flatten(list: CelList, depth: bigint, into: CelValue[] = []): CelValue[] {
  if (depth < 0n) throw new CelEvaluationError('level must be non-negative');
  for (const element of list) {
    if (element instanceof CelList && depth > 0n) flatten(element, depth - 1n, into);
    else into.push(element);
    if (into.length > MAX_MADE) throw new CelBudgetExceededError('call');
  }
  return into;
}

/** Maximum length of a list that one call may create. A longer list costs more than any evaluation may. */
const MAX_MADE = 1_000_000;

function range(count: bigint): ValueList {
  if (count > MAX_MADE) throw new CelBudgetExceededError('call');
  return new ValueList(Array.from({ length: Math.max(Number(count), 0) }, (_, index) => BigInt(index)));
}

function distinct(list: CelList): ValueList {
  const kept: CelValue[] = [];
  for (const element of list) if (!kept.some((each) => equalValues(each, element))) kept.push(element);
  return new ValueList(kept);
}

function sortByKeys(list: CelList, keys: CelList): ValueList {
  if (list.size !== keys.size) throw new CelEvaluationError('list and keys must have the same size');
  const order = [...keys].map((key, index) => ({ key, index }));
  order.sort((one, other) => compareValues(one.key, other.key) || one.index - other.index);
  return new ValueList(order.map(({ index }) => list.at(index)));
}

function made(size: Estimate, factor: number): CallEstimate {
  return { ...add(scale(size, factor), fixed(1 + LIST_CREATE)), resultSize: size };
}

const resultCost = (estimate: CallCost['estimate'], when: CallCost['when'] = 'after'): CallCost => ({
  when,
  actual: (operands, result) => costSize(when === 'after' ? result : (operands[0] ?? null)) + 1 + LIST_CREATE,
  estimate,
});

/** Compares every element with every other. */
function compareAll(operand: 0 | 1, text: boolean): CallCost {
  const factor = text ? 2 + TRAVERSAL : 2;
  return {
    when: 'before',
    actual(operands) {
      const list = operands[operand] ?? null;
      const first = list instanceof CelList && list.size > 0 ? list.at(0) : null;
      const each = typeof first === 'string' || first instanceof Uint8Array ? 2 + TRAVERSAL : 2;
      return Math.floor(costSize(list) ** 2 * each) + 1 + LIST_CREATE;
    },
    estimate: (operands) => made(multiply(sizeOf(operands[operand]), sizeOf(operands[operand])), factor),
  };
}

const isText = (name: string): boolean => name === 'string' || name === 'bytes';

function literalCount(value: CelValue | undefined, otherwise: number): number {
  return typeof value === 'bigint' ? Math.max(Number(value), 0) : otherwise;
}

const flattenCost: CallCost = {
  when: 'before',
  actual: ([list = null, depth = 1n]) =>
    costSize(list) * (typeof depth === 'bigint' ? Math.max(Number(depth), 0) : 1) + 1 + LIST_CREATE,
  estimate: ([list, depth]) => made(sizeOf(list), depth === undefined ? 1 : literalCount(depth.literal, UNBOUNDED)),
};

const flattenOverload = (id: string, args: readonly CelType[]): CelOverload =>
  member(
    id,
    { args, result: listOf(celTypes.dyn), cost: flattenCost },
    (list = null, depth = 1n) => new ValueList(flatten(asList(list), asInt(depth))),
  );

/** cel-go's `ext.Lists` version 3. */
const extendedLists: CelFunctions = {
  slice: [
    member(
      'list_slice',
      {
        args: [listOf(A), int, int],
        result: listOf(A),
        cost: resultCost(([list, start, end]) => {
          const last = literalCount(end?.literal, sizeOf(list).max);
          return made(fixed(Math.max(last - literalCount(start?.literal, 0), 0)), 1);
        }),
      },
      (list = null, start = null, end = null) => slice(asList(list), asInt(start), asInt(end)),
    ),
  ],
  flatten: [
    flattenOverload('list_flatten', [listOf(listOf(A))]),
    flattenOverload('list_flatten_int', [listOf(celTypes.dyn), int]),
  ],
  'lists.range': [
    overload(
      'lists_range',
      {
        args: [int],
        result: listOf(int),
        cost: resultCost(([count]) => made(fixed(literalCount(count?.literal, UNBOUNDED)), 1)),
      },
      (count = null) => range(asInt(count)),
    ),
  ],
  reverse: [
    member(
      'list_reverse',
      { args: [listOf(A)], result: listOf(A), cost: resultCost(([list]) => made(sizeOf(list), 1), 'before') },
      (list = null) => new ValueList([...asList(list)].toReversed()),
    ),
  ],
  distinct: [
    member('list_distinct', { args: [listOf(A)], result: listOf(A), cost: compareAll(0, false) }, (list = null) =>
      distinct(asList(list)),
    ),
  ],
  sort: COMPARABLE.map(([name, type]) =>
    member(
      `list_${name}_sort`,
      { args: [listOf(type)], result: listOf(type), cost: compareAll(0, isText(name)) },
      (list = null) => sortByKeys(asList(list), asList(list)),
    ),
  ),
  '@sortByAssociatedKeys': COMPARABLE.map(([name, type]) =>
    member(
      `list_${name}_sortByAssociatedKeys`,
      { args: [listOf(A), listOf(type)], result: listOf(A), cost: compareAll(1, isText(name)) },
      (list = null, keys = null) => sortByKeys(asList(list), asList(keys)),
    ),
  ),
};

function containsAll(list: CelList, others: CelList): boolean {
  for (const other of others) if (indexOf(list, other, 'first') < 0n) return false;
  return true;
}

function setCost(factor: number): CallCost {
  return {
    when: 'before',
    actual: ([one = null, other = null]) => 1 + costSize(one) * costSize(other) * factor,
    estimate: ([one, other]) => add(scale(multiply(sizeOf(one), sizeOf(other)), factor), fixed(1)),
  };
}

function setOverload(id: string, factor: number, holds: (one: CelList, other: CelList) => boolean): CelOverload {
  const signature = { args: [listOf(A), listOf(A)], result: bool, cost: setCost(factor) };
  return overload(id, signature, (one = null, other = null) => holds(asList(one), asList(other)));
}

/** cel-go's `ext.Sets`. */
const sets: CelFunctions = {
  'sets.contains': [setOverload('list_sets_contains_list', 1, containsAll)],
  'sets.equivalent': [
    setOverload('list_sets_equivalent_list', 2, (one, other) => containsAll(one, other) && containsAll(other, one)),
  ],
  'sets.intersects': [
    setOverload('list_sets_intersects_list', 1, (one, other) => {
      for (const element of one) if (indexOf(other, element, 'first') >= 0n) return true;
      return false;
    }),
  ],
};

export const lists: readonly CelFunctions[] = [kubernetesLists, extendedLists, sets];
