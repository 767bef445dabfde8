import type { JsonSchema } from './json-schema.ts';

/** A schema in Swagger 2.0: without `oneOf`, `anyOf`, `not`, `nullable`. A `$ref` may have a description. */
export type V2Schema = Readonly<Record<string, unknown>>;

/** Any schema of a v3 document, including custom resources. */
type PublishedSchema = JsonSchema & {
  readonly nullable?: boolean;
  readonly anyOf?: readonly unknown[];
  readonly not?: unknown;
};

const REFERENCE = '#/components/schemas/';

/** A Swagger 2.0 document. */
export interface V2Document {
  readonly swagger: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, unknown>>;
  readonly definitions: Readonly<Record<string, V2Schema>>;
}

/**
 * Converts a schema of a v3 document to v2 (API-418; kube-openapi `SchemaOf` for built-in kinds, apiextensions `controller/openapi/v2` for
 * custom ones). Features that v2 lacks are left out, because kubectl accepts any value without a type.
 */
export function v2Schema(schema: JsonSchema): V2Schema {
  const { allOf, oneOf, anyOf: _any, not: _not, nullable, $ref, ...kept } = schema as PublishedSchema;
  const { properties, items, additionalProperties, default: standard, ...rest } = kept;
  const reference = $ref ?? referenceIn(allOf);
  // Drops the default beside a reference: it is an empty object, which readers of v2 do not expect.
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

/** The schema of a value without a fixed shape. kubectl would refuse other fields if it listed some or had a type. */
function withoutShape({
  type: _type,
  format: _format,
  required: _required,
  enum: _enum,
  ...rest
}: JsonSchema): V2Schema {
  return rest;
}

/** A nullable field is not required, because a client may leave out nulls. */
function requiredOf(required: readonly string[], properties: JsonSchema['properties']): { required?: string[] } {
  const demanded = required.filter((name) => (properties?.[name] as PublishedSchema | undefined)?.nullable !== true);
  return { required: demanded };
}
