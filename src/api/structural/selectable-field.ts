import type { JsonSchemaProps } from './json-schema-props.ts';
import { valueSchema } from './json-schema-props.ts';

export type FieldPathResult =
  | { readonly outcome: 'found'; readonly root: string; readonly schema: JsonSchemaProps | undefined }
  | { readonly outcome: 'invalid'; readonly why: string };

/**
 * Resolves a path of fields such as `.spec.color` in a schema (apiextensions `schema/cel.ValidFieldPath` without array notation). `root` is
 * the first field.
 */
export function findFieldPath(path: string, schema: JsonSchemaProps): FieldPathResult {
  const tokens = path.match(/[.[\]]|[^.[\]]+/g) ?? [];
  let current: JsonSchemaProps | undefined = schema;
  let root = '';
  for (let index = 0; index < tokens.length; index += 2) {
    const separator = tokens[index];
    if (separator === '[') return invalid('array notation is not allowed');
    if (separator !== '.') return invalid(`expected [ or . but got: ${separator}`);
    const name = tokens[index + 1];
    if (name === undefined) return invalid('unexpected end of JSON path');
    if (root === '') root = name;
    if (current?.properties !== undefined) {
      if (!Object.hasOwn(current.properties, name)) return invalid('does not refer to a valid field');
      current = current.properties[name];
    } else if (current?.additionalProperties !== undefined) {
      current = valueSchema(current);
    } else {
      return invalid('does not refer to a valid field');
    }
  }
  return { outcome: 'found', root, schema: current };
}

function invalid(why: string): FieldPathResult {
  return { outcome: 'invalid', why };
}
