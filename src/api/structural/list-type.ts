import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldDuplicate, fieldInvalid } from '../field-error.ts';
import { child, indexed, keyed } from './field-path.ts';
import { fieldSchema, type StructuralSchema } from './structural-schema.ts';

type Json = Record<string, unknown>;

/** Duplicates in lists that are sets or maps (API-472; apiextensions `pkg/apiserver/schema/listtype`). */
export function validateListTypes(object: Json, schema: StructuralSchema | undefined): FieldError[] {
  return schema === undefined ? [] : fields(object, schema, '');
}

function fields(object: Json, schema: StructuralSchema, path: string): FieldError[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const inner = fieldSchema(schema, name);
    const innerPath = schema.properties.has(name) ? child(path, name) : keyed(path, name);
    return inner === undefined ? [] : validate(value, inner, innerPath);
  });
}

function validate(value: unknown, schema: StructuralSchema, path: string): FieldError[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!Array.isArray(value)) return fields(value as Json, schema, path);
  const list: readonly unknown[] = value;
  const errors = listErrors(list, schema, path);
  const { items } = schema;
  if (items !== undefined) {
    for (const [index, item] of list.entries()) append(errors, validate(item, items, indexed(path, index)));
  }
  return errors;
}

function listErrors(list: readonly unknown[], schema: StructuralSchema, path: string): FieldError[] {
  if (schema.listType === 'set') return duplicates(list, path);
  if (schema.listType !== 'map') return [];
  const odd = list.findIndex((item) => item !== null && (typeof item !== 'object' || Array.isArray(item)));
  if (odd >= 0) {
    return [fieldInvalid(indexed(path, odd), list[odd], 'must be an object for an array of list-type map')];
  }
  return duplicates(
    list.map((item) => keysOf(item as Json | null, schema.listMapKeys)),
    path,
  );
}

/** The values of an item that must be unique together. */
function keysOf(item: Json | null, names: readonly string[]): Json {
  const keys: Json = {};
  for (const name of names) if (item !== null && Object.hasOwn(item, name)) keys[name] = item[name];
  return keys;
}

/** Reports each duplicate value once, at its second occurrence. */
function duplicates(values: readonly unknown[], path: string): FieldError[] {
  const times = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [index, value] of values.entries()) {
    const text = canonical(value);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    if (before === 1) errors.push(fieldDuplicate(indexed(path, index), value));
  }
  return errors;
}

/** A text that is equal for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return stringifyExactJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
