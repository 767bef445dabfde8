import { Ajv } from 'ajv';
// @ts-expect-error -- a script without declarations
import { jsonSchemas } from '../../scripts/json-schemas.mjs';

interface Schema {
  readonly kind: string;
  readonly text: string;
}

/** The JSON Schemas as the types say. */
export const schemas = jsonSchemas() as readonly Schema[];

/** Refuses fields that the types do not have, which the shipped schemas allow. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => strict(each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  return 'properties' in copy && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}

/** The faults of a document in the eyes of the schema of its kind. */
export function faults(document: unknown): string[] {
  const { kind } = document as { readonly kind: string };
  const schema = schemas.find((each) => each.kind === kind);
  if (schema === undefined) return [`there is no schema of ${kind}`];
  const ajv = new Ajv({ allErrors: true });
  const validate = ajv.compile(strict(JSON.parse(schema.text)) as object);
  return validate(document) ? [] : [ajv.errorsText(validate.errors)];
}
