import { isJsonObject, setKey } from '../../codec/json/json-value.ts';
import type { FieldInfo } from '../../kinds/type-table.ts';
import { fieldsOf, isSpecialType, JSON_SCHEMA_PROPS, META_V1 } from '../../kinds/type-table.ts';
import type { DecodePosition } from './decode-problem.ts';
import { foundName } from './decode-problem.ts';
import type { LeafDecoder } from './leaf-decoders.ts';
import { scalarDecoder, SPECIAL_DECODERS } from './leaf-decoders.ts';

type Json = Record<string, unknown>;

/** The state of one decoding. Decoders are compiled once per type and have no state. */
export interface Decoding {
  readonly position: DecodePosition;
  /** Set if some object had a key that its type does not declare. */
  sawUnknownField: boolean;
}

/** Decodes a value that is neither null nor absent. */
type ValueDecoder = (value: unknown, decoding: Decoding) => unknown;

/** The JSON value that an absent field gets. */
type Unset =
  | { readonly shows: 'nothing' }
  | { readonly shows: 'constant'; readonly value: string | number | boolean | null }
  | { readonly shows: 'struct'; readonly decode: ValueDecoder };

interface FieldDecoder {
  readonly name: string;
  readonly decode: ValueDecoder;
  readonly unset: Unset;
  /** When Go omits this field because of its zero value. */
  readonly omits: 'never' | 'zeroScalar' | 'emptyContainer';
}

const NOTHING: Unset = { shows: 'nothing' };
const NULL: Unset = { shows: 'constant', value: null };
const ZERO_SCALARS: Readonly<Record<string, string | number | boolean>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
};
const ZERO_QUANTITY = '0';

/** The fields of a type in declaration order. */
interface StructDecoder {
  readonly fields: readonly FieldDecoder[];
  readonly places: ReadonlyMap<string, number>;
  /** Places of the fields that an object shows when they are unset. */
  readonly shown: readonly number[];
}

/** Compiled on first use. Types may refer to each other in cycles (JSONSchemaProps), so entries are looked up on use. */
const structs = new Map<string, StructDecoder>();

function structOf(typeName: string): StructDecoder {
  let struct = structs.get(typeName);
  if (struct === undefined) {
    const fields = fieldsOf(typeName).map((field) => compileField(typeName, field));
    const places = new Map(fields.map(({ name }, place) => [name, place]));
    const shown = [...fields.keys()].filter((place) => fields[place]!.unset.shows !== 'nothing');
    struct = { fields, places, shown };
    structs.set(typeName, struct);
  }
  return struct;
}

/** Decodes an object into the fields of a type, in declaration order; other keys are dropped and reported. */
export function decodeStruct(typeName: string, input: Json, decoding: Decoding): Json {
  const struct = structOf(typeName);
  const keys = Object.keys(input);
  const result: Json = {};
  let known = 0;
  for (const field of concernedFields(struct, keys)) {
    const value = input[field.name];
    if (value !== undefined) known++;
    if (value === undefined || value === null) {
      const unset = field.unset;
      if (unset.shows === 'constant') result[field.name] = unset.value;
      else if (unset.shows === 'struct') result[field.name] = unset.decode({}, decoding);
      continue;
    }
    decoding.position.enter(field.name);
    const decoded = field.decode(value, decoding);
    decoding.position.leave();
    if (!isOmitted(field, decoded)) result[field.name] = decoded;
  }
  if (keys.length !== known) decoding.sawUnknownField = true;
  return result;
}

/** The fields that are set or shown, or all of them: most schemas have one field of some forty. */
function concernedFields({ fields, places, shown }: StructDecoder, keys: readonly string[]): readonly FieldDecoder[] {
  if ((keys.length + shown.length) * FEW > fields.length) return fields;
  const concerned = [...shown];
  for (const key of keys) {
    const place = places.get(key);
    if (place !== undefined && !shown.includes(place)) concerned.push(place);
  }
  return concerned.sort((a, b) => a - b).map((place) => fields[place]!);
}

/** Looking up a field costs as much as passing over so many. */
const FEW = 6;

function isOmitted(field: FieldDecoder, value: unknown): boolean {
  if (field.omits === 'never') return false;
  if (field.omits === 'zeroScalar') return value === '' || value === 0 || value === false;
  return Array.isArray(value) ? value.length === 0 : typeof value === 'string' ? value === '' : isEmpty(value as Json);
}

function isEmpty(object: Json): boolean {
  for (const _key in object) return false;
  return true;
}

function compileField(owner: string, field: FieldInfo): FieldDecoder {
  const decodeElement = elementDecoder(field.type);
  let decode = decodeElement;
  if (field.list) decode = listDecoder(field, decode);
  if (field.map) decode = mapDecoder(field, decode);
  return { name: field.name, decode, unset: unsetOf(owner, field, decodeElement), omits: omitsOf(owner, field) };
}

function omitsOf(owner: string, field: FieldInfo): FieldDecoder['omits'] {
  // An empty list of managers ends tracking (API-219), unlike an absent list, and is never stored.
  if (field.name === 'managedFields' && owner === `${META_V1}.ObjectMeta`) return 'never';
  if (!field.omitempty || field.pointer) return 'never';
  if (field.list || field.map) return 'emptyContainer';
  return scalarDecoder(field.type) === undefined ? 'never' : 'zeroScalar';
}

function unsetOf(owner: string, field: FieldInfo, decode: ValueDecoder): Unset {
  if (field.pointer || field.list || field.map) return field.omitempty ? NOTHING : NULL;
  if (field.type === 'bytes') return field.omitempty ? NOTHING : NULL;
  const zero = ZERO_SCALARS[field.type];
  if (zero !== undefined) return field.omitempty ? NOTHING : { shows: 'constant', value: zero };
  switch (field.type) {
    case 'Time':
      // The only time that Go leaves out if zero (`omitzero`); all other times print null.
      return owner.endsWith('/meta/v1.ObjectMeta') ? NOTHING : NULL;
    case 'MicroTime':
    case 'RawExtension':
    case 'JSON':
      return NULL;
    case 'Quantity':
      return { shows: 'constant', value: ZERO_QUANTITY };
    case 'IntOrString':
      return { shows: 'constant', value: 0 };
    default:
      return isStruct(field.type) ? { shows: 'struct', decode } : NULL;
  }
}

function isStruct(type: string): boolean {
  return !isSpecialType(type) && scalarDecoder(type) === undefined && type.includes('.');
}

function elementDecoder(type: string): ValueDecoder {
  const scalar = scalarDecoder(type);
  if (scalar !== undefined) return leaf(scalar);
  if (isSpecialType(type)) {
    const special = SPECIAL_DECODERS[type];
    if (special !== undefined) return leaf(special);
    return schemaVariantDecoder(type);
  }
  if (!isStruct(type)) return (value) => value;
  return (value, decoding) => {
    if (!isJsonObject(value)) throw decoding.position.mismatch(foundName(value), goTypeName(type));
    return decodeStruct(type, value, decoding);
  };
}

function leaf(decode: LeafDecoder): ValueDecoder {
  return (value, decoding) => decode(value, decoding.position);
}

/** A null element becomes the zero value of the element type, as in Go; free JSON keeps null. */
function nullElement(type: string, decode: ValueDecoder): (decoding: Decoding) => unknown {
  const zero = type === 'bytes' ? '' : type === 'Quantity' ? ZERO_QUANTITY : (ZERO_SCALARS[type] ?? null);
  return isStruct(type) ? (decoding) => decode({}, decoding) : () => zero;
}

function listDecoder(field: FieldInfo, decode: ValueDecoder): ValueDecoder {
  const goType = `[]${goTypeName(field.type)}`;
  const decodeNull = nullElement(field.type, decode);
  return (value, decoding) => {
    if (!Array.isArray(value)) throw decoding.position.mismatch(foundName(value), goType);
    return value.map((item: unknown) => (item === null ? decodeNull(decoding) : decode(item, decoding)));
  };
}

function mapDecoder(field: FieldInfo, decode: ValueDecoder): ValueDecoder {
  const goType = `map[string]${field.list ? '[]' : ''}${goTypeName(field.type)}`;
  const decodeNull = field.list ? (): null => null : nullElement(field.type, decode);
  return (value, decoding) => {
    if (!isJsonObject(value)) throw decoding.position.mismatch(foundName(value), goType);
    const result: Json = {};
    for (const key of Object.keys(value)) {
      const item = value[key];
      setKey(result, key, item === null ? decodeNull(decoding) : decode(item, decoding));
    }
    return result;
  };
}

/** `JSONSchemaPropsOr…`: a schema, or the alternative in its name. */
function schemaVariantDecoder(type: string): ValueDecoder {
  const decodeSchema = elementDecoder(JSON_SCHEMA_PROPS);
  const decodeText = elementDecoder('string');
  return (value, decoding) => {
    if (type === 'JSONSchemaPropsOrBool' && typeof value === 'boolean') return value;
    if (type === 'JSONSchemaPropsOrArray' && Array.isArray(value)) {
      return value.map((item: unknown) => decodeSchema(item ?? {}, decoding));
    }
    if (type === 'JSONSchemaPropsOrStringArray' && Array.isArray(value)) {
      return value.map((item: unknown) => (item === null ? '' : decodeText(item, decoding)));
    }
    return decodeSchema(value, decoding);
  };
}

/** The Go name of the type in messages: `v1.PodSpec`, `[]uint8`. */
function goTypeName(type: string): string {
  return type === 'bytes' ? '[]uint8' : type.slice(type.lastIndexOf('/') + 1);
}
