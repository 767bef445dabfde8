import { isJsonObject, setKey } from '../codec/json/json-value.ts';
import { EMPTY_SET, type FieldSet, hasPath, isEmptySet, LEAF } from './fieldset.ts';
import { listElementOf } from './list-element.ts';
import { fieldElement, fieldNameOf } from './path-element.ts';
import { formOf, memberType, type TypeSchema } from './schema.ts';

/**
 * Removes the members of a set from a value; the result shares the parts that stay. A list or map that becomes empty stays, unless it is a
 * member itself. An atomic value becomes null if the set names a part of it (structured-merge-diff `RemoveItems`).
 */
export function removeItems(value: unknown, items: FieldSet, type: TypeSchema): unknown {
  switch (formOf(type, value)) {
    case 'scalar':
      return value;
    case 'list': {
      const list = type.list!;
      if (!Array.isArray(value) || list.relationship === 'atomic') return null;
      const left = value.flatMap((item: unknown) => {
        const element = listElementOf(list, item);
        if (hasPath(items, [element])) return [];
        const below = items[element];
        return [below === undefined ? item : removeItems(item, below, list.element())];
      });
      return left;
    }
    default: {
      const map = type.map!;
      if (!isJsonObject(value) || map.relationship === 'atomic') return null;
      const left: Record<string, unknown> = {};
      for (const name of Object.keys(value)) {
        const element = fieldElement(name);
        if (hasPath(items, [element])) continue;
        const below = items[element];
        const item = memberType(map, name);
        setKey(
          left,
          name,
          below === undefined || item === undefined ? value[name] : removeItems(value[name], below, item),
        );
      }
      return left;
    }
  }
}

/** Adds every declared field on the path to a member as a member, so that a struct is removed when all its named fields are removed. */
export function withNamedFields(set: FieldSet, type: TypeSchema | undefined): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element in set) {
    const node = set[element]!;
    if (element === '.' || isEmptySet(node)) {
      result[element] = node;
      continue;
    }
    const name = fieldNameOf(element);
    const declared = name === undefined ? undefined : type?.map?.field(name);
    const below =
      name === undefined ? type?.list?.element() : (declared?.type ?? (type?.map && memberType(type.map, name)));
    const named = withNamedFields(node, below);
    result[element] = declared === undefined || named['.'] !== undefined ? named : { '.': LEAF, ...named };
  }
  return isEmptySet(result) ? EMPTY_SET : result;
}
