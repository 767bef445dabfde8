import { isSpelledOut } from './int-or-string.ts';
import { isSchemaList, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/** The descriptions of the fields of every embedded resource in the published schema. */
export interface ResourceFields {
  readonly apiVersion: object;
  readonly kind: object;
  readonly metadata: object;
}

/**
 * A schema in the form of OpenAPI v3 documents (API-417; apiextensions `controller/openapi/builder`): int-or-string written out, embedded
 * resources with the fields of all resources.
 */
export function publishedSchema(schema: JsonSchemaProps, resourceFields: ResourceFields): JsonSchemaProps {
  const publish = (inner: JsonSchemaProps): JsonSchemaProps => publishedSchema(inner, resourceFields);
  const values = valueSchema(schema);
  const { items } = schema;
  const published = {
    ...schema,
    ...(items === undefined ? {} : { items: isSchemaList(items) ? items.map(publish) : publish(items) }),
    ...(values === undefined ? {} : { additionalProperties: publish(values) }),
    ...(schema.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([name, each]) => [name, publish(each)]),
          ),
        }),
  };
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const complete = embedded ? withResourceFields(published, resourceFields) : published;
  return schema['x-kubernetes-int-or-string'] === true ? spelledOut(complete) : complete;
}

function withResourceFields(schema: JsonSchemaProps, fields: ResourceFields): JsonSchemaProps {
  const required = schema.required ?? [];
  const missing = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return { ...schema, properties: { ...schema.properties, ...fields }, required: [...required, ...missing] };
}

function spelledOut(schema: JsonSchemaProps): JsonSchemaProps {
  if (isSpelledOut(schema) !== 'no') return schema;
  const either = [{ type: 'integer' }, { type: 'string' }];
  if (schema.anyOf === undefined) return { ...schema, anyOf: either };
  return { ...schema, allOf: [{ anyOf: either }, ...(schema.allOf ?? [])] };
}
