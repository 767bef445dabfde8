import { typesJson } from './types.generated.ts';

/** Wire type of one value of the field in protobuf; of the elements in a list, of the values in a map. */
export type FieldWire = 'varint' | 'bytes' | 'fixed64';

/** One field of a struct of the API, as its Go declaration has it. Facts only; who reads them decides what they mean. */
export interface FieldInfo {
  /** JSON name. Empty for inline fields, which only `structFieldsOf` shows. */
  readonly name: string;
  /** Number in the message of the struct that declares the field; 0 where the field has no protobuf form. */
  readonly number: number;
  readonly wire: FieldWire;
  /** Type of the value, or of the elements or map values: a struct of this table, a scalar, or a special type. */
  readonly type: string;
  readonly pointer: boolean;
  readonly list: boolean;
  /** Map with string keys. With `list` its values are lists. */
  readonly map: boolean;
  readonly omitempty: boolean;
  /** Required by the published schema. */
  readonly required: boolean;
  /** Struct whose fields appear in JSON as if declared here. */
  readonly inline: boolean;
  /** The list is a Go type with a name, so protobuf wraps it in a message `{1: items}` (`ExtraValue`, `Verbs`). */
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
  /** As JSON shows them: inline structs expanded. */
  readonly fields: readonly FieldInfo[];
  /** `atomic`: server-side apply takes the struct as one value. */
  readonly mapType?: 'atomic' | 'granular';
  readonly openapiType?: string;
  readonly format?: string;
  readonly unions?: readonly UnionInfo[];
}

/**
 * Types with a JSON form of their own. They have no fields here.
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

/** The struct inside the three `JSONSchemaPropsOr…` types. */
export const JSON_SCHEMA_PROPS = 'apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps';
/** Package of the types every group version shares. */
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

/** Kinds that every group version accepts, because clients send options in the group they talk to. */
const KINDS_OF_EVERY_GROUP_VERSION: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
]);
/** Further kinds of `meta.k8s.io/v1`, for older clients also of `v1beta1`; Status and discovery documents say `v1`. */
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

/** Not served, but clients send it to the pods of today (API-317); its fields are those of policy/v1. */
const OLDER_EVICTION = 'policy/v1beta1/Eviction';

const META_VERSIONS: ReadonlySet<string> = new Set(['v1', 'meta.k8s.io/v1', 'meta.k8s.io/v1beta1']);

type FieldExtras = Pick<
  FieldInfo,
  'patchStrategy' | 'patchMergeKey' | 'listType' | 'listMapKeys' | 'mapType' | 'enum' | 'default' | 'format'
>;
type FieldRow = readonly [name: string, number: number, reference: number, flags: number, extras?: FieldExtras];
type TypeRow = readonly [fields: readonly FieldRow[], about?: Omit<TypeInfo, 'name' | 'fields'>];

interface Table {
  /** Names by reference number; the first ones are the types, in the order of their rows. */
  readonly references: readonly string[];
  readonly types: readonly TypeRow[];
  readonly kinds: Readonly<Record<string, readonly [path: string, kinds: readonly string[]]>>;
}

interface LoadedTable {
  readonly references: readonly string[];
  readonly rows: ReadonlyMap<string, TypeRow>;
  /** `apps/v1/Deployment` -> type name. */
  readonly kinds: ReadonlyMap<string, string>;
}

let loaded: LoadedTable | undefined;
const structFields = new Map<string, readonly FieldInfo[]>();
const types = new Map<string, TypeInfo>();
const fieldIndexes = new Map<string, ReadonlyMap<string, FieldInfo>>();

const NO_FIELDS: readonly FieldInfo[] = [];

/** Parsing costs milliseconds, so it waits for the first question. */
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
 * Go's protobuf generator derives the wire type from the Go type and ignores the struct tag, which is wrong in places
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

/** Type of a kind; undefined if no default installation serves it. */
export function typeNameOf(apiVersion: string, kind: string): string | undefined {
  const key = `${apiVersion}/${kind}`;
  const found = table().kinds.get(key === OLDER_EVICTION ? 'policy/v1/Eviction' : key);
  if (found !== undefined) return found;
  if (KINDS_OF_EVERY_GROUP_VERSION.has(kind)) return `${META_V1}.${kind}`;
  return META_VERSIONS.has(apiVersion) && META_KINDS.has(kind) ? `${META_V1}.${kind}` : undefined;
}

/** Fields as declared, inline structs as one field: the shape protobuf has. Empty for scalar, special, unknown types. */
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

/** A struct embedded without a number (TypeMeta) is not part of the message, and neither are its fields. */
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

/** Fields as JSON shows them, in declaration order, inline structs expanded (so `kind` and `apiVersion` come first). */
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
