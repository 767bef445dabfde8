import type { JsonSchema } from './json-schema.ts';

/** A schema as Swagger 2.0 has it: no `oneOf`, `anyOf`, `not`, `nullable`; a `$ref` may have a description beside it. */
export type V2Schema = Readonly<Record<string, unknown>>;

/** Any schema of a v3 document, those of custom resources included. */
type PublishedSchema = JsonSchema & {
  readonly nullable?: boolean;
  readonly anyOf?: readonly unknown[];
  readonly not?: unknown;
};

const REFERENCE = '#/components/schemas/';

/**
 * A schema of a v3 document in the words of v2 (API-418; kube-openapi `SchemaOf` for built-in kinds, apiextensions
 * `controller/openapi/v2` for custom ones). What v2 cannot say is left out rather than said wrongly: kubectl takes a value
 * without a type for one that may be anything.
 */
export function v2Schema(schema: JsonSchema): V2Schema {
  const { allOf, oneOf, anyOf: _any, not: _not, nullable, $ref, ...kept } = schema as PublishedSchema;
  const { properties, items, additionalProperties, default: standard, ...rest } = kept;
  const reference = $ref ?? referenceIn(allOf);
  // A default beside a reference is that of an empty object, which v2 readers do not expect.
  if (reference !== undefined) return { ...rest, $ref: reference.replace(REFERENCE, '#/definitions/') };
  if (nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true) return withoutShape(rest);
  if (schema['x-kubernetes-int-or-string'] === true) return withoutShape(rest);
  const type = rest.type ?? (oneOf === undefined ? undefined : 'string');
  return {
    ...rest,
    ...(type === undefined ? {} : { type }),
    ...(standard === undefined ? {} : { default: standard }),
    ...(rest.required === undefined ? {} : requiredOf(rest.required, properties)),
    ...(properties === undefined ? {} : { properties: mapSchemas(properties) }),
    ...(items === undefined ? {} : { items: v2Schema(items) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: v2Schema(additionalProperties) } : {}),
  };
}

function mapSchemas(schemas: Readonly<Record<string, JsonSchema>>): Record<string, V2Schema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, v2Schema(schema)]));
}

function referenceIn(allOf: readonly JsonSchema[] | undefined): string | undefined {
  return allOf?.length === 1 ? allOf[0]?.$ref : undefined;
}

/** What kubectl reads of a value of no fixed shape; a list of fields or a type would make it refuse other ones. */
function withoutShape({
  type: _type,
  format: _format,
  required: _required,
  enum: _enum,
  ...rest
}: JsonSchema): V2Schema {
  return rest;
}

/** A field that may be null cannot be demanded of a client that leaves nulls out. */
function requiredOf(required: readonly string[], properties: JsonSchema['properties']): { required?: string[] } {
  const demanded = required.filter((name) => (properties?.[name] as PublishedSchema | undefined)?.nullable !== true);
  return { required: demanded };
}
