import { isReserved } from './cel-escaping.ts';

/**
 * Types of CEL expressions as plain data (cel-go `common/types.Type`). Two object or opaque types are the same when their names are.
 *
 * `maxElements` bounds the size of a value for cost estimates: characters, bytes, items or entries. It does not limit the values of a type,
 * and a comparison of types ignores it.
 */
export type CelType = { readonly maxElements?: number } & (
  | { readonly kind: ScalarKind }
  | { readonly kind: 'list'; readonly element: CelType; readonly listType?: CelListType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'object'; readonly name: string; readonly fields: Readonly<Record<string, CelField>> }
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: 'type'; readonly parameter?: CelType }
  | { readonly kind: 'param'; readonly name: string }
);

export type ScalarKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration';

/** The identity of list elements: lists that are sets or maps are equal in any order. `keys` are names of JSON properties. */
export type CelListType = { readonly kind: 'set' } | { readonly kind: 'map'; readonly keys: readonly string[] };

export interface CelField {
  readonly type: CelType;
  /** The name in JSON, if it is not an identifier of CEL; absent if both names are the same. */
  readonly property?: string;
}

export const celTypes = {
  dyn: { kind: 'dyn' },
  error: { kind: 'error' },
  null: { kind: 'null' },
  bool: { kind: 'bool' },
  int: { kind: 'int' },
  uint: { kind: 'uint' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  bytes: { kind: 'bytes' },
  timestamp: { kind: 'timestamp' },
  duration: { kind: 'duration' },
  type: { kind: 'type' },
} as const satisfies Record<string, CelType>;

export function listOf(element: CelType): CelType & { readonly kind: 'list' } {
  return { kind: 'list', element };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value };
}

/** An object with fields of known types; expressions can name no others. Field names are identifiers of CEL. */
export function objectOf(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return {
    kind: 'object',
    name,
    fields: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }])),
  };
}

const OPTIONAL = 'optional_type';

export function optionalOf(value: CelType): CelType {
  return { kind: 'opaque', name: OPTIONAL, parameters: [value] };
}

/** A type whose values only functions can read. */
export function opaqueType(name: string): CelType {
  return { kind: 'opaque', name, parameters: [] };
}

export function typeParameter(name: string): CelType {
  return { kind: 'param', name };
}

/** The type inside an optional; undefined for other types. */
export function optionalValueType(type: CelType): CelType | undefined {
  return type.kind === 'opaque' && type.name === OPTIONAL ? type.parameters[0] : undefined;
}

/** A reserved word after a dot is the field with that name, although the field's identifier is escaped: `self.namespace`. */
export function fieldOf(type: CelType, name: string): CelField | undefined {
  if (type.kind !== 'object') return undefined;
  const identifier = Object.hasOwn(type.fields, name) || !isReserved(name) ? name : `__${name}__`;
  return Object.hasOwn(type.fields, identifier) ? type.fields[identifier] : undefined;
}

/** The type parameters of a parameterized type. */
export function typeParameters(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'opaque':
      return type.parameters;
    case 'type':
      return type.parameter === undefined ? [] : [type.parameter];
    default:
      return [];
  }
}

/** As messages show it (cel-go `FormatCELType`): `map(string, list(int))`. */
export function formatType(type: CelType): string {
  const name = type.kind === 'error' ? '!error!' : 'name' in type ? type.name : type.kind;
  const parameters = typeParameters(type);
  return parameters.length === 0 ? name : `${name}(${parameters.map(formatType).join(', ')})`;
}

export function sameType(one: CelType, other: CelType): boolean {
  if (one === other) return true;
  if (one.kind !== other.kind) return false;
  if ('name' in one && 'name' in other && one.name !== other.name) return false;
  const parameters = typeParameters(one);
  const others = typeParameters(other);
  return (
    parameters.length === others.length &&
    parameters.every((each, index) => {
      const match = others[index];
      return match !== undefined && sameType(each, match);
    })
  );
}

/** The name of a type as a value: `type(x) == google.protobuf.Timestamp`. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'null':
      return 'null_type';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'duration':
      return 'google.protobuf.Duration';
    default:
      return 'name' in type ? type.name : type.kind;
  }
}
