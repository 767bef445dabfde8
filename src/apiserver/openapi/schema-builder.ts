import type { FieldInfo } from '../../api/kinds/type-table.ts';
import { isScalarType, isSpecialType, kindNames, typeInfo, typeNameOf } from '../../api/kinds/type-table.ts';
import type { GroupVersion, GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { definitionName, metaTypeName, PATCH_DEFINITION, schemaRef } from './definition-name.ts';
import { describeField } from './field-description.ts';
import type { JsonSchema, JsonSchemas } from './json-schema.ts';
import { SPECIAL_DESCRIPTIONS, TYPE_DESCRIPTIONS } from './own-descriptions.ts';

/**
 * `components.schemas` of one document: the requested types and everything they refer to, each once (API-413). Built from the type table,
 * whose size bounds the work.
 */
export class SchemaBuilder {
  readonly #schemas: JsonSchemas = {};
  readonly #pending: string[] = [];
  readonly #groupVersion: GroupVersion;

  constructor(groupVersion: GroupVersion) {
    this.#groupVersion = groupVersion;
  }

  /** Adds a type of the table, and returns the name of its definition. */
  add(typeName: string): string {
    const definition = definitionName(typeName);
    if (this.#schemas[definition] === undefined) {
      // The name is reserved first, because types may refer to themselves.
      this.#schemas[definition] = {};
      this.#pending.push(typeName);
    }
    return definition;
  }

  addSchema(definition: string, schema: JsonSchema): void {
    this.#schemas[definition] = schema;
  }

  /** A reference to the body of any patch. */
  patchRef(): string {
    this.#schemas[PATCH_DEFINITION] ??= {
      description: 'A change to an object, in the format its media type names.',
      type: 'object',
    };
    return schemaRef(PATCH_DEFINITION);
  }

  /** Everything that was added, sorted by name. */
  build(): JsonSchemas {
    for (let typeName = this.#pending.pop(); typeName !== undefined; typeName = this.#pending.pop()) {
      this.#schemas[definitionName(typeName)] = this.#schemaOf(typeName);
    }
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #schemaOf(typeName: string): JsonSchema {
    if (isSpecialType(typeName))
      return { description: SPECIAL_DESCRIPTIONS[typeName] ?? '', ...specialShape(typeName) };
    const info = typeInfo(typeName);
    const description = TYPE_DESCRIPTIONS[typeName];
    const schema: JsonSchema = { ...(description === undefined ? {} : { description }), type: 'object' };
    if (info === undefined) return schema;
    const fields = info.fields.filter(({ name }) => name !== '');
    if (fields.length > 0) {
      schema.properties = {};
      for (const field of fields) schema.properties[field.name] = this.#property(typeName, field);
    }
    const required = fields.filter((field) => field.required).map(({ name }) => name);
    if (required.length > 0) schema.required = required;
    if (info.mapType !== undefined) schema['x-kubernetes-map-type'] = info.mapType;
    if (info.unions !== undefined) schema['x-kubernetes-unions'] = info.unions;
    const kinds = this.#kindsOf(typeName);
    if (kinds.length > 0) schema['x-kubernetes-group-version-kind'] = kinds;
    return schema;
  }

  #property(typeName: string, field: FieldInfo): JsonSchema {
    const description = describeField(typeName, field);
    const property: JsonSchema = description === undefined ? {} : { description };
    const value = this.#valueOf(field);
    if (field.list && field.map) {
      property.type = 'object';
      property.additionalProperties = { type: 'array', items: value };
    } else if (field.map) {
      property.type = 'object';
      property.additionalProperties = value;
    } else if (field.list) {
      property.type = 'array';
      property.items = value;
    } else if (value.$ref !== undefined) {
      // A `$ref` must stand alone, so it moves into allOf.
      property.allOf = [value];
      if (!field.pointer && !isSpecialType(field.type)) property.default = {};
    } else {
      Object.assign(property, value);
    }
    if (field.enum !== undefined && field.enum.length > 0) property.enum = field.enum;
    if (field.default !== undefined && !field.list && !field.map) property.default = field.default;
    if (field.listType !== undefined) property['x-kubernetes-list-type'] = field.listType;
    if (field.listMapKeys !== undefined) property['x-kubernetes-list-map-keys'] = field.listMapKeys;
    if (field.mapType !== undefined) property['x-kubernetes-map-type'] = field.mapType;
    if (field.patchStrategy !== undefined) property['x-kubernetes-patch-strategy'] = field.patchStrategy;
    if (field.patchMergeKey !== undefined) property['x-kubernetes-patch-merge-key'] = field.patchMergeKey;
    return property;
  }

  #valueOf(field: FieldInfo): JsonSchema {
    if (isScalarType(field.type)) return SCALARS[field.type];
    return { $ref: schemaRef(this.add(field.type)) };
  }

  /** Options and watch events belong to every group version, so they list that of the document in addition to core. */
  #kindsOf(typeName: string): GroupVersionKind[] {
    for (const kind of SHARED_KINDS) {
      if (typeName !== metaTypeName(kind)) continue;
      const core = { group: '', version: 'v1', kind };
      return this.#groupVersion.group === '' ? [core] : [core, { ...this.#groupVersion, kind }];
    }
    return kindsByType().get(typeName) ?? [];
  }
}

const SHARED_KINDS = ['DeleteOptions', 'WatchEvent'] as const;

const SCALARS: Readonly<Record<'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes', JsonSchema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

function specialShape(typeName: string): JsonSchema {
  switch (typeName) {
    case 'Time':
    case 'MicroTime':
      return { type: 'string', format: 'date-time' };
    case 'Quantity':
      return { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'IntOrString':
      return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'RawExtension':
    case 'FieldsV1':
      return { type: 'object' };
    default:
      // Any JSON value has an empty schema.
      return {};
  }
}

let kinds: ReadonlyMap<string, GroupVersionKind[]> | undefined;

function kindsByType(): ReadonlyMap<string, GroupVersionKind[]> {
  if (kinds !== undefined) return kinds;
  const found = new Map<string, GroupVersionKind[]>();
  const add = (apiVersion: string, kind: string): void => {
    const typeName = typeNameOf(apiVersion, kind);
    const groupVersion = parseGroupVersion(apiVersion);
    if (typeName === undefined || groupVersion === undefined) return;
    // Documents use v1 for kinds of meta.k8s.io, as bodies do.
    const group = groupVersion.group === 'meta.k8s.io' ? '' : groupVersion.group;
    found.set(typeName, [...(found.get(typeName) ?? []), { group, version: groupVersion.version, kind }]);
  };
  for (const [apiVersion, kind] of kindNames()) add(apiVersion, kind);
  kinds = found;
  return found;
}
