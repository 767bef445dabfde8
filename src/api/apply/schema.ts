import { type FieldInfo, fieldOf, isScalarType, isSpecialType, META_V1, typeInfo } from '../kinds/type-table.ts';

/** `untyped`: any scalar (times, quantities, numbers or strings). */
export type ScalarSchema = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListSchema {
  /** `associative`: each element can have managers of its own, found by its keys, or in a set by its value. */
  readonly relationship: 'atomic' | 'associative';
  /** In the order of the alphabet. Empty for a set. */
  readonly keys: readonly string[];
  element(): TypeSchema;
}

export interface FieldSchema {
  readonly type: TypeSchema;
  /** Counts as the value of an absent key of an associative list. */
  readonly default?: unknown;
}

export interface MapSchema {
  /** `granular`: each member can have managers of its own. */
  readonly relationship: 'atomic' | 'granular';
  /** A declared field of a struct. */
  field(name: string): FieldSchema | undefined;
  /** The type of members that are not declared; undefined where none are allowed. */
  element(): TypeSchema | undefined;
}

/**
 * The knowledge of server-side apply about a type (API-222): which forms its values have, and how far managers can share one. Built-in
 * types are read from the type table; a custom resource brings its own. Types refer to each other in circles, so inner types are looked up when
 * needed, not held.
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

/** Nothing is known: lists are atomic, maps granular. Free JSON inside built-in types, and resources without a schema. */
export const DEDUCED: TypeSchema = {
  scalar: 'untyped',
  list: { relationship: 'atomic', keys: [], element: () => UNTYPED_ATOMIC },
  map: { relationship: 'granular', field: () => undefined, element: () => DEDUCED },
};

/** A custom resource of which nothing is known but what every object has. */
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
  // A struct without fields is an object of any content in the published schema, which upstream goes by.
  if (info === undefined || info.fields.length === 0) return DEDUCED;
  const relationship = info.mapType ?? 'granular';
  const fields = new Map<string, FieldSchema | undefined>();
  return {
    map: {
      relationship,
      field: (name) => {
        if (fields.has(name)) return fields.get(name);
        const declared = fieldOf(typeName, name);
        // Names that are not declared are the client's, and there is no end of them.
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
 * In which form a value of a type is taken: its own if the type has it, else the first the type has. Null and absent values
 * take any.
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
