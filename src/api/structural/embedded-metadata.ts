import { append } from '../../base/collections/append.ts';
import { isJsonObject, setKey } from '../codec/json/json-value.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldRequired } from '../field-error.ts';
import { parseGroupVersion } from '../meta/group-version-kind.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { decodeMetadata } from '../schema/decoding/typed-decoding.ts';
import { newBadRequest } from '../status-error.ts';
import { isDns1035Label } from '../validation/names.ts';
import { validateObjectMeta } from '../validation/object-meta.ts';
import { child, indexed, keyed } from './field-path.ts';
import { fieldSchema, type StructuralSchema } from './structural-schema.ts';

type Json = Record<string, unknown>;

interface ResourceKind {
  readonly kind: string;
  readonly version: string;
}

/**
 * Converts the metadata of every embedded resource to its typed form (API-234), in place. Returns the paths of unknown metadata fields;
 * throws a 400 for values of the wrong type. The caller converts the metadata of the root.
 */
export function coerceEmbedded(object: Json, schema: StructuralSchema | undefined, of: ResourceKind): string[] {
  const unknown: string[] = [];
  if (schema?.hasEmbedded === true) coerceFields(object, schema, { path: '', unknown, of });
  return unknown.sort();
}

interface Coercion {
  readonly path: string;
  readonly unknown: string[];
  readonly of: ResourceKind;
}

function coerce(value: unknown, schema: StructuralSchema | undefined, at: Coercion): void {
  if (schema?.hasEmbedded !== true || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) coerce(item, schema.items, { ...at, path: indexed(at.path, index) });
    return;
  }
  if (schema.embeddedResource) coerceResource(value as Json, at);
  coerceFields(value as Json, schema, at);
}

function coerceFields(object: Json, schema: StructuralSchema, at: Coercion): void {
  for (const [name, value] of Object.entries(object)) {
    const inner = fieldSchema(schema, name);
    if (inner === undefined) continue;
    const path = schema.properties.has(name) ? child(at.path, name) : keyed(at.path, name);
    coerce(value, inner, { ...at, path });
  }
}

function coerceResource(resource: Json, { path, unknown, of }: Coercion): void {
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name];
    if (value !== undefined && typeof value !== 'string') {
      const { field, message } = fieldInvalid(child(path, name), value, 'must be a string');
      throw newBadRequest(
        `${of.kind} in version "${of.version}" cannot be handled as a ${of.kind}: ${field}: ${message}`,
      );
    }
  }
  if (resource['metadata'] === undefined) return;
  const decoded = decodeMetadata(resource['metadata'], of);
  setKey(resource, 'metadata', decoded.metadata);
  for (const name of decoded.unknownFields) unknown.push(`${child(path, 'metadata')}.${name}`);
}

/** Findings about embedded resources (apiextensions `pkg/apiserver/schema/objectmeta`). The caller validates the root. */
export function validateEmbedded(object: Json, schema: StructuralSchema | undefined): FieldError[] {
  if (schema?.hasEmbedded !== true) return [];
  return validateFields(object, schema, '');
}

function validate(value: unknown, schema: StructuralSchema | undefined, path: string): FieldError[] {
  if (schema?.hasEmbedded !== true || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => validate(item, schema.items, indexed(path, index)));
  }
  const own = schema.embeddedResource ? validateResource(value as Json, path) : [];
  return [...own, ...validateFields(value as Json, schema, path)];
}

function validateFields(object: Json, schema: StructuralSchema, path: string): FieldError[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const inner = fieldSchema(schema, name);
    const innerPath = schema.properties.has(name) ? child(path, name) : keyed(path, name);
    return validate(value, inner, innerPath);
  });
}

function validateResource(resource: Json, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion, kind, metadata } = resource;
  if (apiVersion === undefined) errors.push(fieldRequired(child(path, 'apiVersion')));
  else if (apiVersion === '') errors.push(fieldInvalid(child(path, 'apiVersion'), apiVersion, 'must not be empty'));
  else if (typeof apiVersion !== 'string') {
    errors.push(fieldInvalid(child(path, 'apiVersion'), apiVersion, 'must be a string'));
  } else if (parseGroupVersion(apiVersion) === undefined) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    errors.push(fieldInvalid(child(path, 'apiVersion'), apiVersion, detail));
  }
  if (kind === undefined) errors.push(fieldRequired(child(path, 'kind')));
  else if (kind === '') errors.push(fieldInvalid(child(path, 'kind'), kind, 'must not be empty'));
  else if (typeof kind !== 'string') errors.push(fieldInvalid(child(path, 'kind'), kind, 'must be a string'));
  else append(errors, validateKind(kind, child(path, 'kind')));
  if (isJsonObject(metadata)) append(errors, validateMetadata(metadata as ObjectMeta, child(path, 'metadata')));
  return errors;
}

/** A kind is a label that begins with a letter, and may contain capitals. */
export function validateKind(kind: string, path: string): FieldError[] {
  const messages = isDns1035Label(kind.toLowerCase());
  if (messages.length === 0) return [];
  return [fieldInvalid(path, kind, `may have mixed case, but should otherwise match: ${messages.join(',')}`)];
}

/** A name is optional here, because embedded resources are not stored by themselves. */
function validateMetadata(metadata: ObjectMeta, path: string): FieldError[] {
  const named = (metadata.name ?? '') === '' ? { ...metadata, name: 'fakename' } : metadata;
  const rules = { namespaced: (named.namespace ?? '') !== '', nameRule: 'pathSegment', builtin: false } as const;
  return validateObjectMeta(named, rules).map((error) => ({
    ...error,
    field: `${path}${error.field.slice('metadata'.length)}`,
  }));
}
