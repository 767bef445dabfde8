import { isJsonObject } from '../codec/json/json-value.ts';
import { EMPTY_SET, type FieldSet, fieldNode, LEAF } from './fieldset.ts';
import { elementsOf } from './list-element.ts';
import { fieldElement } from './path-element.ts';
import { formOf, type ListSchema, type MapSchema, memberType, type TypeSchema } from './schema.ts';

/**
 * The set of fields that an applied configuration sets, which its manager will own (structured-merge-diff `ToFieldSet`). A struct is not a
 * member, only its fields are; members of maps and elements of lists are members.
 */
export function extractFieldSet(value: unknown, type: TypeSchema): FieldSet {
  return extract(value, type) ?? EMPTY_SET;
}

/** Undefined means that nothing is set. A leaf means that the value itself is a member. */
function extract(value: unknown, type: TypeSchema): FieldSet | undefined {
  switch (formOf(type, value)) {
    case 'scalar':
      return LEAF;
    case 'list':
      if (type.list!.relationship === 'atomic') return LEAF;
      return Array.isArray(value) ? extractElements(value, type.list!) : undefined;
    default:
      if (type.map!.relationship === 'atomic') return LEAF;
      return isJsonObject(value) ? extractMembers(value, type.map!) : undefined;
  }
}

function extractElements(values: readonly unknown[], list: ListSchema): FieldSet | undefined {
  const children: Record<string, FieldSet> = {};
  for (const [element, [value, ...doubles]] of elementsOf(list, values)) {
    children[element] = doubles.length > 0 ? LEAF : asMember(extract(value, list.element()));
  }
  return fieldNode('path', children);
}

function extractMembers(value: Record<string, unknown>, map: MapSchema): FieldSet | undefined {
  const children: Record<string, FieldSet> = {};
  for (const name of Object.keys(value)) {
    const item = value[name];
    if (item === undefined) continue;
    const declared = map.field(name);
    const type = declared?.type ?? memberType(map, name);
    const below = type === undefined ? LEAF : extract(item, type);
    const empty = item === null || (isJsonObject(item) && Object.keys(item).length === 0);
    const node = empty || declared === undefined ? asMember(below) : below;
    if (node !== undefined) children[fieldElement(name)] = node;
  }
  return fieldNode('path', children);
}

function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined || node === LEAF) return LEAF;
  return node['.'] === undefined ? (fieldNode('member', node) ?? LEAF) : node;
}
