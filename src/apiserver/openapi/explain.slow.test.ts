import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { isScalarType, isSpecialType, typeInfo } from '../../api/kinds/type-table.ts';
import type { JsonSchema } from './json-schema.ts';
import { OpenApiHandler } from './openapi-handler.ts';

/**
 * Walks every kind to the last field as `kubectl explain --recursive` does, in the documents of both versions. The walk stops at a type
 * that contains itself, as kubectl does. A field without a description or without a type is a failure.
 */
const handler = new OpenApiHandler({ resources: () => builtinResources() });

function document(target: string): {
  definitions: Record<string, JsonSchema>;
  components: { schemas: Record<string, JsonSchema> };
} {
  const response = handler.handle(target, { method: 'GET', target, headers: {} });
  if (response === undefined) throw new Error(target);
  return JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as ReturnType<typeof document>;
}

interface Walk {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly found: Set<string>;
  readonly problems: string[];
}

/** Matches the description of a schema whose values may have any type; only such a schema has no fields to show. */
const ANY = /^(?:Any JSON value|A schema, or |An object whose type|A set of fields)/;

function explain(walk: Walk, schema: JsonSchema, path: string, above: readonly string[]): void {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    const target = walk.schemas[name];
    if (target === undefined) walk.problems.push(`${path}: ${name} is nowhere`);
    else if (!above.includes(name)) explain(walk, target, path, [...above, name]);
    return;
  }
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const inner = `${path}.${field}`;
    walk.found.add(inner);
    // A missing description is better than an empty phrase.
    if (!/^[A-Z].*\.(?: More info: https:\S+)?$/s.test(property.description ?? 'None.'))
      walk.problems.push(`${inner}: ${property.description}`);
    explain(walk, property, inner, above);
  }
  if (schema.items !== undefined) explain(walk, schema.items, path, above);
  if (typeof schema.additionalProperties === 'object') explain(walk, schema.additionalProperties, path, above);
  if (schema.type === undefined && schema.oneOf === undefined && !ANY.test(schema.description ?? '')) {
    walk.problems.push(`${path} has no type`);
  }
}

/** The same paths from the type table. */
function fieldsOf(typeName: string, path: string, above: readonly string[], found: Set<string>): void {
  if (above.includes(typeName) || isScalarType(typeName) || isSpecialType(typeName)) return;
  for (const field of typeInfo(typeName)?.fields ?? []) {
    if (field.name === '') continue;
    found.add(`${path}.${field.name}`);
    fieldsOf(field.type, `${path}.${field.name}`, [...above, typeName], found);
  }
}

function schemaOf(schemas: Readonly<Record<string, JsonSchema>>, { group, version, kind }: ResourceInfo): JsonSchema {
  const found = Object.values(schemas).find((schema) =>
    ((schema['x-kubernetes-group-version-kind'] ?? []) as ResourceInfo[]).some(
      (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
    ),
  );
  if (found === undefined) throw new Error(`${group}/${version} ${kind}`);
  return found;
}

describe('kubectl explain --recursive', () => {
  const v2 = document('/openapi/v2').definitions;
  const kinds = new Map(builtinResources().map((info) => [`${info.group}/${info.version} ${info.kind}`, info]));

  it.each([...kinds])('API-413 API-418 every field of %s, by both documents', (_name, info) => {
    const { group, version, typeName = '' } = info;
    const v3 = document(group === '' ? '/openapi/v3/api/v1' : `/openapi/v3/apis/${group}/${version}`).components
      .schemas;
    const expected = new Set<string>();
    fieldsOf(typeName, '', [], expected);
    expect(expected.size).toBeGreaterThan(2);
    for (const schemas of [v2, v3]) {
      const walk: Walk = { schemas, found: new Set(), problems: [] };
      const schema = schemaOf(schemas, info);
      const [own = ''] = Object.entries(schemas).find(([, each]) => each === schema) ?? [];
      explain(walk, schema, '', [own]);
      expect(walk.problems).toEqual([]);
      expect(walk.found).toEqual(expected);
    }
  });
});
