import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { equalJson, isJsonObject } from '../codec/json/json-value.ts';
import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/** A value and its old value, matched by the schema (apiserver `cel/common.CorrelatedObject`). */
export interface Correlated {
  readonly value: unknown;
  readonly old: unknown;
  readonly props: JsonSchemaProps;
}

/** The value of a field before and now; undefined if the field is new or its old value is unknown. */
export function correlateField({ value, old, props }: Correlated, name: string): Correlated | undefined {
  if (!isJsonObject(value) || !isJsonObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name)) {
    return undefined;
  }
  const property = Object.hasOwn(props.properties ?? {}, name) ? props.properties?.[name] : valueSchema(props);
  return property === undefined ? undefined : { value: value[name], old: old[name], props: property };
}

/** Only items of lists with keys (`map`) have an old value. */
export function correlateItem({ value, old, props }: Correlated, index: number): Correlated | undefined {
  const items = itemSchema(props);
  if (!Array.isArray(value) || !Array.isArray(old) || items === undefined) return undefined;
  const before = oldItems(old, props)(value[index]);
  return before === undefined ? undefined : { value: value[index], old: before, props: items };
}

/** Finds an item by its keys; undefined if the list is not a map, or had no such item. */
export function oldItems(old: unknown, props: JsonSchemaProps): (item: unknown) => unknown {
  const keys = props['x-kubernetes-list-map-keys'] ?? [];
  if (!Array.isArray(old) || props['x-kubernetes-list-type'] !== 'map' || keys.length === 0) return () => undefined;
  const defaults = itemSchema(props)?.properties ?? {};
  const keyOf = (item: unknown): string | undefined => {
    if (!isJsonObject(item)) return undefined;
    return stringifyExactJson(keys.map((key) => item[key] ?? defaults[key]?.default ?? null));
  };
  const known = new Map<string, unknown>();
  for (const item of old) {
    const key = keyOf(item);
    if (key !== undefined && !known.has(key)) known.set(key, item);
  }
  return (item) => known.get(keyOf(item) ?? '');
}

/** True if nothing has changed. The order of items with keys does not count. */
export function isUnchanged(correlated: Correlated): boolean {
  const { value, old, props } = correlated;
  if (Array.isArray(value) && Array.isArray(old)) {
    if (value.length !== old.length) return false;
    if (props['x-kubernetes-list-type'] !== 'map') return equalJson(value, old);
    const before = oldItems(old, props);
    const items = itemSchema(props) ?? {};
    return value.every((item) => {
      const match = before(item);
      return match !== undefined && isUnchanged({ value: item, old: match, props: items });
    });
  }
  if (isJsonObject(value) && isJsonObject(old)) {
    const names = Object.keys(value);
    return (
      names.length === Object.keys(old).length &&
      names.every((name) => {
        const inner = correlateField(correlated, name);
        return inner === undefined ? equalUnknown(value, old, name) : isUnchanged(inner);
      })
    );
  }
  return equalJson(value, old);
}

/** Fields without a schema are compared only if the schema preserves unknown fields; upstream counts them as changed. */
function equalUnknown(
  value: Readonly<Record<string, unknown>>,
  old: Readonly<Record<string, unknown>>,
  name: string,
): boolean {
  return Object.hasOwn(old, name) && equalJson(value[name], old[name]);
}
