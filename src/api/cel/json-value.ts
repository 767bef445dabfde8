import { integerValue } from '../../base/json/exact-json.ts';
import { CelEvaluationError } from './cel-error.ts';
import { equalValues, fingerprint } from './cel-comparison.ts';
import { formatDuration, formatTimestamp, parseDate, parseFormattedDuration, parseTimestamp } from './cel-time.ts';
import { type CelListType, type CelType, celTypes, fieldOf, listOf } from './cel-type.ts';
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
  ValueList,
} from './cel-value.ts';

type Json = Readonly<Record<string, unknown>>;
type MapType = CelType & { readonly kind: 'object' | 'map' };

/**
 * A JSON value in the form that expressions see (apiserver `cel/common.UnstructuredToVal`). Lists and objects are views: a part that no
 * expression reads is never converted, and only the getters of properties that are read are called. CEL values, such as host values, pass
 * unchanged.
 */
export function toCelValue(json: unknown, type: CelType): CelValue {
  switch (typeof json) {
    case 'string':
      return textValue(json, type);
    case 'boolean':
      return json;
    case 'bigint':
      return type.kind === 'double' ? Number(json) : json;
    case 'number':
      if (type.kind === 'double' || !Number.isSafeInteger(json)) return json;
      return BigInt(json);
    case 'object':
      if (json === null) return null;
      return isCelObject(json) ? json : structureValue(json, type);
    default:
      throw new CelEvaluationError(`unsupported conversion to CEL: ${typeof json}`);
  }
}

function isCelObject(value: object): value is Exclude<CelValue, null | boolean | bigint | number | string> {
  return [
    CelList,
    CelMap,
    CelHostValue,
    CelOptional,
    CelTimestamp,
    CelDuration,
    CelUint,
    CelTypeValue,
    Uint8Array,
  ].some((known) => value instanceof known);
}

function structureValue(json: object, type: CelType): CelValue {
  if (Array.isArray(json)) {
    if (type.kind === 'object' || type.kind === 'map') {
      return fail('invalid data, expected a map for the provided schema with type=object');
    }
    return new JsonList(json, type.kind === 'list' ? type : dynList);
  }
  if (type.kind === 'list') return fail('invalid data, expected an array for the provided schema with type=array');
  // Every object other than an array is read by its property names.
  return new JsonMap(json as Json, type.kind === 'object' || type.kind === 'map' ? type : dynMap);
}

const dynList = listOf(celTypes.dyn);
const dynMap: MapType = { kind: 'map', key: celTypes.string, value: celTypes.dyn };

/** A text with a format is converted by its format. */
function textValue(text: string, type: CelType): CelValue {
  switch (type.kind) {
    case 'bytes':
      return new Uint8Array(Buffer.from(text, 'base64'));
    case 'duration':
      return parseFormattedDuration(text) ?? fail(`Invalid duration ${text}: unable to parse ${text} as duration`);
    case 'timestamp':
      return (
        parseTimestamp(text) ?? parseDate(text) ?? fail(`Invalid date-time formatted string ${text}: unable to parse`)
      );
    default:
      return text;
  }
}

function fail(message: string): never {
  throw new CelEvaluationError(message);
}

/** Lists of elements with an identity (sets) or with keys (maps) are equal in any order, and their `+` is a union. */
class JsonList extends CelList {
  readonly size: number;
  readonly #items: readonly unknown[];
  readonly #type: CelType & { readonly kind: 'list' };

  constructor(items: readonly unknown[], type: CelType & { readonly kind: 'list' }) {
    super();
    this.#items = items;
    this.#type = type;
    this.size = items.length;
  }

  at(index: number): CelValue {
    return toCelValue(this.#items[index], this.#type.element);
  }

  override get elementKey(): ((element: CelValue) => CelValue) | undefined {
    const { listType, element } = this.#type;
    return listType === undefined ? undefined : keyReader(listType, element);
  }

  override concat(other: CelList): CelList {
    const { elementKey } = this;
    if (elementKey === undefined) return super.concat(other);
    const merged = new Map<string, CelValue>();
    for (const list of [this, other]) {
      for (const item of list) merged.set(fingerprint(elementKey(item)), item);
    }
    return new KeyedList([...merged.values()], elementKey);
  }
}

/** The result of `+` for a list that is a set or a map; it stays one. */
class KeyedList extends ValueList {
  readonly #elementKey: (element: CelValue) => CelValue;

  constructor(items: readonly CelValue[], elementKey: (element: CelValue) => CelValue) {
    super(items);
    this.#elementKey = elementKey;
  }

  override get elementKey(): (element: CelValue) => CelValue {
    return this.#elementKey;
  }
}

function keyReader(listType: CelListType, element: CelType): (element: CelValue) => CelValue {
  if (listType.kind === 'set') return (item) => item;
  const names = listType.keys.map((key) => fieldNamed(element, key) ?? key);
  return (item) => new ValueList(names.map((name) => (item instanceof CelMap ? (item.get(name) ?? null) : null)));
}

/** The identifier for a JSON property. */
function fieldNamed(type: CelType, property: string): string | undefined {
  if (type.kind !== 'object') return undefined;
  return Object.entries(type.fields).find(([name, field]) => (field.property ?? name) === property)?.[0];
}

class JsonMap extends CelMap {
  readonly type: MapType;
  readonly #json: Json;

  constructor(json: Json, type: MapType) {
    super();
    this.#json = json;
    this.type = type;
  }

  /** The size includes properties that no expression can name. */
  get size(): number {
    let size = 0;
    for (const name of Object.keys(this.#json)) if (this.#json[name] !== undefined) size++;
    return size;
  }

  override get hidden(): Readonly<Record<string, unknown>> {
    const { type } = this;
    if (type.kind === 'map') return {};
    const known = new Set(Object.entries(type.fields).map(([name, { property = name }]) => property));
    return Object.fromEntries(Object.entries(this.#json).filter(([name]) => !known.has(name)));
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const { type } = this;
    if (type.kind === 'map') return this.#read(key, type.value);
    const field = fieldOf(type, key);
    // A null field counts as unset.
    return field === undefined ? undefined : (this.#read(field.property ?? key, field.type) ?? undefined);
  }

  #read(property: string, type: CelType): CelValue | undefined {
    const value = Object.hasOwn(this.#json, property) ? this.#json[property] : undefined;
    return value === undefined ? undefined : toCelValue(value, type);
  }

  *keys(): Generator<CelValue> {
    const { type } = this;
    if (type.kind === 'object') {
      for (const [name, { property = name }] of Object.entries(type.fields)) {
        if (Object.hasOwn(this.#json, property) && (this.#json[property] ?? undefined) !== undefined) yield name;
      }
    } else {
      for (const name of Object.keys(this.#json)) {
        if (this.#json[name] !== undefined) yield name;
      }
    }
  }
}

/** The result of an expression as plain JSON. Unsigned integers beyond int64 lose digits; times, durations and bytes become strings. */
export function toJson(value: CelValue): unknown {
  if (typeof value === 'bigint') return integerValue(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof CelUint) return integerValue(value.value);
  if (value instanceof CelList) return [...value].map(toJson);
  if (value instanceof CelMap) return mapJson(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof CelOptional) return value.value === undefined ? undefined : toJson(value.value);
  return value instanceof CelTypeValue ? value.name : value;
}

function mapJson(map: CelMap): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const key of map.keys()) {
    const name = typeof key === 'string' ? (fieldOf(map.type, key)?.property ?? key) : String(toJson(key));
    Object.defineProperty(json, name, {
      value: toJson(map.get(key) ?? null),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return json;
}

/** Whether a list holds a value. */
export function listContains(list: CelList, value: CelValue): boolean {
  for (const element of list) if (equalValues(element, value)) return true;
  return false;
}
