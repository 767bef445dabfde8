import { CelEvaluationError } from '../cel-error.ts';
import { celTypes, listOf, mapOf, optionalOf, typeParameter } from '../cel-type.ts';
import {
  asList,
  asMap,
  asOptional,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
  ValueList,
  ValueMap,
} from '../cel-value.ts';
import { type CelFunctions, member, overload } from '../function-declaration.ts';

const { bool } = celTypes;
const K = typeParameter('K');
const V = typeParameter('V');

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelOptional) return value.value === undefined || isZero(value.value);
  return value instanceof CelTimestamp && value.nanos === -62_135_596_800n * 1_000_000_000n;
}

function unwrap(list: CelValue): ValueList {
  const values: CelValue[] = [];
  for (const element of asList(list)) {
    const { value } = asOptional(element);
    if (value !== undefined) values.push(value);
  }
  return new ValueList(values);
}

/** cel-go's `OptionalTypes`. */
const optionals: CelFunctions = {
  'optional.of': [
    overload('optional_of', { args: [V], result: optionalOf(V) }, (value = null) => new CelOptional(value)),
  ],
  'optional.ofNonZeroValue': [
    overload('optional_ofNonZeroValue', { args: [V], result: optionalOf(V) }, (value = null) =>
      isZero(value) ? CelOptional.none : new CelOptional(value),
    ),
  ],
  'optional.none': [overload('optional_none', { args: [], result: optionalOf(V) }, () => CelOptional.none)],
  'optional.unwrap': [
    overload('optional_unwrap', { args: [listOf(optionalOf(V))], result: listOf(V) }, (list = null) => unwrap(list)),
  ],
  unwrapOpt: [
    member('optional_unwrapOpt', { args: [listOf(optionalOf(V))], result: listOf(V) }, (list = null) => unwrap(list)),
  ],
  value: [
    member('optional_value', { args: [optionalOf(V)], result: V }, (optional = null) => {
      const { value } = asOptional(optional);
      if (value === undefined) throw new CelEvaluationError('optional.none() dereference');
      return value;
    }),
  ],
  hasValue: [
    member(
      'optional_hasValue',
      { args: [optionalOf(V)], result: bool },
      (optional = null) => asOptional(optional).value !== undefined,
    ),
  ],
  // The interpreter evaluates these functions, because it skips an argument that is not needed.
  or: [member('optional_or_optional', { args: [optionalOf(V), optionalOf(V)], result: optionalOf(V) })],
  orValue: [member('optional_orValue_value', { args: [optionalOf(V), V], result: V })],
  first: [
    member('list_first', { args: [listOf(V)], result: optionalOf(V) }, (list = null) => {
      const values = asList(list);
      return values.size === 0 ? CelOptional.none : new CelOptional(values.at(0));
    }),
  ],
  last: [
    member('list_last', { args: [listOf(V)], result: optionalOf(V) }, (list = null) => {
      const values = asList(list);
      return values.size === 0 ? CelOptional.none : new CelOptional(values.at(values.size - 1));
    }),
  ],
};

function growing(map: CelValue): ValueMap {
  if (map instanceof ValueMap) return map;
  const source = asMap(map);
  return new ValueMap([...source.keys()].map((key) => [key, source.get(key) ?? null]));
}

/** The operator with which `transformMap` and `transformMapEntry` add entries to a map that no other code sees before it is complete. */
const insertion: CelFunctions = {
  'cel.@mapInsert': [
    overload(
      '@mapInsert_map_key_value',
      { args: [mapOf(K, V), K, V], result: mapOf(K, V) },
      (map = null, key = null, value = null) => growing(map).insert(key, value),
    ),
    overload(
      '@mapInsert_map_map',
      { args: [mapOf(K, V), mapOf(K, V)], result: mapOf(K, V) },
      (map = null, entries = null) => {
        const target = growing(map);
        const source = asMap(entries);
        for (const key of source.keys()) target.insert(key, source.get(key) ?? null);
        return target;
      },
    ),
  ],
};

export const optional: readonly CelFunctions[] = [optionals, insertion];
