import { DEDUCED, type FieldSchema, schemaOf, type TypeSchema } from '../apply/schema.ts';
import { META_V1 } from '../kinds/type-table.ts';
import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/**
 * The schema of a custom resource for server-side apply (API-222): the list and map types of its definition's schema. It is read level by
 * level, so that a large schema costs only the parts in use.
 */
export function applySchema(root: JsonSchemaProps): TypeSchema {
  return resourceSchema(root);
}

/** A resource, at the root or embedded. It has the fields of all resources, whatever its schema says. */
function resourceSchema(schema: JsonSchemaProps): TypeSchema {
  return objectSchema(schema, (name) => resourceFields().get(name));
}

let madeResourceFields: ReadonlyMap<string, FieldSchema> | undefined;

function resourceFields(): ReadonlyMap<string, FieldSchema> {
  return (madeResourceFields ??= new Map([
    ['apiVersion', { type: schemaOf('string') }],
    ['kind', { type: schemaOf('string') }],
    ['metadata', { type: schemaOf(`${META_V1}.ObjectMeta`) }],
  ]));
}

function typeSchema(schema: JsonSchemaProps): TypeSchema {
  if (schema['x-kubernetes-int-or-string'] === true) return { scalar: 'untyped' };
  if (schema['x-kubernetes-embedded-resource'] === true) return resourceSchema(schema);
  switch (schema.type) {
    case 'string':
      return { scalar: 'string' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'array':
      return listSchema(schema);
    case 'object':
      return isOpen(schema) ? DEDUCED : objectSchema(schema, () => undefined);
    default:
      return DEDUCED;
  }
}

/** True if the schema says nothing about the members of a value. */
function isOpen({ properties = {}, additionalProperties, ...schema }: JsonSchemaProps): boolean {
  const untold = Object.keys(properties).length === 0 && typeof additionalProperties !== 'object';
  return untold && schema['x-kubernetes-map-type'] !== 'atomic';
}

function listSchema(schema: JsonSchemaProps): TypeSchema {
  const listType = schema['x-kubernetes-list-type'];
  const items = itemSchema(schema);
  let element: TypeSchema | undefined;
  return {
    list: {
      relationship: listType === 'map' || listType === 'set' ? 'associative' : 'atomic',
      keys: listType === 'map' ? [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort() : [],
      element: () => (element ??= items === undefined ? DEDUCED : typeSchema(items)),
    },
  };
}

function objectSchema(schema: JsonSchemaProps, implied: (name: string) => FieldSchema | undefined): TypeSchema {
  const values = valueSchema(schema);
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const { properties = {} } = schema;
  const fields = new Map<string, FieldSchema>();
  let element: TypeSchema | undefined;
  return {
    map: {
      relationship: schema['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular',
      field: (name) => {
        const known = implied(name) ?? fields.get(name);
        if (known !== undefined || !Object.hasOwn(properties, name)) return known;
        const property = properties[name] ?? {};
        const type = typeSchema(property);
        const made = property.default === undefined ? { type } : { type, default: property.default };
        fields.set(name, made);
        return made;
      },
      element: () => {
        if (values !== undefined) return (element ??= typeSchema(values));
        return open ? DEDUCED : undefined;
      },
    },
  };
}
