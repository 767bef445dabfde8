import type { Int64 } from '../../base/json/exact-json.ts';

/** One rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** `JSONSchemaProps` of apiextensions v1, as decoding by type leaves it: no nulls, no empty optional fields. */
export interface JsonSchemaProps {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: Int64;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: Int64;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: Int64;
  readonly minLength?: Int64;
  readonly pattern?: string;
  readonly maxItems?: Int64;
  readonly minItems?: Int64;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: Int64;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: Int64;
  readonly minProperties?: Int64;
  readonly required?: readonly string[];
  /** A list of schemas is parsed only to be refused. */
  readonly items?: JsonSchemaProps | readonly JsonSchemaProps[];
  readonly allOf?: readonly JsonSchemaProps[];
  readonly oneOf?: readonly JsonSchemaProps[];
  readonly anyOf?: readonly JsonSchemaProps[];
  readonly not?: JsonSchemaProps;
  readonly properties?: Readonly<Record<string, JsonSchemaProps>>;
  readonly additionalProperties?: JsonSchemaProps | boolean;
  readonly patternProperties?: Readonly<Record<string, JsonSchemaProps>>;
  readonly dependencies?: Readonly<Record<string, JsonSchemaProps | readonly string[]>>;
  readonly additionalItems?: JsonSchemaProps | boolean;
  readonly definitions?: Readonly<Record<string, JsonSchemaProps>>;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** The single schema of all items; undefined if there is none, or a list of schemas. */
export function itemSchema({ items }: JsonSchemaProps): JsonSchemaProps | undefined {
  return isSchemaList(items) ? undefined : items;
}

export function isSchemaList(items: JsonSchemaProps['items']): items is readonly JsonSchemaProps[] {
  return Array.isArray(items);
}

/** The schema of the values of a map; undefined if it is a boolean or absent. */
export function valueSchema({ additionalProperties }: JsonSchemaProps): JsonSchemaProps | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Visits a schema and every schema inside it. `path` is the path in the data, for messages: `.spec.ports[*].name`. */
export function visitSchemas(
  schema: JsonSchemaProps,
  visit: (schema: JsonSchemaProps, path: string) => void,
  path = '',
): void {
  visit(schema, path);
  for (const [inner, innerPath] of schemasInside(schema, path)) visitSchemas(inner, visit, innerPath);
}

/** True if a schema has CEL rules at any depth (`x-kubernetes-validations`). */
export function hasRules(schema: JsonSchemaProps): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  for (const [inner] of schemasInside(schema, '')) if (hasRules(inner)) return true;
  return false;
}

/** The schemas directly inside one, each with its path in the data. */
function* schemasInside(schema: JsonSchemaProps, path: string): Generator<readonly [JsonSchemaProps, string]> {
  const { items, properties } = schema;
  for (const item of isSchemaList(items) ? items : [items]) if (item !== undefined) yield [item, `${path}[*]`];
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const inner of schema[junctor] ?? []) yield [inner, path];
  }
  if (schema.not !== undefined) yield [schema.not, path];
  for (const name in properties) yield [properties[name]!, `${path}.${name}`];
  const values = valueSchema(schema);
  if (values !== undefined) yield [values, `${path}.*`];
}
