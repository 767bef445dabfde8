import { append } from '../../base/collections/append.ts';
import { equalJson, isJsonObject } from '../codec/json/json-value.ts';
import type { Steps } from '../../base/time/steps.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid } from '../field-error.ts';
import { validateEmbedded } from './embedded-metadata.ts';
import { child, keyed } from './field-path.ts';
import { itemSchema, type JsonSchemaProps } from './json-schema-props.ts';
import { prune, pruneValue } from './pruning.ts';
import { SchemaValidator } from './schema-validator.ts';
import { structuralSchema } from './structural-schema.ts';

/**
 * Checks that every default is valid by its own schema and has only known fields (API-451; apiextensions `defaulting.ValidateDefaults`).
 * For structural schemas.
 */
export function* validateDefaults(schema: JsonSchemaProps, path: string): Steps<FieldError[]> {
  const errors = schema.default === undefined ? [] : validateDefault(schema, schema.default, child(path, 'default'));
  yield 1;
  const items = itemSchema(schema);
  if (items !== undefined) append(errors, yield* validateDefaults(items, child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    append(errors, yield* validateDefaults(property, keyed(child(path, 'properties'), name)));
  }
  return errors;
}

function validateDefault(props: JsonSchemaProps, value: unknown, path: string): FieldError[] {
  const schema = structuralSchema(props);
  const pruned =
    schema.embeddedResource && isJsonObject(value) ? prune(value, schema).object : pruneValue(value, schema);
  const unknown = equalJson(pruned, value) ? [] : [fieldInvalid(path, value, 'must not have unknown fields')];
  const embedded = validateEmbedded(
    { default: value },
    { ...NO_SCHEMA, properties: new Map([['default', schema]]) },
  ).map((error) => ({ ...error, field: `${path}${error.field.slice('default'.length)}` }));
  if (embedded.length > 0) return [...unknown, ...embedded];
  return [...unknown, ...new SchemaValidator(props).validate(value, { path })];
}

const NO_SCHEMA = { ...structuralSchema({}), hasEmbedded: true };
