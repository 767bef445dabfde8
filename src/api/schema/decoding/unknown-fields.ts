import { isJsonObject } from '../../codec/json/json-value.ts';
import { MAX_STRICT_FINDINGS } from '../../codec/json/duplicate-fields.ts';
import { fieldOf, fieldsOf, JSON_SCHEMA_PROPS } from '../../kinds/type-table.ts';

type Json = Record<string, unknown>;

/**
 * Paths of keys that a type does not declare, in document order: `spec.template.spec.containers[0].x` (API-231). Field
 * names match case-sensitively (API-233). Returns at most 100 paths, as upstream.
 *
 * Called only for documents with unknown fields, which decoding detects cheaply.
 */
export function unknownFields(object: Json, typeName: string): string[] {
  const found: string[] = [];
  walkStruct(object, typeName, { path: '', found });
  return [...new Set(found)].slice(0, MAX_STRICT_FINDINGS);
}

interface Walk {
  readonly path: string;
  readonly found: string[];
}

function walkStruct(object: Json, typeName: string, walk: Walk): void {
  for (const key of Object.keys(object)) {
    const path = walk.path === '' ? key : `${walk.path}.${key}`;
    const field = fieldOf(typeName, key);
    if (field === undefined) {
      walk.found.push(path);
      continue;
    }
    const next = { path, found: walk.found };
    const value = object[key];
    if (field.map && isJsonObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        walkValue(item, field.type, { path: `${path}.${name}`, found: walk.found });
      }
    } else {
      walkValue(value, field.type, next);
    }
  }
}

/** A struct or a list of structs; other values have no fields. */
function walkValue(value: unknown, type: string, walk: Walk): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      walkValue(item, type, { path: `${walk.path}[${index}]`, found: walk.found });
    }
  } else if (isJsonObject(value)) {
    const structType = type.startsWith('JSONSchemaPropsOr') ? JSON_SCHEMA_PROPS : type;
    if (fieldsOf(structType).length > 0 || isEmptyStruct(structType)) walkStruct(value, structType, walk);
  }
}

/** A struct without fields declares no key at all, while free JSON allows every key. */
function isEmptyStruct(type: string): boolean {
  return type.includes('.');
}
