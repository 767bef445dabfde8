import type { Int64 } from '../../../base/json/exact-json.ts';

/**
 * Access to fields of decoded objects for defaulting. The objects come from `decodeTyped`, so a present field has its declared JSON type.
 * At any level a field may be absent.
 */
export type Fields = Record<string, unknown>;

/** Sets a pointer field if it is absent or null; every other value stays. */
export function setIfUnset(object: Fields, field: string, value: unknown): void {
  if (object[field] === undefined || object[field] === null) object[field] = value;
}

/** Sets a plain field if it has its zero value or is absent. */
export function setIfZero(object: Fields, field: string, value: unknown): void {
  const current = object[field];
  if (current === undefined || current === null || current === '' || current === 0) object[field] = value;
}

/** The nested object, or undefined. */
export function objectAt(object: Fields | undefined, field: string): Fields | undefined {
  const value = object?.[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The nested object, created if absent. */
export function ensureObjectAt(object: Fields, field: string): Fields {
  const present = objectAt(object, field);
  if (present !== undefined) return present;
  const made: Fields = {};
  object[field] = made;
  return made;
}

/** The objects in a list. Returns the list itself if all elements are objects, and an empty list if it is absent. */
export function objectsAt(object: Fields | undefined, field: string): Fields[] {
  const value = object?.[field];
  if (!Array.isArray(value)) return [];
  return value.every(isObject) ? (value as Fields[]) : value.filter(isObject);
}

function isObject(item: unknown): item is Fields {
  return typeof item === 'object' && item !== null;
}

/** The string, or an empty string. */
export function textAt(object: Fields | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === 'string' ? value : '';
}

/** The strings of a list, or an empty list. */
export function listOfTextsAt(object: Fields | undefined, field: string): readonly string[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((item: unknown): item is string => typeof item === 'string') : [];
}

export function numberAt(object: Fields | undefined, field: string): number | undefined {
  const value = object?.[field];
  return typeof value === 'number' ? value : undefined;
}

/** A field of the type int64. */
export function int64At(object: Fields | undefined, field: string): Int64 | undefined {
  const value = object?.[field];
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
}

/** True if a Go pointer would not be nil. */
export function isGiven(object: Fields | undefined, field: string): boolean {
  return object?.[field] !== undefined && object[field] !== null;
}

/** True if Go would have a nil or empty map. */
export function isEmptyMap(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}
