import type { Int64 } from '../../base/json/exact-json.ts';
import { escapeIdentifier } from '../cel/cel-escaping.ts';
import { type CelField, type CelListType, type CelType, celTypes } from '../cel/cel-type.ts';
import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/** The maximum size of a request, for values that no schema bounds (`apis/cel.MaxRequestSizeBytes`). */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const MAX_TIME_LENGTH = 32;
const DATE_LENGTH = 12;
/** Sizes of the shortest JSON forms, with quotes: `""`, `true`, `0`, `"0"`, a date and time. */
const MIN_SIZE = { text: 2, boolean: 4, number: 1, duration: 3, dateTime: 21, container: 2 } as const;

/**
 * A schema with the CEL type of its values (apiserver `cel/common.SchemaDeclType`). Parts that expressions cannot access have no type, but
 * their own parts may still have rules.
 */
export interface TypedSchema {
  readonly props: JsonSchemaProps;
  /** Undefined if expressions cannot access the value. */
  readonly type: CelType | undefined;
  /** Bytes of the shortest value in JSON. */
  readonly minSize: number;
  readonly properties: ReadonlyMap<string, TypedSchema>;
  readonly items: TypedSchema | undefined;
  readonly values: TypedSchema | undefined;
  /** True for a resource, at the root or embedded: expressions can access the fields of every resource. */
  readonly isResource: boolean;
}

/** The CEL type of a custom resource's schema, or of a part of it. */
export function typedSchema(props: JsonSchemaProps, part: 'resource' | 'part' = 'resource'): TypedSchema {
  return typed(props, { name: 'selfType', isResource: part === 'resource' });
}

interface Place {
  /** The name of the type, if it is an object. */
  readonly name: string;
  readonly isResource: boolean;
}

function typed(props: JsonSchemaProps, { name, isResource }: Place): TypedSchema {
  const properties = new Map<string, TypedSchema>();
  for (const [property, inner] of Object.entries(props.properties ?? {})) {
    properties.set(property, typedInner(inner, `${name}.${escapeIdentifier(property) ?? property}`));
  }
  const item = itemSchema(props);
  const value = valueSchema(props);
  const parts = {
    properties: isResource ? withResourceFields(properties, name) : properties,
    items: item === undefined ? undefined : typedInner(item, `${name}.@idx`),
    values: value === undefined ? undefined : typedInner(value, `${name}.@elem`),
  };
  return { props, isResource, ...parts, properties, ...typeOf(props, parts, name) };
}

function typedInner(props: JsonSchemaProps, name: string): TypedSchema {
  return typed(props, { name, isResource: props['x-kubernetes-embedded-resource'] === true });
}

type Properties = ReadonlyMap<string, TypedSchema>;

const TEXT: JsonSchemaProps = { type: 'string' };
const RESOURCE_FIELDS: Readonly<Record<string, JsonSchemaProps>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
};

/** Expressions can access only name and generateName of the metadata, whatever the schema says. */
function withResourceFields(properties: Properties, name: string): Properties {
  const fields = Object.entries(RESOURCE_FIELDS).map(
    ([field, props]) => [field, typedInner(props, `${name}.${field}`)] as const,
  );
  return new Map([...properties, ...fields]);
}

interface Parts {
  readonly properties: Properties;
  readonly items: TypedSchema | undefined;
  readonly values: TypedSchema | undefined;
}

interface Typed {
  readonly type: CelType | undefined;
  readonly minSize: number;
}

const UNSEEN: Typed = { type: undefined, minSize: 0 };

function typeOf(props: JsonSchemaProps, parts: Parts, name: string): Typed {
  if (props['x-kubernetes-int-or-string'] === true) {
    const maxElements = props.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : bytesOf(props.maxLength);
    return { type: { ...celTypes.dyn, maxElements }, minSize: MIN_SIZE.number };
  }
  switch (props.type) {
    case 'array':
      return listType(props, parts.items);
    case 'object':
      if (parts.values !== undefined) return mapType(props, parts.values);
      return objectType(props, parts.properties, name);
    case 'string':
      return textType(props);
    case 'boolean':
      return { type: celTypes.bool, minSize: MIN_SIZE.boolean };
    case 'number':
      return { type: celTypes.double, minSize: MIN_SIZE.number };
    case 'integer':
      return { type: celTypes.int, minSize: MIN_SIZE.number };
    default:
      return UNSEEN;
  }
}

function listType(props: JsonSchemaProps, items: TypedSchema | undefined): Typed {
  if (items?.type === undefined) return UNSEEN;
  const maxElements = Math.max(Number(props.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (items.minSize + 1))), 0);
  const kept = celListType(props);
  const type = {
    kind: 'list',
    element: items.type,
    maxElements,
    ...(kept === undefined ? {} : { listType: kept }),
  } as const;
  return { type, minSize: MIN_SIZE.container };
}

function celListType(props: JsonSchemaProps): CelListType | undefined {
  switch (props['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'set' };
    case 'map':
      return { kind: 'map', keys: props['x-kubernetes-list-map-keys'] ?? [] };
    default:
      return undefined;
  }
}

function mapType(props: JsonSchemaProps, values: TypedSchema): Typed {
  if (values.type === undefined) return UNSEEN;
  const maxElements = Math.max(
    Number(props.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (values.minSize + 6))),
    0,
  );
  return { type: { kind: 'map', key: celTypes.string, value: values.type, maxElements }, minSize: MIN_SIZE.container };
}

/** The shortest value has only the required fields without a default. */
function objectType(props: JsonSchemaProps, properties: Properties, name: string): Typed {
  const fields: Record<string, CelField> = {};
  let minSize: number = MIN_SIZE.container;
  for (const [property, inner] of properties) {
    if (inner.type === undefined) continue;
    const identifier = escapeIdentifier(property);
    if (identifier !== undefined) {
      fields[identifier] = { type: inner.type, ...(identifier === property ? {} : { property }) };
    }
    if (props.required?.includes(property) === true && inner.props.default === undefined) {
      minSize += Buffer.byteLength(property) + inner.minSize + 4;
    }
  }
  return { type: { kind: 'object', name, fields }, minSize };
}

function textType({ format, maxLength, enum: values = [] }: JsonSchemaProps): Typed {
  const bounded = (type: CelType, maxElements: number, minSize: number): Typed => ({
    type: { ...type, maxElements },
    minSize,
  });
  switch (format) {
    case 'byte':
      return bounded(celTypes.bytes, Math.max(Number(maxLength ?? MAX_REQUEST_BYTES - 2), 0), MIN_SIZE.text);
    case 'duration':
      return bounded(celTypes.duration, MAX_TIME_LENGTH, MIN_SIZE.duration);
    case 'date':
      return bounded(celTypes.timestamp, DATE_LENGTH, DATE_LENGTH);
    case 'date-time':
      return bounded(celTypes.timestamp, MAX_TIME_LENGTH, MIN_SIZE.dateTime);
    default:
      break;
  }
  if (maxLength !== undefined) return bounded(celTypes.string, bytesOf(maxLength), MIN_SIZE.text);
  if (values.length === 0) return bounded(celTypes.string, MAX_REQUEST_BYTES - 2, MIN_SIZE.text);
  const lengthOf = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  const longest = values.reduce<number>((most, value) => Math.max(most, lengthOf(value)), 0);
  return bounded(celTypes.string, longest, MIN_SIZE.text);
}

/** A character takes up to four bytes. */
function bytesOf(maxLength: Int64): number {
  return Math.max(Number(maxLength), 0) * 4;
}
