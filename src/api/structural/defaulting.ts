import { copyJson, getKey, setKey } from '../codec/json/json-value.ts';
import { fieldSchema, type StructuralSchema } from './structural-schema.ts';

type Json = Record<string, unknown>;

/**
 * Sets defaults, in place (API-462; apiextensions `pkg/apiserver/schema/defaulting`), where a field is missing, or null although it is not
 * nullable. A missing object is not created for the defaults inside it.
 */
export function applyStructuralDefaults(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined || !schema.hasDefaults || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const { items } = schema;
      if (item === null && items !== undefined && isReplaced(items)) value[index] = copyJson(items.default);
      applyStructuralDefaults(value[index], items);
    }
    return;
  }
  const object = value as Json;
  for (const [name, property] of schema.properties) {
    if (property.default === undefined) continue;
    const present = Object.hasOwn(object, name);
    if (!present || (object[name] === null && !property.nullable)) {
      setKey(object, name, copyJson(property.default));
    }
  }
  for (const name of Object.keys(object)) {
    const inner = fieldSchema(schema, name);
    if (inner === undefined) continue;
    if (object[name] === null && !schema.properties.has(name) && isReplaced(inner)) {
      setKey(object, name, copyJson(inner.default));
    }
    applyStructuralDefaults(getKey(object, name), inner);
  }
}

/** A null here is replaced by the default. */
function isReplaced(schema: StructuralSchema): boolean {
  return !schema.nullable && schema.default !== undefined;
}

/**
 * Drops, in place, nulls in fields that are not nullable and have no default, because such nulls mean "not set" (apiextensions
 * `defaulting.PruneNonNullableNullsWithoutDefaults`). Items of lists stay. With `untyped`, nulls that a type forbids stay as well, so that
 * validation refuses them.
 */
export function dropUnsetNulls(
  value: unknown,
  schema: StructuralSchema | undefined,
  which: 'all' | 'untyped' = 'all',
): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) dropUnsetNulls(item, schema?.items, which);
    return;
  }
  const object = value as Json;
  for (const name of Object.keys(object)) {
    const inner = fieldSchema(schema, name);
    const item = object[name];
    const unset = item === null && inner !== undefined && !inner.nullable && inner.default === undefined;
    if (unset && !(which === 'untyped' && inner.typed)) delete object[name];
    else dropUnsetNulls(item, inner, which);
  }
}
