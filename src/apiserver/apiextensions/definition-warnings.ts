import { itemSchema, type JsonSchemaProps, visitSchemas } from '../../api/structural/json-schema-props.ts';
import { isKnownFormat } from '../../api/structural/schema-validator.ts';
import { type Definition, versionsOf } from './definition.ts';

/** Places named in one warning; the rest is counted. */
const NAMED = 10;

/**
 * What a definition asks for and does not get (API-471): rules in CEL, which are not evaluated, formats nobody knows; and sets of
 * objects, which apply cannot tell apart. One text each.
 */
export function definitionWarnings({ spec }: Definition): string[] {
  const rules = new Map<string, string[]>();
  const formats = new Set<string>();
  const sets = new Set<string>();
  for (const { name, schema } of versionsOf(spec)) {
    const root = schema?.openAPIV3Schema;
    if (root === undefined) continue;
    const places: string[] = [];
    visitSchemas(root, (inner, path) => {
      if ((inner['x-kubernetes-validations'] ?? []).length > 0) places.push(path === '' ? '.' : path);
      if (inner.format !== undefined && !isKnownFormat(inner.format, typeOf(inner))) formats.add(inner.format);
      const items = itemSchema(inner)?.type;
      if (inner['x-kubernetes-list-type'] === 'set' && (items === 'object' || items === 'array')) sets.add(items);
    });
    // Versions are often alike.
    const named = placesText(places);
    if (places.length > 0) rules.set(named, [...(rules.get(named) ?? []), name]);
  }
  const warnings = [...rules].map(([places, versions]) => ruleWarning(versions, places));
  for (const format of formats) warnings.push(`unrecognized format ${JSON.stringify(format)}`);
  for (const items of [...sets].sort()) {
    const what = `x-kubernetes-list-type: set for items of type ${JSON.stringify(items)}`;
    warnings.push(`${what} is not supported by server-side apply or CEL validation rules`);
  }
  return warnings;
}

function typeOf(schema: JsonSchemaProps): string {
  return schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '');
}

function placesText(places: readonly string[]): string {
  const more = places.length > NAMED ? ` and ${places.length - NAMED} more` : '';
  return `${places.slice(0, NAMED).join(', ')}${more}`;
}

function ruleWarning(versions: readonly string[], places: string): string {
  const which = `version${versions.length === 1 ? '' : 's'} ${versions.join(', ')}`;
  return `${which}: x-kubernetes-validations (CEL) are kept but not evaluated: ${places}`;
}
