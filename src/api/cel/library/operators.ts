import { comparisonCost, TRAVERSAL, unitCost } from '../call-cost.ts';
import type { CallCost } from '../call-cost.ts';
import { compareValues } from '../cel-comparison.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, listOf, mapOf, optionalOf, typeParameter } from '../cel-type.ts';
import { asList, CelDuration, CelTimestamp, CelUint, type CelValue, checkedInt, costSize } from '../cel-value.ts';
import { type CelFunctions, type CelOverload, overload } from '../function-declaration.ts';

const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = celTypes;
const A = typeParameter('A');
const B = typeParameter('B');

type Binary = (left: CelValue, right: CelValue) => CelValue;

/** `id`, operands, result. */
function binary(id: string, [left, right, result]: readonly [CelType, CelType, CelType], call?: Binary): CelOverload {
  return overload(id, { args: [left, right], result }, call);
}

const ints =
  (operate: (left: bigint, right: bigint) => bigint): Binary =>
  (left, right) => {
    if (typeof left !== 'bigint' || typeof right !== 'bigint') throw noSuchOverload();
    return checkedInt(operate(left, right));
  };

const uints =
  (operate: (left: bigint, right: bigint) => bigint): Binary =>
  (left, right) => {
    if (!(left instanceof CelUint && right instanceof CelUint)) throw noSuchOverload();
    return new CelUint(operate(left.value, right.value));
  };

const doubles =
  (operate: (left: number, right: number) => number): Binary =>
  (left, right) => {
    if (typeof left !== 'number' || typeof right !== 'number') throw noSuchOverload();
    return operate(left, right);
  };

type Moment = CelTimestamp | CelDuration;

/** Arithmetic of times, in nanoseconds, converted to the type `result`. */
const times =
  (result: new (nanos: bigint) => Moment, operate: (left: bigint, right: bigint) => bigint): Binary =>
  (left, right) => {
    if (!isMoment(left) || !isMoment(right)) throw noSuchOverload();
    return new result(operate(left.nanos, right.nanos));
  };

function isMoment(value: CelValue): value is Moment {
  return value instanceof CelTimestamp || value instanceof CelDuration;
}

const divisible =
  (problem: string, operate: (left: bigint, right: bigint) => bigint) =>
  (left: bigint, right: bigint): bigint => {
    if (right === 0n) throw new CelEvaluationError(problem);
    return operate(left, right);
  };

const divide = divisible('division by zero', (left, right) => left / right);
const modulo = divisible('modulus by zero', (left, right) => left % right);

/** Both operands are copied. */
const joinCost: CallCost = {
  when: 'before',
  actual: ([left = null, right = null]) => Math.ceil((costSize(left) + costSize(right)) * TRAVERSAL),
  estimate: unitCost.estimate,
};

const arithmetic: CelFunctions = {
  '_+_': [
    overload('add_bytes', { args: [bytes, bytes], result: bytes, cost: joinCost }, (left, right) => {
      if (!(left instanceof Uint8Array && right instanceof Uint8Array)) throw noSuchOverload();
      return new Uint8Array([...left, ...right]);
    }),
    binary(
      'add_double',
      [double, double, double],
      doubles((left, right) => left + right),
    ),
    binary(
      'add_duration_duration',
      [duration, duration, duration],
      times(CelDuration, (a, b) => a + b),
    ),
    binary(
      'add_duration_timestamp',
      [duration, timestamp, timestamp],
      times(CelTimestamp, (a, b) => a + b),
    ),
    binary(
      'add_timestamp_duration',
      [timestamp, duration, timestamp],
      times(CelTimestamp, (a, b) => a + b),
    ),
    binary(
      'add_int64',
      [int, int, int],
      ints((left, right) => left + right),
    ),
    binary('add_list', [listOf(A), listOf(A), listOf(A)], (left, right) => asList(left).concat(asList(right))),
    overload('add_string', { args: [string, string], result: string, cost: joinCost }, (left, right) => {
      if (typeof left !== 'string' || typeof right !== 'string') throw noSuchOverload();
      return left + right;
    }),
    binary(
      'add_uint64',
      [uint, uint, uint],
      uints((left, right) => left + right),
    ),
  ],
  '_-_': [
    binary(
      'subtract_double',
      [double, double, double],
      doubles((left, right) => left - right),
    ),
    binary(
      'subtract_duration_duration',
      [duration, duration, duration],
      times(CelDuration, (a, b) => a - b),
    ),
    binary(
      'subtract_int64',
      [int, int, int],
      ints((left, right) => left - right),
    ),
    binary(
      'subtract_timestamp_duration',
      [timestamp, duration, timestamp],
      times(CelTimestamp, (a, b) => a - b),
    ),
    binary(
      'subtract_timestamp_timestamp',
      [timestamp, timestamp, duration],
      times(CelDuration, (a, b) => a - b),
    ),
    binary(
      'subtract_uint64',
      [uint, uint, uint],
      uints((left, right) => left - right),
    ),
  ],
  '_*_': [
    binary(
      'multiply_double',
      [double, double, double],
      doubles((left, right) => left * right),
    ),
    binary(
      'multiply_int64',
      [int, int, int],
      ints((left, right) => left * right),
    ),
    binary(
      'multiply_uint64',
      [uint, uint, uint],
      uints((left, right) => left * right),
    ),
  ],
  '_/_': [
    binary(
      'divide_double',
      [double, double, double],
      doubles((left, right) => left / right),
    ),
    binary('divide_int64', [int, int, int], ints(divide)),
    binary('divide_uint64', [uint, uint, uint], uints(divide)),
  ],
  '_%_': [
    binary('modulo_int64', [int, int, int], ints(modulo)),
    binary('modulo_uint64', [uint, uint, uint], uints(modulo)),
  ],
  '-_': [
    overload('negate_double', { args: [double], result: double }, (value) => -Number(value)),
    overload('negate_int64', { args: [int], result: int }, (value) =>
      typeof value === 'bigint' ? checkedInt(-value) : value,
    ),
  ],
  '!_': [overload('logical_not', { args: [bool], result: bool }, (value) => value !== true)],
};

const ORDERS = {
  less: ['_<_', (order: number) => order < 0],
  less_equals: ['_<=_', (order: number) => order <= 0],
  greater: ['_>_', (order: number) => order > 0],
  greater_equals: ['_>=_', (order: number) => order >= 0],
} as const;

/** Numbers are ordered across their types. */
const ORDERED: readonly (readonly [string, CelType, CelType])[] = [
  ['bool', bool, bool],
  ['int64', int, int],
  ['int64_double', int, double],
  ['int64_uint64', int, uint],
  ['uint64', uint, uint],
  ['uint64_double', uint, double],
  ['uint64_int64', uint, int],
  ['double', double, double],
  ['double_int64', double, int],
  ['double_uint64', double, uint],
  ['string', string, string],
  ['bytes', bytes, bytes],
  ['timestamp', timestamp, timestamp],
  ['duration', duration, duration],
];

const order: CelFunctions = Object.fromEntries(
  Object.entries(ORDERS).map(([name, [operator, holds]]) => [
    operator,
    ORDERED.map(([kind, left, right]) => {
      const cost = kind === 'string' || kind === 'bytes' ? comparisonCost : unitCost;
      const signature = { args: [left, right], result: bool, cost };
      return overload(`${name}_${kind}`, signature, (one = null, other = null) => holds(compareValues(one, other)));
    }),
  ]),
);

/** Only declares these functions. The interpreter evaluates them, because it skips operands that are not needed. */
const special: CelFunctions = {
  '_?_:_': [overload('conditional', { args: [bool, A, A], result: A })],
  '_&&_': [overload('logical_and', { args: [bool, bool], result: bool })],
  '_||_': [overload('logical_or', { args: [bool, bool], result: bool })],
  '@not_strictly_false': [overload('not_strictly_false', { args: [bool], result: bool })],
  '_==_': [overload('equals', { args: [A, A], result: bool, cost: comparisonCost })],
  '_!=_': [overload('not_equals', { args: [A, A], result: bool, cost: comparisonCost })],
  '@in': [
    overload('in_list', { args: [A, listOf(A)], result: bool }),
    overload('in_map', { args: [A, mapOf(A, B)], result: bool }),
  ],
  '_[_]': [
    overload('index_list', { args: [listOf(A), int], result: A }),
    overload('index_map', { args: [mapOf(A, B), A], result: B }),
    overload('optional_list_index_int', { args: [optionalOf(listOf(A)), int], result: optionalOf(A) }),
    overload('optional_map_index_value', { args: [optionalOf(mapOf(A, B)), A], result: optionalOf(B) }),
  ],
  '_[?_]': [
    overload('list_optindex_optional_int', { args: [listOf(A), int], result: optionalOf(A) }),
    overload('optional_list_optindex_optional_int', { args: [optionalOf(listOf(A)), int], result: optionalOf(A) }),
    overload('map_optindex_optional_value', { args: [mapOf(A, B), A], result: optionalOf(B) }),
    overload('optional_map_optindex_optional_value', { args: [optionalOf(mapOf(A, B)), A], result: optionalOf(B) }),
  ],
};

const dynamic: CelFunctions = {
  dyn: [overload('to_dyn', { args: [A], result: dyn }, (value = null) => value)],
};

export const operators: readonly CelFunctions[] = [arithmetic, order, special, dynamic];
