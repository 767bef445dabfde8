import { isJsonObject } from '../codec/json/json-value.ts';
import {
  compareElements,
  formatElement,
  normalizeElement,
  type PathElement,
  PathElementError,
  sortElements,
} from './path-element.ts';

/**
 * A set of paths into an object, as the tree that FieldsV1 writes (API-215), so that stored sets need no conversion. A key is a {@link
 * PathElement}; `{}` below it says that the path itself is a member, and a tree with `.` says that the path and some paths below it are
 * members. Sets are immutable, and results share parts with their operands. The path of the object itself is never a member.
 *
 * Invariant: no node is without members, and `{".":{}}` is written `{}`.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type Builder = Record<PathElement, FieldSet>;

/** A member with nothing below it. If it is the whole set, the set is empty. */
export const LEAF: FieldSet = Object.freeze({});
export const EMPTY_SET: FieldSet = LEAF;
/** The key that makes the path of its node a member. */
const SELF = '.';

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmptySet(node);
}

/** A node with these children, none of them empty; undefined for a node without members. */
export function fieldNode(own: 'member' | 'path', children: FieldSet | undefined): FieldSet | undefined {
  if (children === undefined || isEmptySet(children)) return own === 'member' ? LEAF : undefined;
  return own === 'member' ? { [SELF]: LEAF, ...children } : children;
}

/** A set of the given paths, in O(n log n). Unites halves, because a union copies its operands. */
export function fieldSetOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  return united(paths, 0, paths.length);
}

function united(paths: readonly (readonly PathElement[])[], from: number, end: number): FieldSet {
  if (end - from > 1) {
    const middle = (from + end) >>> 1;
    return union(united(paths, from, middle), united(paths, middle, end));
  }
  const path = paths[from] ?? [];
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), LEAF);
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  if (path.length === 0) return false;
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return isMember(node);
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : uniteNodes(a, b);
}

/** Both operands are nodes or both are sets, and neither is the empty set. */
function uniteNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(a)) return b[SELF] === undefined && !isEmptySet(b) ? { [SELF]: LEAF, ...b } : b;
  if (isEmptySet(b)) return a[SELF] === undefined ? { [SELF]: LEAF, ...a } : a;
  let result: Builder | undefined;
  for (const element in b) {
    const added = b[element]!;
    const present = a[element];
    const united = present === undefined ? added : element === SELF ? present : uniteNodes(present, added);
    if (united !== present) (result ??= { ...a })[element] = united;
  }
  return result ?? a;
}

/** Members of `a` that are not members of `b`. Returns `a` itself if no member is removed. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return EMPTY_SET;
  return haveCommonMember(a, b) ? (differ(a, b, 'path') ?? EMPTY_SET) : a;
}

/**
 * Allocates nothing, because most calls remove nothing. The loop goes through `a`, because `b` (the fields that a write changes) is the
 * same for all managers, and one object bounds the fields of all managers together.
 */
function haveCommonMember(a: FieldSet, b: FieldSet): boolean {
  for (const element in a) {
    const other = element === SELF ? undefined : b[element];
    if (other === undefined) continue;
    if ((isMember(a[element]!) && isMember(other)) || haveCommonMember(a[element]!, other)) return true;
  }
  return false;
}

/** `own` says whether the path of the node stays a member. Undefined if no member is left. */
function differ(a: FieldSet, b: FieldSet, own: 'member' | 'path'): FieldSet | undefined {
  let changed = own === 'path' && a[SELF] !== undefined;
  const result: Builder = {};
  let children = 0;
  for (const element in a) {
    if (element === SELF) {
      if (own === 'member') result[SELF] = LEAF;
      continue;
    }
    const node = a[element]!;
    const other = b[element];
    let left: FieldSet | undefined = node;
    if (other !== undefined) left = differ(node, other, isMember(node) && !isMember(other) ? 'member' : 'path');
    if (left !== node) changed = true;
    if (left === undefined) continue;
    result[element] = left;
    children++;
  }
  if (children === 0) return own === 'member' ? (isEmptySet(a) ? a : LEAF) : undefined;
  return changed ? result : a;
}

/** Like {@link difference}, but a member of `b` also removes everything below it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  const result: Builder = {};
  let changed = false;
  for (const element in a) {
    const node = a[element]!;
    const other = element === SELF ? undefined : b[element];
    if (other === undefined) {
      result[element] = node;
      continue;
    }
    const left = isMember(other) ? undefined : fieldNode(isMember(node) ? 'member' : 'path', without(node, other));
    if (left !== node) changed = true;
    if (left !== undefined) result[element] = left;
  }
  return changed ? result : a;
}

function without(node: FieldSet, other: FieldSet): FieldSet {
  const { [SELF]: _, ...children } = recursiveDifference(node, other);
  return children;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return a === b ? a : (intersect(a, b, 'path') ?? EMPTY_SET);
}

function intersect(a: FieldSet, b: FieldSet, own: 'member' | 'path'): FieldSet | undefined {
  const result: Builder = own === 'member' ? { [SELF]: LEAF } : {};
  let children = 0;
  for (const element in a) {
    if (element === SELF) continue;
    const node = a[element]!;
    const other = b[element];
    if (other === undefined) continue;
    const common = intersect(node, other, isMember(node) && isMember(other) ? 'member' : 'path');
    if (common === undefined) continue;
    result[element] = common;
    children++;
  }
  if (children === 0) return own === 'member' ? LEAF : undefined;
  return result;
}

/** True if both sets have the same members, in any order of elements. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let elements = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equalSets(a[element]!, other)) return false;
    elements++;
  }
  for (const _ in b) elements--;
  return elements === 0;
}

/**
 * Every member as `.spec.containers[name="x"].image`, the members of a level before those below them. A generator, because the text of all
 * members may be far larger than the set.
 */
export function* memberPaths(set: FieldSet, prefix = ''): Generator<string> {
  const elements = sortElements(Object.keys(set).filter((element) => element !== SELF));
  for (const element of elements) if (isMember(set[element]!)) yield prefix + formatElement(element);
  for (const element of elements) yield* memberPaths(set[element]!, prefix + formatElement(element));
}

export function memberCount(set: FieldSet): number {
  let count = 0;
  for (const element in set) {
    if (element === SELF) continue;
    count += (isMember(set[element]!) ? 1 : 0) + memberCount(set[element]!);
  }
  return count;
}

/** The set with its elements in the order in which Go writes them. Returns the set itself if it has that order. */
export function inOrder(set: FieldSet): FieldSet {
  if (isOrdered(set)) return set;
  const { [SELF]: own, ...children } = set;
  const result: Builder = own === undefined ? {} : { [SELF]: own };
  for (const element of sortElements(Object.keys(children))) result[element] = inOrder(children[element]!);
  return result;
}

function isOrdered(set: FieldSet): boolean {
  let previous: PathElement | undefined;
  for (const element in set) {
    if (previous !== undefined && compareSteps(previous, element) > 0) return false;
    previous = element;
    const node = set[element]!;
    if (node !== LEAF && !isOrdered(node)) return false;
  }
  return true;
}

function compareSteps(a: PathElement, b: PathElement): number {
  if (a === SELF || b === SELF) return a === b ? 0 : a === SELF ? -1 : 1;
  // A fast path, because nearly all elements are fields.
  return a.startsWith('f:') && b.startsWith('f:') ? (a < b ? -1 : 1) : compareElements(a, b);
}

/**
 * A set from a client, with each element in its canonical spelling and without elements of an unknown kind.
 *
 * @throws PathElementError
 */
export function decodeFieldsV1(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return EMPTY_SET;
  return decodeNode(fields, 'path') ?? EMPTY_SET;
}

function decodeNode(fields: unknown, own: 'member' | 'path'): FieldSet | undefined {
  if (!isJsonObject(fields)) throw new PathElementError('expected an object of path elements');
  const children: Builder = {};
  for (const [text, below] of Object.entries(fields)) {
    if (text === SELF) continue;
    const element = normalizeElement(text);
    if (element === undefined) continue;
    if (!isJsonObject(below)) throw new PathElementError('expected an object of path elements');
    const names = Object.keys(below);
    const node = decodeNode(below, names.length === 0 || names.includes(SELF) ? 'member' : 'path') ?? LEAF;
    children[element] = children[element] === undefined ? node : uniteNodes(children[element], node);
  }
  return fieldNode(own, children);
}
