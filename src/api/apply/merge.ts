import { isJsonObject, setKey } from '../codec/json/json-value.ts';
import { elementsOf, listElementOf } from './list-element.ts';
import type { PathElement } from './path-element.ts';
import { formOf, type ListSchema, type MapSchema, memberType, type TypeSchema } from './schema.ts';

/**
 * Merges a configuration into an object: a value in the configuration wins, and all else stays (structured-merge-diff `Merge`). A null in
 * the configuration counts only for scalars and atomic values. The result shares parts with both.
 * @throws TypedValueError for elements of associative lists that have no key
 */
export function mergeTyped(live: unknown, config: unknown, type: TypeSchema): unknown {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const form = config === null ? formOf(type, live) : formOf(type, config);
  if (form === 'list' && type.list!.relationship === 'associative') {
    const left = Array.isArray(live) ? live : [];
    const right = Array.isArray(config) ? config : [];
    // If both are empty, the result is the configuration's value, null or a list.
    return left.length + right.length === 0 ? config : mergeLists(left, right, type.list!);
  }
  if (form === 'map' && type.map!.relationship === 'granular') {
    const left = isJsonObject(live) ? live : {};
    const right = isJsonObject(config) ? config : {};
    return Object.keys(left).length + Object.keys(right).length === 0 ? config : mergeMaps(left, right, type.map!);
  }
  return config;
}

function mergeMaps(
  live: Record<string, unknown>,
  config: Record<string, unknown>,
  map: MapSchema,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(live)) setKey(result, name, live[name]);
  for (const name of Object.keys(config)) {
    const type = memberType(map, name);
    const present = Object.hasOwn(live, name) ? live[name] : undefined;
    setKey(result, name, type === undefined ? config[name] : mergeTyped(present, config[name], type));
  }
  return result;
}

/**
 * Orders elements as the configuration does, and keeps elements that it does not name in their position relative to the others. An element
 * that the object has twice and the configuration once becomes one element.
 */
function mergeLists(live: readonly unknown[], config: readonly unknown[], list: ListSchema): unknown[] {
  const left = live.map((value) => listElementOf(list, value));
  const right = config.map((value) => listElementOf(list, value));
  const known = elementsOf(list, live);
  const wanted = new Set(right);
  const shared = right.filter((element) => known.has(element));
  const done = new Set<PathElement>();
  const result: unknown[] = [];
  const type = list.element();

  const emit = (at: number): void => {
    const element = right[at]!;
    done.add(element);
    // A duplicated element has no single value to merge with.
    const values = known.get(element) ?? [];
    result.push(mergeTyped(values.length === 1 ? values[0] : undefined, config[at], type));
  };

  let l = 0;
  let r = 0;
  let nextShared = 0;
  while (l < left.length || r < right.length) {
    const element = left[l];
    if (element !== undefined && r < right.length) {
      if (element === right[r]) {
        emit(r);
        l++;
        r++;
        nextShared++;
        continue;
      }
      // The configuration names this element later, so it is added at that position.
      if (wanted.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++;
        continue;
      }
    }
    if (element !== undefined) {
      if (!wanted.has(element)) {
        result.push(live[l]);
        l++;
        continue;
      }
      if (done.has(element)) l++;
    }
    if (r < right.length) {
      emit(r);
      if (shared[nextShared] === right[r]) nextShared++;
      r++;
    }
  }
  return result;
}
