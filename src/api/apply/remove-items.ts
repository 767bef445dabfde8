import { isJsonObject, setKey } from '../codec/json/json-value.ts';
import { EMPTY_SET, type FieldSet, hasPath, isEmptySet, LEAF } from './fieldset.ts';
import { listElementOf } from './list-element.ts';
import { fieldElement, fieldNameOf } from './path-element.ts';
import { formOf, memberType, type TypeSchema } from './schema.ts';

/**
 * A value without the members of a set; what is left of it is shared. A list or map of which nothing is left is empty: it goes only
 * when it is a member itself. An atomic one of which a part is named is null (structured-merge-diff `RemoveItems`).
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

/**
 * The set with every declared field on the way to a member as a member of its own, so that a struct is removed when
 * everything that was said about it is.
 */
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
