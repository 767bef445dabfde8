import { escapeIdentifier } from '../../cel/cel-escaping.ts';
import { type CelField, type CelType, celTypes, listOf, mapOf } from '../../cel/cel-type.ts';
import {
  type FieldInfo,
  fieldsOf,
  isScalarType,
  isSpecialType,
  META_V1,
  type ScalarType,
} from '../../kinds/type-table.ts';

const SCALARS: Readonly<Record<ScalarType, CelType>> = {
  string: celTypes.string,
  bool: celTypes.bool,
  int32: celTypes.int,
  int64: celTypes.int,
  float64: celTypes.double,
  bytes: celTypes.bytes,
};

/**
 * The CEL type of an API struct (apiserver `cel/openapi.SchemaDeclType`). Types with a special JSON form are dynamic, except times. `name`
 * is the struct's name in messages; inner types are named by their path.
 */
export function builtinCelType(typeName: string, name: string): CelType {
  return structType(typeName, name, new Set());
}

/** The CEL type of the metadata of every object. */
export function objectMetaCelType(name: string): CelType {
  return builtinCelType(`${META_V1}.ObjectMeta`, name);
}

/** `above` contains the enclosing structs. A struct that contains itself is not entered again. */
function structType(typeName: string, name: string, above: ReadonlySet<string>): CelType {
  if (above.has(typeName)) return celTypes.dyn;
  const within = new Set([...above, typeName]);
  const fields: Record<string, CelField> = {};
  for (const field of fieldsOf(typeName)) {
    const identifier = escapeIdentifier(field.name);
    if (identifier === undefined) continue;
    const type = fieldType(field, `${name}.${identifier}`, within);
    fields[identifier] = { type, ...(identifier === field.name ? {} : { property: field.name }) };
  }
  return { kind: 'object', name, fields };
}

function fieldType({ type, list, map }: FieldInfo, name: string, above: ReadonlySet<string>): CelType {
  const value = valueType(type, `${name}${map ? '.@elem' : ''}${list ? '.@idx' : ''}`, above);
  const values = list ? listOf(value) : value;
  return map ? mapOf(celTypes.string, values) : values;
}

function valueType(type: string, name: string, above: ReadonlySet<string>): CelType {
  if (isScalarType(type)) return SCALARS[type];
  if (type === 'Time' || type === 'MicroTime') return celTypes.timestamp;
  return isSpecialType(type) ? celTypes.dyn : structType(type, name, above);
}
