import { CelEvaluationError, noSuchOverload } from './cel-error.ts';
import { type CelType, celTypes, listOf, mapOf, optionalOf, typeName, typeParameters } from './cel-type.ts';

/**
 * A value during evaluation. `bigint` is CEL's int and `number` its double. The declared type decides which of the two a JSON number
 * becomes; see `json-value.ts`.
 */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelTypeValue
  | CelOptional
  | CelHostValue;

export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    if (value < 0n || value > 0xffff_ffff_ffff_ffffn) throw new CelEvaluationError('unsigned integer overflow');
    this.value = value;
  }
}

const MIN_TIMESTAMP = -62_135_596_800n * 1_000_000_000n;
const MAX_TIMESTAMP = 253_402_300_800n * 1_000_000_000n - 1n;

/** A point in time in the years 1 to 9999. */
export class CelTimestamp {
  /** Nanoseconds since 1970 in UTC. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) throw new CelEvaluationError('timestamp overflow');
    this.nanos = nanos;
  }
}

export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    if (nanos < MIN_INT || nanos > MAX_INT) throw new CelEvaluationError('duration overflow');
    this.nanos = nanos;
  }
}

export const MIN_INT = -(2n ** 63n);
export const MAX_INT = 2n ** 63n - 1n;

/** The value as an int64. Throws on overflow. */
export function checkedInt(value: bigint): bigint {
  if (value < MIN_INT || value > MAX_INT) throw new CelEvaluationError('integer overflow');
  return value;
}

/** A list that is read by index. JSON elements are converted when read. */
export abstract class CelList {
  /** May exceed the length of any array, because lists are concatenated without a copy. */
  abstract readonly size: number;

  /** `index` must be within the list. */
  abstract at(index: number): CelValue;

  /** The result of `+` with another list. */
  concat(other: CelList): CelList {
    return new ConcatList(this, other);
  }

  /** The key by which elements match when lists are compared; if undefined, they match by position. */
  get elementKey(): ((element: CelValue) => CelValue) | undefined {
    return undefined;
  }

  *[Symbol.iterator](): Generator<CelValue> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

export class ValueList extends CelList {
  readonly #items: readonly CelValue[];

  constructor(items: readonly CelValue[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): CelValue {
    return this.#items[index] ?? null;
  }
}

/** The list that a comprehension fills. `+` appends in place, because no other code can see the list before the loop ends. */
export class GrowingList extends CelList {
  readonly #items: CelValue[] = [];

  get size(): number {
    return this.#items.length;
  }

  at(index: number): CelValue {
    return this.#items[index] ?? null;
  }

  override concat(other: CelList): CelList {
    for (const item of other) this.#items.push(item);
    return this;
  }

  done(): CelList {
    return new ValueList(this.#items);
  }
}

class ConcatList extends CelList {
  readonly size: number;
  readonly #first: CelList;
  readonly #second: CelList;

  constructor(first: CelList, second: CelList) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
  }

  at(index: number): CelValue {
    const rest = index - this.#first.size;
    return rest < 0 ? this.#first.at(index) : this.#second.at(rest);
  }
}

/** A map, or an object with fields. Fields are read by name and have separate types. */
export abstract class CelMap {
  abstract readonly type: CelType;
  abstract readonly size: number;

  abstract get(key: CelValue): CelValue | undefined;
  abstract keys(): Iterable<CelValue>;

  /** JSON properties that no expression can name. A comparison of objects includes them. */
  get hidden(): Readonly<Record<string, unknown>> {
    return {};
  }

  has(key: CelValue): boolean {
    return this.get(key) !== undefined;
  }
}

/** Equal numeric keys of different types are one key. */
function mapKey(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint' || typeof key === 'number') return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === 'boolean') return `b${key}`;
  throw new CelEvaluationError(`unsupported key type: ${runtimeTypeName(key)}`);
}

export class ValueMap extends CelMap {
  readonly type: CelType = mapOf(celTypes.dyn, celTypes.dyn);
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>();

  constructor(entries: Iterable<readonly [CelValue, CelValue]>) {
    super();
    for (const [key, value] of entries) this.insert(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  keys(): Iterable<CelValue> {
    return [...this.#entries.values()].map(([key]) => key);
  }

  /** Allowed only while the map is being built. A duplicate key is a CEL error. */
  insert(key: CelValue, value: CelValue): this {
    const known = mapKey(key);
    if (this.#entries.has(known)) throw new CelEvaluationError(`insert failed: key ${showKey(key)} already exists`);
    this.#entries.set(known, [key, value]);
    return this;
  }
}

/** A key in the form of cel-go's messages. */
export function showKey(key: CelValue): string {
  if (key instanceof CelUint) return String(key.value);
  return typeof key === 'object' && key !== null ? runtimeTypeName(key) : String(key);
}

/** A type as a value. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class CelOptional {
  static readonly none = new CelOptional(undefined);
  /** Undefined for an empty optional. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** A value that only functions can read: an address, a quantity, the authorizer. */
export abstract class CelHostValue {
  abstract readonly type: CelType;
  /** The size that cost counting uses. */
  readonly costSize: number = 1;

  abstract equals(other: CelHostValue): boolean;
}

const dynList = listOf(celTypes.dyn);
const dynOptional = optionalOf(celTypes.dyn);

function runtimeType(value: CelValue): CelType {
  if (value === null) return celTypes.null;
  if (typeof value === 'string') return celTypes.string;
  if (typeof value === 'bigint') return celTypes.int;
  if (typeof value === 'boolean') return celTypes.bool;
  if (typeof value === 'number') return celTypes.double;
  if (value instanceof CelList) return dynList;
  if (value instanceof CelMap || value instanceof CelHostValue) return value.type;
  if (value instanceof Uint8Array) return celTypes.bytes;
  if (value instanceof CelUint) return celTypes.uint;
  if (value instanceof CelTimestamp) return celTypes.timestamp;
  if (value instanceof CelDuration) return celTypes.duration;
  return value instanceof CelOptional ? dynOptional : celTypes.type;
}

export function runtimeTypeName(value: CelValue): string {
  return typeName(runtimeType(value));
}

/** True if a value can be an argument of this declared type. Only the first element of a list or map is checked, as in cel-go. */
export function isOfType(value: CelValue, type: CelType): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  if (value instanceof CelList) {
    return type.kind === 'list' && (isOpen(type.element) || value.size === 0 || isOfType(value.at(0), type.element));
  }
  if (value instanceof CelMap) return isMapOfType(value, type);
  const actual = runtimeType(value);
  if (actual.kind !== type.kind) return false;
  return !('name' in actual && 'name' in type) || actual.name === type.name;
}

/** A type that says nothing about its elements. */
const isOpen = (type: CelType): boolean =>
  type.kind === 'dyn' || type.kind === 'param' || typeParameters(type).some(isOpen);

function isMapOfType(map: CelMap, type: CelType): boolean {
  if (type.kind !== 'map') return type.kind === 'object';
  if (isOpen(type.key) && isOpen(type.value)) return true;
  for (const key of map.keys()) return isOfType(key, type.key) && isOfType(map.get(key) ?? null, type.value);
  return true;
}

/** Narrows arguments of functions. Dispatch has checked their types; `dyn` arguments are checked here. */
export function asText(value: CelValue): string {
  if (typeof value === 'string') return value;
  throw noSuchOverload();
}

export function asInt(value: CelValue): bigint {
  if (typeof value === 'bigint') return value;
  throw noSuchOverload();
}

export function asList(value: CelValue): CelList {
  if (value instanceof CelList) return value;
  throw noSuchOverload();
}

export function asMap(value: CelValue): CelMap {
  if (value instanceof CelMap) return value;
  throw noSuchOverload();
}

export function asOptional(value: CelValue): CelOptional {
  if (value instanceof CelOptional) return value;
  throw noSuchOverload();
}

/** The length in code points, as CEL counts characters. */
export function textSize(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        size--;
        index++;
      }
    }
  }
  return size;
}

/** The size of a value for costs; 1 for a value without a size. */
export function costSize(value: CelValue): number {
  if (typeof value === 'string') return textSize(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional) return value.value === undefined ? 1 : costSize(value.value);
  return value instanceof CelHostValue ? value.costSize : 1;
}
