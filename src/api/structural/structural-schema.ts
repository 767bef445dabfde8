import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/**
 * The facts for pruning, defaulting, embedded metadata and list types, extracted once from a schema (apiextensions `pkg/apiserver/schema`).
 * Facts that only validation needs are not included.
 */
export interface StructuralSchema {
  readonly nullable: boolean;
  /** False if values of any type are valid, null among them. */
  readonly typed: boolean;
  /** The default; undefined for none. It is shared, so callers copy it before they put it into an object. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** `any` allows values without a schema, so objects among them lose all their fields. */
  readonly additionalProperties: StructuralSchema | 'any' | undefined;
  readonly items: StructuralSchema | undefined;
  readonly embeddedResource: boolean;
  readonly preserveUnknownFields: boolean;
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  /** False if the schema has no default at any depth. */
  readonly hasDefaults: boolean;
  /** False if no resource is embedded at any depth. */
  readonly hasEmbedded: boolean;
}

export function structuralSchema(props: JsonSchemaProps): StructuralSchema {
  const properties = new Map<string, StructuralSchema>();
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    properties.set(name, structuralSchema(property));
  }
  const values = valueSchema(props);
  const items = itemSchema(props);
  const schema = {
    nullable: props.nullable ?? false,
    typed: props.type !== undefined || props['x-kubernetes-int-or-string'] === true,
    default: props.default,
    properties,
    additionalProperties:
      values !== undefined
        ? structuralSchema(values)
        : props.additionalProperties === undefined
          ? undefined
          : ('any' as const),
    items: items === undefined ? undefined : structuralSchema(items),
    embeddedResource: props['x-kubernetes-embedded-resource'] ?? false,
    preserveUnknownFields: props['x-kubernetes-preserve-unknown-fields'] ?? false,
    listType: props['x-kubernetes-list-type'] ?? '',
    listMapKeys: props['x-kubernetes-list-map-keys'] ?? [],
  };
  const inner = [...properties.values(), ...[schema.items, schema.additionalProperties].filter(isSchema)];
  return {
    ...schema,
    hasDefaults: schema.default !== undefined || inner.some((each) => each.hasDefaults),
    hasEmbedded: schema.embeddedResource || inner.some((each) => each.hasEmbedded),
  };
}

function isSchema(value: StructuralSchema | 'any' | undefined): value is StructuralSchema {
  return typeof value === 'object';
}

/** The schema of a field: the property's own, or that of the map's values; undefined if there is none. */
export function fieldSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const property = schema?.properties.get(name);
  if (property !== undefined) return property;
  const values = schema?.additionalProperties;
  return isSchema(values) ? values : undefined;
}
