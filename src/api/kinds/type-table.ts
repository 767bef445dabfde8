import { typesJson } from './types.generated.ts';

/** The protobuf wire type of a field's value, of its elements if it is a list, and of its values if it is a map. */
export type FieldWire = 'varint' | 'bytes' | 'fixed64';

/** One field of an API struct, as its Go declaration has it. It holds only facts. */
export interface FieldInfo {
  /** The JSON name. Empty for inline fields, which only `structFieldsOf` returns. */
  readonly name: string;
  /** The field number in the message of the declaring struct; 0 if the field has no protobuf form. */
  readonly number: number;
  readonly wire: FieldWire;
  /** The type of the value, element or map value: a struct of this table, a scalar, or a special type. */
  readonly type: string;
  readonly pointer: boolean;
  readonly list: boolean;
  /** A map with string keys. If `list` is also true, its values are lists. */
  readonly map: boolean;
  readonly omitempty: boolean;
  /** Required by the published schema. */
  readonly required: boolean;
  /** A struct whose fields appear in JSON as fields of this struct. */
  readonly inline: boolean;
  /** The list is a named Go type, so protobuf wraps it in a message `{1: items}` (`ExtraValue`, `Verbs`). */
  readonly namedList: boolean;
  /** `merge`, `replace`, `retainKeys` or `merge,retainKeys`. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly listType?: 'atomic' | 'map' | 'set';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  /** OpenAPI format: `int32`, `int64`, `byte`, `double`. */
  readonly format?: string;
}

export interface UnionInfo {
  readonly discriminator?: string;
  readonly 'fields-to-discriminateBy': Readonly<Record<string, string>>;
}

export interface TypeInfo {
  readonly name: string;
  /** The fields of the JSON form, with inline structs expanded. */
  readonly fields: readonly FieldInfo[];
  /** `atomic` makes server-side apply treat the struct as one value. */
  readonly mapType?: 'atomic' | 'granular';
  readonly openapiType?: string;
  readonly format?: string;
  readonly unions?: readonly UnionInfo[];
}

/**
 * Types with a special JSON form. They have no fields here.
 *
 * | type | JSON |
 * |---|---|
 * | Time, MicroTime | RFC 3339 string, or null |
 * | Quantity | string (numbers are accepted) |
 * | IntOrString | number or string |
 * | RawExtension, FieldsV1, JSON | anything |
 * | JSONSchemaPropsOrBool, -OrArray, -OrStringArray | a JSONSchemaProps, or a bool, a list of them, a list of strings |
 */
export type SpecialType =
  | 'Time'
  | 'MicroTime'
  | 'Quantity'
  | 'IntOrString'
  | 'RawExtension'
  | 'FieldsV1'
  | 'JSON'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrStringArray';

export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes';

/** The struct in the three `JSONSchemaPropsOr…` types. */
export const JSON_SCHEMA_PROPS = 'apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps';
/** The package of the types that all group versions share. */
export const META_V1 = 'apimachinery/pkg/apis/meta/v1';

const SPECIAL_TYPES: ReadonlySet<string> = new Set<SpecialType>([
  'Time',
  'MicroTime',
  'Quantity',
  'IntOrString',
  'RawExtension',
  'FieldsV1',
  'JSON',
  'JSONSchemaPropsOrBool',
  'JSONSchemaPropsOrArray',
  'JSONSchemaPropsOrStringArray',
]);
const SCALAR_TYPES: ReadonlySet<string> = new Set<ScalarType>(['string', 'bool', 'int32', 'int64', 'float64', 'bytes']);

export function isSpecialType(type: string): type is SpecialType {
  return SPECIAL_TYPES.has(type);
}

export function isScalarType(type: string): type is ScalarType {
  return SCALAR_TYPES.has(type);
}

/** Kinds that every group version accepts, because clients send options in the group of the request. */
const KINDS_OF_EVERY_GROUP_VERSION: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);
/** Other kinds of `meta.k8s.io/v1`, and of `v1beta1` for older clients. Status and discovery documents have the version `v1`. */
const META_KINDS: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'Status',
  'Table',
]);

/** This version is not served, but clients send it for pods (API-317). It has the fields of policy/v1. */
const OLDER_EVICTION = 'policy/v1beta1/Eviction';

const META_VERSIONS: ReadonlySet<string> = new Set(['v1', 'meta.k8s.io/v1', 'meta.k8s.io/v1beta1']);

type FieldExtras = Pick<
  FieldInfo,
  'patchStrategy' | 'patchMergeKey' | 'listType' | 'listMapKeys' | 'mapType' | 'enum' | 'default' | 'format'
>;
type FieldRow = readonly [name: string, number: number, reference: number, flags: number, extras?: FieldExtras];
type TypeRow = readonly [fields: readonly FieldRow[], about?: Omit<TypeInfo, 'name' | 'fields'>];

interface Table {
  /** Names by reference number. The first ones are the types, in row order. */
  readonly references: readonly string[];
  readonly types: readonly TypeRow[];
  readonly kinds: Readonly<Record<string, readonly [path: string, kinds: readonly string[]]>>;
}

interface LoadedTable {
  readonly references: readonly string[];
  readonly rows: ReadonlyMap<string, TypeRow>;
  /** Type names by kind, such as `apps/v1/Deployment`. */
  readonly kinds: ReadonlyMap<string, string>;
}

let loaded: LoadedTable | undefined;
const structFields = new Map<string, readonly FieldInfo[]>();
const types = new Map<string, TypeInfo>();
const fieldIndexes = new Map<string, ReadonlyMap<string, FieldInfo>>();

const NO_FIELDS: readonly FieldInfo[] = [];

/** Parsing takes milliseconds, so the table is parsed on first use. */
function table(): LoadedTable {
  if (loaded !== undefined) return loaded;
  const parsed = JSON.parse(typesJson) as Table;
  const rows = new Map<string, TypeRow>();
  parsed.types.forEach((row, i) => rows.set(parsed.references[i]!, row));
  const kinds = new Map<string, string>();
  for (const [apiVersion, [path, names]] of Object.entries(parsed.kinds)) {
    for (const kind of names) kinds.set(`${apiVersion}/${kind}`, `${path}.${kind}`);
  }
  loaded = { references: parsed.references, rows, kinds };
  return loaded;
}

/**
 * The wire types come from the Go types, as in Go's protobuf generator, because the struct tags are wrong in places
 * (`ListMeta.remainingItemCount`, `DeleteOptions.propagationPolicy`).
 */
function wireOf(type: string): FieldWire {
  if (type === 'bool' || type === 'int32' || type === 'int64') return 'varint';
  return type === 'float64' ? 'fixed64' : 'bytes';
}

function fieldFrom(row: FieldRow): FieldInfo {
  const [name, number, reference, flags, extras] = row;
  const type = table().references[reference]!;
  const map = (flags & 4) !== 0;
  return {
    name,
    number,
    wire: map ? 'bytes' : wireOf(type),
    type,
    pointer: (flags & 1) !== 0,
    list: (flags & 2) !== 0,
    map,
    omitempty: (flags & 8) !== 0,
    required: (flags & 16) !== 0,
    inline: (flags & 32) !== 0,
    namedList: (flags & 64) !== 0,
    ...extras,
  };
}

/** The type of a kind; undefined if no default installation serves it. */
export function typeNameOf(apiVersion: string, kind: string): string | undefined {
  const key = `${apiVersion}/${kind}`;
  const found = table().kinds.get(key === OLDER_EVICTION ? 'policy/v1/Eviction' : key);
  if (found !== undefined) return found;
  if (KINDS_OF_EVERY_GROUP_VERSION.has(kind)) return `${META_V1}.${kind}`;
  return META_VERSIONS.has(apiVersion) && META_KINDS.has(kind) ? `${META_V1}.${kind}` : undefined;
}

/** The declared fields with inline structs as one field, as in protobuf. Empty for scalar, special and unknown types. */
export function structFieldsOf(typeName: string): readonly FieldInfo[] {
  let fields = structFields.get(typeName);
  if (fields === undefined) {
    const row = table().rows.get(typeName);
    if (row === undefined) return NO_FIELDS;
    fields = row[0].map(fieldFrom);
    structFields.set(typeName, fields);
  }
  return fields;
}

/** A struct that is embedded without a number (TypeMeta) is not part of the message, nor are its fields. */
function expandInline(typeName: string): FieldInfo[] {
  return structFieldsOf(typeName).flatMap((field) => {
    if (!field.inline) return [field];
    const fields = expandInline(field.type);
    return field.number === 0 ? fields.map((inner) => ({ ...inner, number: 0 })) : fields;
  });
}

/** Undefined for scalar, special and unknown types. */
export function typeInfo(typeName: string): TypeInfo | undefined {
  let info = types.get(typeName);
  if (info === undefined) {
    const row = table().rows.get(typeName);
    if (row === undefined) return undefined;
    info = { name: typeName, fields: expandInline(typeName), ...row[1] };
    types.set(typeName, info);
  }
  return info;
}

/** The fields of the JSON form in declaration order. Inline structs are expanded, so `kind` and `apiVersion` come first. */
export function fieldsOf(typeName: string): readonly FieldInfo[] {
  return typeInfo(typeName)?.fields ?? NO_FIELDS;
}

export function fieldOf(typeName: string, jsonName: string): FieldInfo | undefined {
  let index = fieldIndexes.get(typeName);
  if (index === undefined) {
    index = new Map(fieldsOf(typeName).map((field) => [field.name, field]));
    if (index.size === 0) return undefined;
    fieldIndexes.set(typeName, index);
  }
  return index.get(jsonName);
}

/** Every struct of the table, sorted. */
export function typeNames(): readonly string[] {
  return [...table().rows.keys()];
}

/** Every kind with a type, as `[apiVersion, kind]`, in group version order. */
export function kindNames(): readonly (readonly [apiVersion: string, kind: string])[] {
  return [...table().kinds.keys()].map((key) => {
    const slash = key.lastIndexOf('/');
    return [key.slice(0, slash), key.slice(slash + 1)] as const;
  });
}
