import { equalJson, isJsonObject } from '../codec/json-value.ts';
import { EMPTY_SET, type FieldSet, LEAF, union } from './fieldset.ts';
import { elementsOf } from './list-element.ts';
import { fieldElement } from './path-element.ts';
import { formOf, type ListSchema, type MapSchema, memberType, type TypeSchema, type ValueForm } from './schema.ts';

/** What a write does to an object. The three sets have no member in common, except that a value may change its form. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const NO_CHANGE: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

type Kind = keyof Comparison;
/** Differences at and below one value. Undefined: none. A leaf: the value itself is one. */
interface Differences {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}

const KINDS: readonly Kind[] = ['added', 'modified', 'removed'];
const MODIFIED: Differences = { modified: LEAF };

/** Which members of the object, and of its metadata, are looked at. */
export interface ComparedFields {
  member(name: string): boolean;
  metadata(name: string): boolean;
}

/**
 * Compares two objects of one type (structured-merge-diff `Compare`). Values are compared as they are printed, so both
 * sides have to be decoded by type: an absent field and null are different things.
 *
 * @throws TypedValueError for elements of associative lists that have no key
 */
export function compareObjects(
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  { type, fields }: { readonly type: TypeSchema; readonly fields: ComparedFields },
): Comparison {
  const map = type.map!;
  const found: Differences = {};
  compareMembers(left, right, {
    found,
    compared: fields.member,
    compareItem: (name, a, b) => {
      const item = memberType(map, name);
      if (item === undefined) return undefined;
      if (name === 'metadata' && item.map !== undefined && isJsonObject(a) && isJsonObject(b)) {
        return compareMaps(a, b, item.map, fields.metadata);
      }
      return compareItems(a, b, item);
    },
  });
  if (found.added === undefined && found.modified === undefined && found.removed === undefined) return NO_CHANGE;
  return { ...NO_CHANGE, ...found };
}

/** Absent is undefined; one of the two may be. */
function compareItems(a: unknown, b: unknown, type: TypeSchema): Differences | undefined {
  if (a === b) return undefined;
  if (a === undefined) return { added: wholeValue(b, type) };
  if (b === undefined) return { removed: wholeValue(a, type) };
  const formA = a === null ? formOf(type, b) : formOf(type, a);
  const formB = b === null ? formA : formOf(type, b);
  if (formA === formB) return compareAs(formA, a, b, type);
  return merged(compareAs(formA, a, b, type), compareAs(formB, a, b, type));
}

function compareAs(form: ValueForm, a: unknown, b: unknown, type: TypeSchema): Differences | undefined {
  switch (form) {
    case 'scalar':
      return equalJson(a, b) ? undefined : MODIFIED;
    case 'list': {
      const left = Array.isArray(a) ? a : [];
      const right = Array.isArray(b) ? b : [];
      // Two empty ones are compared as they are: null is not an empty list.
      if (type.list!.relationship === 'atomic' || left.length + right.length === 0) {
        return equalJson(a, b) ? undefined : MODIFIED;
      }
      // To be equal is the rule, and costs less to see than which element is which.
      return equalJson(left, right) ? undefined : compareElements(left, right, type.list!);
    }
    default: {
      const left = isJsonObject(a) ? a : {};
      const right = isJsonObject(b) ? b : {};
      if (type.map!.relationship === 'atomic' || (isEmpty(left) && isEmpty(right))) {
        return equalJson(a, b) ? undefined : MODIFIED;
      }
      return compareMaps(left, right, type.map!, everything);
    }
  }
}

const everything = (): boolean => true;

function isEmpty(object: Record<string, unknown>): boolean {
  for (const _ in object) return false;
  return true;
}

function compareMaps(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  map: MapSchema,
  compared: (name: string) => boolean,
): Differences | undefined {
  const found: Differences = {};
  compareMembers(a, b, {
    found,
    compared,
    compareItem: (name, left, right) => {
      const type = memberType(map, name);
      return type === undefined ? undefined : compareItems(left, right, type);
    },
  });
  return found;
}

interface MemberComparison {
  readonly found: Differences;
  compared(name: string): boolean;
  compareItem(name: string, a: unknown, b: unknown): Differences | undefined;
}

function compareMembers(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  { found, compared, compareItem }: MemberComparison,
): void {
  for (const name of Object.keys(b)) {
    const right = b[name];
    const left = Object.hasOwn(a, name) ? a[name] : undefined;
    if (left === right || right === undefined || !compared(name)) continue;
    note(found, fieldElement(name), compareItem(name, left, right));
  }
  for (const name of Object.keys(a)) {
    const left = a[name];
    if (left === undefined || (Object.hasOwn(b, name) && b[name] !== undefined) || !compared(name)) continue;
    note(found, fieldElement(name), compareItem(name, left, undefined));
  }
}

function note(found: Differences, element: string, below: Differences | undefined): void {
  if (below === undefined) return;
  for (const kind of KINDS) {
    const set = below[kind];
    // Containers are written into only while they are built here, before anybody else sees them.
    if (set !== undefined) ((found[kind] ??= {}) as Record<string, FieldSet>)[element] = set;
  }
}

function compareElements(a: readonly unknown[], b: readonly unknown[], list: ListSchema): Differences | undefined {
  const left = elementsOf(list, a);
  const right = elementsOf(list, b);
  const type = list.element();
  const found: Differences = {};
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const before = left.get(element) ?? [];
    const after = right.get(element) ?? [];
    if (before.length <= 1 && after.length <= 1) {
      note(found, element, compareItems(before[0], after[0], type));
    } else if (before.length >= 2 && after.length >= 2) {
      // Doubles are one thing, as in an atomic list.
      if (!equalJson(before, after)) note(found, element, MODIFIED);
    } else if (before.length >= 2) {
      note(found, element, after.length > 0 ? { removed: LEAF, added: wholeValue(after[0], type) } : { removed: LEAF });
    } else {
      note(found, element, before.length > 0 ? { removed: wholeValue(before[0], type), added: LEAF } : { added: LEAF });
    }
  }
  return found;
}

function merged(a: Differences | undefined, b: Differences | undefined): Differences | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const result: Differences = {};
  for (const kind of KINDS) {
    const left = a[kind];
    const right = b[kind];
    if (left !== undefined && right !== undefined) result[kind] = unionOfNodes(left, right);
    else if (left !== undefined) result[kind] = left;
    else if (right !== undefined) result[kind] = right;
  }
  return result;
}

/** {@link union} of what lies below one element, where a leaf is a member and not the empty set. */
function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  return union({ 'f:': a }, { 'f:': b })['f:'] ?? LEAF;
}

/** Everything in a value that came or went as a whole: unlike in {@link extractFieldSet} structs are members too. */
function wholeValue(value: unknown, type: TypeSchema): FieldSet {
  const form = formOf(type, value);
  if (form === 'list' && type.list!.relationship === 'associative' && Array.isArray(value) && value.length > 0) {
    const node: Record<string, FieldSet> = { '.': LEAF };
    for (const [element, [first, ...doubles]] of elementsOf(type.list!, value)) {
      node[element] = doubles.length > 0 ? LEAF : wholeValue(first, type.list!.element());
    }
    return node;
  }
  if (form === 'map' && type.map!.relationship === 'granular' && isJsonObject(value) && !isEmpty(value)) {
    const node: Record<string, FieldSet> = { '.': LEAF };
    for (const name of Object.keys(value)) {
      const item = value[name];
      if (item === undefined) continue;
      const below = memberType(type.map!, name);
      node[fieldElement(name)] = below === undefined ? LEAF : wholeValue(item, below);
    }
    return node;
  }
  return LEAF;
}
