import { equalJson } from '../codec/json/json-value.ts';
import { CelEvaluationError, noSuchOverload } from './cel-error.ts';
import {
  CelDuration,
  CelHostValue,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from './cel-value.ts';

/** The value as a number, because numbers of different types can be compared; undefined for other values. */
export function numeric(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** Equality in CEL. Values of different types are unequal and never an error. */
export function equalValues(one: CelValue, other: CelValue): boolean {
  if (one === other) return true;
  const number = numeric(one);
  if (number !== undefined) {
    const otherNumber = numeric(other);
    // oxlint-disable-next-line eqeqeq -- 1n == 1 holds, and the comparison of bigint and number is exact
    return otherNumber !== undefined && number == otherNumber;
  }
  if (one instanceof CelList) return other instanceof CelList && equalLists(one, other);
  if (one instanceof CelMap) return other instanceof CelMap && equalMaps(one, other);
  if (one instanceof Uint8Array) return other instanceof Uint8Array && compareBytes(one, other) === 0;
  if (one instanceof CelTimestamp) return other instanceof CelTimestamp && one.nanos === other.nanos;
  if (one instanceof CelDuration) return other instanceof CelDuration && one.nanos === other.nanos;
  if (one instanceof CelTypeValue) return other instanceof CelTypeValue && one.name === other.name;
  if (one instanceof CelHostValue) return other instanceof CelHostValue && one.equals(other);
  if (one instanceof CelOptional && other instanceof CelOptional) {
    if (one.value === undefined || other.value === undefined) return one.value === other.value;
    return equalValues(one.value, other.value);
  }
  return false;
}

/** Lists with a schema of type set or map are equal in any order (apiserver `cel/common`). */
function equalLists(one: CelList, other: CelList): boolean {
  if (one.size !== other.size) return false;
  const elementKey = one.elementKey;
  if (elementKey === undefined) {
    for (let index = 0; index < one.size; index++) {
      if (!equalValues(one.at(index), other.at(index))) return false;
    }
    return true;
  }
  const left = new Map<string, CelValue>();
  for (const element of one) left.set(fingerprint(elementKey(element)), element);
  for (const element of other) {
    const match = left.get(fingerprint(elementKey(element)));
    if (match === undefined || !equalValues(match, element)) return false;
  }
  return true;
}

function equalMaps(one: CelMap, other: CelMap): boolean {
  if (one.size !== other.size) return false;
  for (const key of one.keys()) {
    const mine = one.get(key);
    const theirs = other.get(key);
    if (mine === undefined || theirs === undefined || !equalValues(mine, theirs)) return false;
  }
  const theirs = other.hidden;
  return Object.entries(one.hidden).every(
    ([name, value]) => !Object.hasOwn(theirs, name) || equalJson(value, theirs[name]),
  );
}

/** A text that is the same for equal values. It finds elements of sets and keys of list maps. */
export function fingerprint(value: CelValue): string {
  const number = numeric(value);
  if (number !== undefined) return `n${number}`;
  if (value instanceof CelList) return `[${[...value].map(fingerprint).join(',')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => `${fingerprint(key)}:${fingerprint(value.get(key) ?? null)}`);
    return `{${entries.toSorted().join(',')}}`;
  }
  if (value instanceof CelTimestamp) return `t${value.nanos}`;
  if (value instanceof CelDuration) return `d${value.nanos}`;
  if (value instanceof Uint8Array) return `b${value.join(',')}`;
  return JSON.stringify(value);
}

/** Negative, zero or positive. Throws for values without an order, or of different types. */
export function compareValues(one: CelValue, other: CelValue): number {
  const left = numeric(one);
  const right = numeric(other);
  if (left !== undefined && right !== undefined) {
    if (Number.isNaN(left) || Number.isNaN(right)) throw new CelEvaluationError('NaN values cannot be ordered');
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other);
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof Uint8Array && other instanceof Uint8Array) return compareBytes(one, other);
  if (one instanceof CelTimestamp && other instanceof CelTimestamp) return Number(sign(one.nanos - other.nanos));
  if (one instanceof CelDuration && other instanceof CelDuration) return Number(sign(one.nanos - other.nanos));
  throw noSuchOverload();
}

const sign = (value: bigint): number => (value < 0n ? -1 : value > 0n ? 1 : 0);

/** Compares by UTF-8 bytes, which is the order of code points; JavaScript compares UTF-16 units. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const left = one.charCodeAt(index);
    const right = other.charCodeAt(index);
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return one.length - other.length;
}

/** Half of a character beyond U+FFFF. Such characters sort after all others. */
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000;

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
