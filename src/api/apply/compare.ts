import { A_TURN, finished, type Steps } from '../../base/time/steps.ts';
import { equalJson, isJsonObject } from '../codec/json/json-value.ts';
import { EMPTY_SET, type FieldSet, LEAF, union } from './fieldset.ts';
import { boundElements, elementsOf } from './list-element.ts';
import { fieldElement } from './path-element.ts';
import { formOf, type ListSchema, type MapSchema, memberType, type TypeSchema, type ValueForm } from './schema.ts';

/** The effect of a write on an object. The three sets share no member, except where a value changes its form. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const NO_CHANGE: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** Every field that was added, modified or removed. */
export function touchedBy({ added, modified, removed }: Comparison): FieldSet {
  return union(union(added, modified), removed);
}

type Kind = keyof Comparison;
/** Differences at and below one value. Undefined means none; a leaf means that the value itself differs. */
interface Differences {
  added?: FieldSet;
  modified?: FieldSet;
  removed?: FieldSet;
}

const KINDS: readonly Kind[] = ['added', 'modified', 'removed'];
const MODIFIED: Differences = { modified: LEAF };

/** Which members of the object, and of its metadata, are compared. */
export interface ComparedFields {
  member(name: string): boolean;
  metadata(name: string): boolean;
}

/**
 * Compares two objects of one type (structured-merge-diff `Compare`). Both sides must be decoded by type, because an absent field and null
 * count as different.
 *
 * @throws TypedValueError for elements of associative lists that have no key
 * @throws StatusError 413 for an associative list that `right` makes too long
 */
export function compareObjects(left: Fields, right: Fields, how: ComparedObjects): Comparison {
  return finished(compareInSteps(left, right, how));
}

/** The same, with a pause after each part of the object. */
export function* compareInSteps(left: Fields, right: Fields, { type, fields }: ComparedObjects): Steps<Comparison> {
  const found = yield* compareParts(left, right, {
    map: type.map!,
    compared: fields.member,
    metadata: fields.metadata,
  });
  return found === undefined ? NO_CHANGE : { ...NO_CHANGE, ...found };
}

interface ComparedObjects {
  readonly type: TypeSchema;
  readonly fields: ComparedFields;
}

/** An absent value is undefined. At most one of the two values is absent. */
function compareItems(a: unknown, b: unknown, type: TypeSchema): Differences | undefined {
  if (a === b) return undefined;
  if (a === undefined) return { added: wholeValue(b, type, 'bounded') };
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
      // Two empty lists differ if only one of them is null.
      if (type.list!.relationship === 'atomic' || left.length + right.length === 0) {
        return equalJson(a, b) ? undefined : MODIFIED;
      }
      // Most lists are equal, and an equality test costs less than a match of elements.
      return equalJson(left, right) ? undefined : compareElements(left, right, type.list!);
    }
    default: {
      const left = isJsonObject(a) ? a : {};
      const right = isJsonObject(b) ? b : {};
      if (type.map!.relationship === 'atomic' || (isEmpty(left) && isEmpty(right))) {
        return equalJson(a, b) ? undefined : MODIFIED;
      }
      return compareMaps(left, right, type.map!);
    }
  }
}

function isEmpty(object: Record<string, unknown>): boolean {
  for (const _ in object) return false;
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

/** An object, or its metadata. */
interface ComparedParts {
  readonly map: MapSchema;
  compared(name: string): boolean;
  /** Members of the object's own metadata; absent in metadata itself. */
  metadata?(name: string): boolean;
}

function* compareParts(a: Fields, b: Fields, of: ComparedParts): Steps<Differences | undefined> {
  let found: Differences | undefined;
  for (const name of new Set([...Object.keys(b), ...Object.keys(a)])) {
    const left = ownMember(a, name);
    const right = ownMember(b, name);
    if (left === right || !of.compared(name)) continue;
    const type = memberType(of.map, name);
    if (type === undefined) continue;
    const below =
      of.metadata !== undefined && name === 'metadata' && isJsonObject(left) && isJsonObject(right)
        ? yield* compareParts(left, right, { map: type.map!, compared: of.metadata })
        : compareItems(left, right, type);
    if (below !== undefined) note((found ??= {}), fieldElement(name), below);
    yield typeof right === 'object' ? A_TURN : 1;
  }
  return found;
}

function compareMaps(a: Fields, b: Fields, map: MapSchema): Differences | undefined {
  let found: Differences | undefined;
  for (const name in b) {
    const right = b[name];
    const left = ownMember(a, name);
    if (left === right || right === undefined) continue;
    const below = compareMember(name, left, { right, map });
    if (below !== undefined) note((found ??= {}), fieldElement(name), below);
  }
  for (const name in a) {
    const left = a[name];
    if (left === undefined || ownMember(b, name) !== undefined) continue;
    const below = compareMember(name, left, { right: undefined, map });
    if (below !== undefined) note((found ??= {}), fieldElement(name), below);
  }
  return found;
}

/** Inherited names count as absent, because a ConfigMap may or may not have a key `constructor`. */
function ownMember(object: Fields, name: string): unknown {
  const value = object[name];
  if (typeof value !== 'function' && name !== '__proto__') return value;
  return Object.hasOwn(object, name) ? value : undefined;
}

function compareMember(
  name: string,
  left: unknown,
  { right, map }: { readonly right: unknown; readonly map: MapSchema },
): Differences | undefined {
  const type = memberType(map, name);
  return type === undefined ? undefined : compareItems(left, right, type);
}

function note(found: Differences, element: string, below: Differences): void {
  for (const kind of KINDS) {
    const set = below[kind];
    // Containers are changed only while this function builds them, before a caller can see them.
    if (set !== undefined) ((found[kind] ??= {}) as Record<string, FieldSet>)[element] = set;
  }
}

function compareElements(a: readonly unknown[], b: readonly unknown[], list: ListSchema): Differences | undefined {
  boundElements(b, a);
  const left = elementsOf(list, a);
  const right = elementsOf(list, b);
  let found: Differences | undefined;
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const below = compareElement(left.get(element) ?? [], right.get(element) ?? [], list.element());
    if (below !== undefined) note((found ??= {}), element, below);
  }
  return found;
}

/** All values of one element before and after. Several values are compared as a whole, as in an atomic list. */
function compareElement(
  before: readonly unknown[],
  after: readonly unknown[],
  type: TypeSchema,
): Differences | undefined {
  if (before.length <= 1 && after.length <= 1) return compareItems(before[0], after[0], type);
  if (before.length >= 2 && after.length >= 2) return equalJson(before, after) ? undefined : MODIFIED;
  if (before.length >= 2) {
    return after.length > 0 ? { removed: LEAF, added: wholeValue(after[0], type, 'bounded') } : { removed: LEAF };
  }
  return before.length > 0 ? { removed: wholeValue(before[0], type), added: LEAF } : { added: LEAF };
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

/** {@link union} of the sets below one element. A leaf here is a member, not the empty set. */
function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  return union({ 'f:': a }, { 'f:': b })['f:'] ?? LEAF;
}

/** Every path in a value that was added or removed as a whole. Unlike in {@link extractFieldSet}, structs are members too. */
function wholeValue(value: unknown, type: TypeSchema, lists: 'bounded' | 'any' = 'any'): FieldSet {
  const form = formOf(type, value);
  if (form === 'list' && type.list!.relationship === 'associative' && Array.isArray(value) && value.length > 0) {
    if (lists === 'bounded') boundElements(value);
    const node: Record<string, FieldSet> = { '.': LEAF };
    for (const [element, [first, ...doubles]] of elementsOf(type.list!, value)) {
      node[element] = doubles.length > 0 ? LEAF : wholeValue(first, type.list!.element(), lists);
    }
    return node;
  }
  if (form === 'map' && type.map!.relationship === 'granular' && isJsonObject(value)) {
    const names = Object.keys(value);
    if (names.length === 0) return LEAF;
    const node: Record<string, FieldSet> = { '.': LEAF };
    // The set is written in this order.
    for (const name of names.sort()) {
      const item = value[name];
      if (item === undefined) continue;
      const below = memberType(type.map!, name);
      node[fieldElement(name)] = below === undefined ? LEAF : wholeValue(item, below, lists);
    }
    return node;
  }
  return LEAF;
}
