import type { JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import { publishedSchema } from '../../api/structural/published-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { definitionName, metaTypeName, schemaRef } from './definition-name.ts';
import { COMMON_FIELDS, METADATA_FIELDS, TYPE_META_FIELDS } from './descriptions/any-type.ts';

/**
 * The published schema of a custom resource (API-417): the definition's schema, in which the fields of every object replace the
 * definition's own. Without a schema everything is allowed.
 */
export function customResourceSchema(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  schema: JsonSchema | undefined,
): JsonSchema {
  const fields = resourceFields();
  const inside = schema === undefined ? {} : (publishedSchema(schema as JsonSchemaProps, fields) as JsonSchema);
  const published: JsonSchema = {
    ...inside,
    type: 'object',
    properties: { ...inside.properties, ...fields },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
  };
  if (schema === undefined) published['x-kubernetes-preserve-unknown-fields'] = true;
  return published;
}

/** The fields of every resource, including embedded ones. */
function resourceFields(): { apiVersion: JsonSchema; kind: JsonSchema; metadata: JsonSchema } {
  return {
    apiVersion: { description: TYPE_META_FIELDS.apiVersion, type: 'string' },
    kind: { description: TYPE_META_FIELDS.kind, type: 'string' },
    metadata: {
      description: METADATA_FIELDS.ObjectMeta,
      allOf: [{ $ref: schemaRef(definitionName(metaTypeName('ObjectMeta'))) }],
    },
  };
}

export function customResourceListSchema(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  itemRef: string,
): JsonSchema {
  return {
    description: `List of ${kind.kind.replace(/List$/, '')}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { description: TYPE_META_FIELDS.apiVersion, type: 'string' },
      items: { description: COMMON_FIELDS.items, type: 'array', items: { $ref: itemRef } },
      kind: { description: TYPE_META_FIELDS.kind, type: 'string' },
      metadata: {
        description: METADATA_FIELDS.ListMeta,
        allOf: [{ $ref: schemaRef(definitionName(metaTypeName('ListMeta'))) }],
      },
    },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
  };
}
