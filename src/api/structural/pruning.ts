import { copyJson, setKey } from '../codec/json/json-value.ts';
import { indexed } from './field-path.ts';
import type { StructuralSchema } from './structural-schema.ts';

type Json = Record<string, unknown>;

/** Fields of every resource, whatever its schema says. */
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

export interface Pruned {
  /** A new object that shares nothing with the input. */
  readonly object: Json;
  /** Paths of removed fields, sorted: `spec.ports[0].x` (API-234). */
  readonly unknownFields: string[];
}

/**
 * The object without the fields that its schema does not declare (API-461; apiextensions `pkg/apiserver/schema/pruning`). At the root and
 * in embedded resources, apiVersion, kind and metadata stay. Without a schema, all else is removed.
 */
export function prune(object: Json, schema: StructuralSchema | undefined): Pruned {
  const pruner = new Pruner();
  const pruned = pruner.root(object, schema);
  return { object: pruned, unknownFields: pruner.unknown.sort() };
}

/** Prunes a value that is not a resource, such as a default. */
export function pruneValue(value: unknown, schema: StructuralSchema): unknown {
  return new Pruner().value(value, schema, '');
}

class Pruner {
  readonly unknown: string[] = [];

  root(object: Json, schema: StructuralSchema | undefined): Json {
    const root = { ...(schema ?? NOTHING_KNOWN), embeddedResource: true };
    return root.preserveUnknownFields ? this.#preserved(object, root, '') : this.#object(object, root, '');
  }

  value(value: unknown, schema: StructuralSchema | undefined, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (schema?.preserveUnknownFields === true) return this.#preservedValue(value, schema, path);
    if (Array.isArray(value)) {
      return value.map((item: unknown, index) => this.value(item, schema?.items, indexed(path, index)));
    }
    return this.#object(value as Json, schema ?? NOTHING_KNOWN, path);
  }

  #object(object: Json, schema: StructuralSchema, path: string): Json {
    const result: Json = {};
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (schema.embeddedResource && META_FIELDS.has(key)) {
        setKey(result, key, copyJson(value));
        continue;
      }
      const property = schema.properties.get(key);
      const values = schema.additionalProperties;
      if (property === undefined && values === undefined) {
        this.unknown.push(below(path, key));
        continue;
      }
      const inner = property ?? (values === 'any' ? undefined : values);
      setKey(result, key, this.value(value, inner, below(path, key)));
    }
    return result;
  }

  /** Keeps all fields, but prunes inside those that the schema declares. */
  #preservedValue(value: unknown, schema: StructuralSchema | undefined, path: string): unknown {
    if (schema === undefined || typeof value !== 'object' || value === null) return copyJson(value);
    if (Array.isArray(value)) {
      return value.map((item: unknown, index) => this.#preservedValue(item, schema.items, indexed(path, index)));
    }
    return this.#preserved(value as Json, schema, path);
  }

  #preserved(object: Json, schema: StructuralSchema, path: string): Json {
    const result: Json = {};
    for (const key of Object.keys(object)) {
      const value = object[key];
      const known = schema.properties.has(key) || schema.additionalProperties !== undefined;
      const meta = schema.embeddedResource && META_FIELDS.has(key);
      if (meta || !known) {
        setKey(result, key, copyJson(value));
        continue;
      }
      const values = schema.additionalProperties === 'any' ? undefined : schema.additionalProperties;
      setKey(result, key, this.value(value, schema.properties.get(key) ?? values, below(path, key)));
    }
    return result;
  }
}

function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

const NOTHING_KNOWN: StructuralSchema = {
  nullable: false,
  typed: false,
  default: undefined,
  properties: new Map(),
  additionalProperties: undefined,
  items: undefined,
  embeddedResource: false,
  preserveUnknownFields: false,
  listType: '',
  listMapKeys: [],
  hasDefaults: false,
  hasEmbedded: false,
};
