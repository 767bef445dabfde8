import { isJsonObject } from '../codec/json/json-value.ts';

/** A JSON value in the form of Go's `%v`, because some error texts contain a map in that form: `map[a:1 b:[x y]]`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const entries = Object.keys(value).sort();
  return `map[${entries.map((key) => `${key}:${goValue(value[key])}`).join(' ')}]`;
}
