import { type FieldInfo, fieldOf, isScalarType, isSpecialType, META_V1, typeInfo } from '../kinds/type-table.ts';

/** `untyped` is any scalar: a time, a quantity, a number or a string. */
export type ScalarSchema = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListSchema {
  /** `associative`: each element can have its own managers. Its keys identify it, or in a set its value. */
  readonly relationship: 'atomic' | 'associative';
  /** In alphabetical order. Empty for a set. */
  readonly keys: readonly string[];
  element(): TypeSchema;
}

export interface FieldSchema {
  readonly type: TypeSchema;
  /** Key fields of an associative list take this value if absent. */
  readonly default?: unknown;
}

export interface MapSchema {
  /** `granular`: each member can have its own managers. */
  readonly relationship: 'atomic' | 'granular';
  /** A declared field of a struct. */
  field(name: string): FieldSchema | undefined;
  /** The type of members that are not declared; undefined where none are allowed. */
  element(): TypeSchema | undefined;
}

/**
 * The schema of a type for server-side apply (API-222): the forms of its values, and which parts can have separate managers. Built-in types
 * come from the type table; a custom resource has its own schema. Types may refer to each other in cycles, so inner types are resolved on
 * use.
 */
export interface TypeSchema {
  readonly scalar?: ScalarSchema;
  readonly list?: ListSchema;
  readonly map?: MapSchema;
}

const UNTYPED_ATOMIC: TypeSchema = {
  scalar: 'untyped',
  list: { relationship: 'atomic', keys: [], element: () => UNTYPED_ATOMIC },
  map: { relationship: 'atomic', field: () => undefined, element: () => UNTYPED_ATOMIC },
};

/**
 * A type without a schema: lists are atomic, maps granular. It is used for JSON of any form inside built-in types and for resources without
 * a schema.
 */
export const DEDUCED: TypeSchema = {
  scalar: 'untyped',
  list: { relationship: 'atomic', keys: [], element: () => UNTYPED_ATOMIC },
  map: { relationship: 'granular', field: () => undefined, element: () => DEDUCED },
};

/** A custom resource without a schema: only the fields of every object are known. */
export const CUSTOM_OBJECT: TypeSchema = {
  map: {
    relationship: 'granular',
    field: (name) => customFields().get(name),
    element: () => DEDUCED,
  },
};

let madeCustomFields: ReadonlyMap<string, FieldSchema> | undefined;

function customFields(): ReadonlyMap<string, FieldSchema> {
  return (madeCustomFields ??= new Map([
    ['apiVersion', { type: schemaOf('string') }],
    ['kind', { type: schemaOf('string') }],
    ['metadata', { type: schemaOf(`${META_V1}.ObjectMeta`) }],
  ]));
}

const SCALARS: Readonly<Record<string, TypeSchema>> = {
  string: { scalar: 'string' },
  bytes: { scalar: 'string' },
  bool: { scalar: 'boolean' },
  int32: { scalar: 'numeric' },
  int64: { scalar: 'numeric' },
  float64: { scalar: 'numeric' },
};

const UNTYPED: TypeSchema = { scalar: 'untyped' };

const structs = new Map<string, TypeSchema>();

/** The schema of a type in the type table. */
export function schemaOf(typeName: string): TypeSchema {
  const known = structs.get(typeName);
  if (known !== undefined) return known;
  const schema = isScalarType(typeName)
    ? SCALARS[typeName]!
    : isSpecialType(typeName)
      ? specialSchema(typeName)
      : structSchema(typeName);
  structs.set(typeName, schema);
  return schema;
}

function specialSchema(type: string): TypeSchema {
  switch (type) {
    case 'Time':
    case 'MicroTime':
    case 'Quantity':
    case 'IntOrString':
      return UNTYPED;
    case 'RawExtension':
      return UNTYPED_ATOMIC;
    default:
      return DEDUCED;
  }
}

function structSchema(typeName: string): TypeSchema {
  const info = typeInfo(typeName);
  // In the published schema, which upstream uses, a struct without fields is an object with any content.
  if (info === undefined || info.fields.length === 0) return DEDUCED;
  const relationship = info.mapType ?? 'granular';
  const fields = new Map<string, FieldSchema | undefined>();
  return {
    map: {
      relationship,
      field: (name) => {
        if (fields.has(name)) return fields.get(name);
        const declared = fieldOf(typeName, name);
        // Undeclared names come from the client, so the cache cannot hold them: their number is unbounded.
        if (declared === undefined) return undefined;
        const schema = fieldSchema(declared);
        fields.set(name, schema);
        return schema;
      },
      element: () => undefined,
    },
  };
}

function fieldSchema(field: FieldInfo): FieldSchema {
  const type = fieldType(field);
  return field.default === undefined ? { type } : { type, default: field.default };
}

function fieldType(field: FieldInfo): TypeSchema {
  if (!field.list && !field.map) {
    const type = schemaOf(field.type);
    if (field.mapType === undefined || type.map === undefined || type.map.relationship === field.mapType) return type;
    return { ...type, map: { ...type.map, relationship: field.mapType } };
  }
  const list = (): TypeSchema => ({
    list: {
      relationship: field.listType === 'map' || field.listType === 'set' ? 'associative' : 'atomic',
      keys: field.listType === 'map' ? [...(field.listMapKeys ?? [])].sort() : [],
      element: () => schemaOf(field.type),
    },
  });
  if (!field.map) return list();
  const element = field.list ? list() : undefined;
  return {
    map: {
      relationship: field.mapType ?? 'granular',
      field: () => undefined,
      element: () => element ?? schemaOf(field.type),
    },
  };
}

export type ValueForm = 'map' | 'list' | 'scalar';

/**
 * The form in which a value of a type is read: its own form if the type allows it, otherwise the first allowed form. Null and absent values
 * fit every form.
 */
export function formOf(type: TypeSchema, value: unknown): ValueForm {
  if (value !== null && value !== undefined) {
    if (typeof value !== 'object') {
      if (type.scalar !== undefined) return 'scalar';
    } else if (Array.isArray(value)) {
      if (type.list !== undefined) return 'list';
    } else if (type.map !== undefined) {
      return 'map';
    }
  }
  return type.map !== undefined ? 'map' : type.scalar !== undefined ? 'scalar' : 'list';
}

/** The schema of a member of a map or struct; undefined where the type allows no such member. */
export function memberType(map: MapSchema, name: string): TypeSchema | undefined {
  return map.field(name)?.type ?? map.element();
}
