import { isJsonObject } from '../../../api/codec/json/json-value.ts';
import type { Int64 } from '../../../base/json/exact-json.ts';

/**
 * Reads fields of objects whose type is known only by kind. A printer must show a row for any stored object, so a field that is missing or
 * has the wrong type reads as Go's zero value, and nothing throws.
 */
type Step = string | number;
export type Fields = Readonly<Record<string, unknown>>;

/** The value at a path; undefined if part of the path is missing. */
export function at(value: unknown, ...path: readonly Step[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<Step, unknown>)[step];
  }
  return current;
}

export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...path: readonly Step[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
}

/** A field of the type int64. */
export function int64At(value: unknown, ...path: readonly Step[]): Int64 {
  const found = at(value, ...path);
  return typeof found === 'bigint' ? found : numberAt(value, ...path);
}

export function booleanAt(value: unknown, ...path: readonly Step[]): boolean {
  return at(value, ...path) === true;
}

export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function mapAt(value: unknown, ...path: readonly Step[]): Fields {
  const found = at(value, ...path);
  return isJsonObject(found) ? found : {};
}

/** True for a value that would be a non-nil pointer in Go. */
export function isSet(value: unknown, ...path: readonly Step[]): boolean {
  const found = at(value, ...path);
  return found !== undefined && found !== null;
}

/** The condition of a type in `status.conditions` (or another list of them). */
export function conditionOf(conditions: readonly unknown[], type: string): unknown {
  return conditions.find((condition) => textAt(condition, 'type') === type);
}

export function isConditionTrue(conditions: readonly unknown[], type: string): boolean {
  return textAt(conditionOf(conditions, type), 'status') === 'True';
}
