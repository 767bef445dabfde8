import { MAX_OBJECT_MEMBERS } from '../codec/json/body-values.ts';
import { getKey, isJsonObject } from '../codec/json/json-value.ts';
import { newRequestEntityTooLarge } from '../status-error.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';
import type { ListSchema } from './schema.ts';
import { TypedValueError } from './typed-value-error.ts';

/**
 * The path element that identifies a value of an associative list. An absent key has its default value, and is left out if it has no
 * default. A key that is null stays null (API-222).
 * @throws TypedValueError when the element cannot be identified
 */
export function listElementOf(list: ListSchema, value: unknown): PathElement {
  return list.keys.length > 0 ? keyedElement(list, value) : setElement(value);
}

function keyedElement(list: ListSchema, value: unknown): PathElement {
  if (value === null) throw new TypedValueError(['associative list with keys may not have a null element']);
  if (!isJsonObject(value)) throw new TypedValueError(['associative list with keys may not have non-map elements']);
  const keys: [name: string, value: unknown][] = [];
  for (const name of list.keys) {
    const given = getKey(value, name);
    const key = given === undefined ? list.element().map?.field(name)?.default : given;
    if (key !== undefined) keys.push([name, key]);
  }
  if (keys.length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
    throw new TypedValueError([
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    ]);
  }
  return keyElement(keys);
}

function setElement(value: unknown): PathElement {
  if (Array.isArray(value)) {
    throw new TypedValueError(['not supported: associative list with lists as elements']);
  }
  if (value === null) {
    throw new TypedValueError(["associative list without keys has an element that's an explicit null"]);
  }
  if (typeof value === 'object') {
    throw new TypedValueError(["associative list without keys has an element that's a map type"]);
  }
  return valueElement(value);
}

/** The elements of a list in the order of their first appearance, each with all its values. A duplicated element has more than one. */
export function elementsOf(list: ListSchema, values: readonly unknown[]): Map<PathElement, unknown[]> {
  const elements = new Map<PathElement, unknown[]>();
  for (const value of values) {
    const element = listElementOf(list, value);
    const present = elements.get(element);
    if (present === undefined) elements.set(element, [value]);
    else present.push(value);
  }
  return elements;
}

/**
 * Bounds the elements of an associative list, because each of them is a member of one object in managedFields. A list that is longer already
 * may keep its elements and lose some.
 * @throws StatusError 413
 */
export function boundElements(next: readonly unknown[], previous: readonly unknown[] = []): void {
  if (next.length > MAX_OBJECT_MEMBERS && next.length > previous.length) {
    throw newRequestEntityTooLarge(`limit is ${MAX_OBJECT_MEMBERS} elements in one list of type set or map`);
  }
}
