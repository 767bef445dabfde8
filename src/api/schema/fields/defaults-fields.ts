/**
 * Access to fields of decoded objects for defaulting. The objects come from `decodeTyped`, so a field that is there has
 * the JSON type of its declaration; what is missing may be missing at any level.
 */
export type Fields = Record<string, unknown>;

/** For pointer fields: absent and null are unset, every value counts. */
export function setIfUnset(object: Fields, field: string, value: unknown): void {
  if (object[field] === undefined || object[field] === null) object[field] = value;
}

/** For plain fields: their zero value is unset too. */
export function setIfZero(object: Fields, field: string, value: unknown): void {
  const current = object[field];
  if (current === undefined || current === null || current === '' || current === 0) object[field] = value;
}

/** The nested object, if it is there. */
export function objectAt(object: Fields | undefined, field: string): Fields | undefined {
  const value = object?.[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The nested object, made if it is not there. */
export function ensureObjectAt(object: Fields, field: string): Fields {
  const present = objectAt(object, field);
  if (present !== undefined) return present;
  const made: Fields = {};
  object[field] = made;
  return made;
}

/** The objects of a list, which is the list itself if it has nothing else; nothing if the list is absent. */
export function objectsAt(object: Fields | undefined, field: string): Fields[] {
  const value = object?.[field];
  if (!Array.isArray(value)) return [];
  return value.every(isObject) ? (value as Fields[]) : value.filter(isObject);
}

function isObject(item: unknown): item is Fields {
  return typeof item === 'object' && item !== null;
}

/** The text, empty where there is none. */
export function textAt(object: Fields | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === 'string' ? value : '';
}

/** The texts of a list; nothing if the list is absent. */
export function listOfTextsAt(object: Fields | undefined, field: string): readonly string[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((item: unknown): item is string => typeof item === 'string') : [];
}

export function numberAt(object: Fields | undefined, field: string): number | undefined {
  const value = object?.[field];
  return typeof value === 'number' ? value : undefined;
}

/** True where a pointer of Go is not nil. */
export function isGiven(object: Fields | undefined, field: string): boolean {
  return object?.[field] !== undefined && object[field] !== null;
}

/** True where Go has a nil or empty map. */
export function isEmptyMap(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}
