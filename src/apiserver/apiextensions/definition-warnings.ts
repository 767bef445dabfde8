import { itemSchema, type JsonSchemaProps, visitSchemas } from '../../api/structural/json-schema-props.ts';
import { isKnownFormat } from '../../api/structural/schema-validator.ts';
import { type Definition, versionsOf } from './definition.ts';

/**
 * Warnings about features of a definition that have no effect: unknown formats, and sets of objects, whose items apply cannot identify.
 * Warnings that `previous` also has are left out.
 */
export function definitionWarnings(definition: Definition, previous?: Definition): string[] {
  const known = previous === undefined ? [] : shortcomings(previous);
  return shortcomings(definition).filter((text) => !known.includes(text));
}

function shortcomings({ spec }: Definition): string[] {
  const formats = new Set<string>();
  const sets = new Set<string>();
  for (const { schema } of versionsOf(spec)) {
    const root = schema?.openAPIV3Schema;
    if (root === undefined) continue;
    visitSchemas(root, (inner) => {
      if (inner.format !== undefined && !isKnownFormat(inner.format, typeOf(inner))) formats.add(inner.format);
      const items = itemSchema(inner)?.type;
      if (inner['x-kubernetes-list-type'] === 'set' && (items === 'object' || items === 'array')) sets.add(items);
    });
  }
  const warnings = [...formats].map((format) => `unrecognized format ${JSON.stringify(format)}`);
  for (const items of [...sets].sort()) {
    const what = `x-kubernetes-list-type: set for items of type ${JSON.stringify(items)}`;
    warnings.push(`${what} is not supported by server-side apply or CEL validation rules`);
  }
  return warnings;
}

function typeOf(schema: JsonSchemaProps): string {
  return schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '');
}
