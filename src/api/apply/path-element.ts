import { type Int64, parseExactJson } from '../../base/json/exact-json.ts';
import { isJsonObject } from '../codec/json/json-value.ts';
import { marshalled, quoted } from '../meta/quoted.ts';

/**
 * One step of a path into an object, in the canonical spelling of FieldsV1 (API-215). Two steps are the same if their texts are the same:
 *
 * | text | step |
 * |---|---|
 * | `f:<name>` | member of a map or struct |
 * | `k:{"<key>":<value>,…}` | element of a list of type `map`; keys in the order of the alphabet |
 * | `v:<value>` | element of a list of type `set` |
 * | `i:<index>` | element of an atomic list; written by nobody, read for completeness |
 */
export type PathElement = string;

/** A path element that cannot be read. Upstream ignores elements of an unknown kind, and refuses other unreadable ones. */
export class PathElementError extends Error {
  override readonly name = 'PathElementError';
}

/** Element texts by name: most objects have the same names, and building each text again would be the main cost. */
const MAX_KNOWN_NAMES = 4096;
const knownNames = new Map<string, PathElement>();

export function fieldElement(name: string): PathElement {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.set(name, element);
  return element;
}

/** `keys` are in alphabetical order; there is at least one. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  let text = 'k:{';
  for (const [name, value] of keys) {
    text += text === 'k:{' ? `${encoded(name)}:${encoded(value)}` : `,${encoded(name)}:${encoded(value)}`;
  }
  return `${text}}`;
}

export function valueElement(value: unknown): PathElement {
  return `v:${encoded(value)}`;
}

const PLAIN_TEXT = /^[\w./-]*$/;

function encoded(value: unknown): string {
  return typeof value === 'string' && PLAIN_TEXT.test(value) ? `"${value}"` : marshalled(value);
}

/** The name of the member; only for an `f:` element. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * A path element from a client in its canonical spelling; undefined for a kind of element of a later version.
 * @throws PathElementError
 */
export function normalizeElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new PathElementError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'k': {
      const keys = parsed(text);
      if (!isJsonObject(keys)) throw new PathElementError(`not an object of keys: ${text}`);
      return keyElement(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    case 'v':
      return valueElement(parsed(text));
    case 'i':
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new PathElementError(`not an index: ${text}`);
      return `i:${Number(text.slice(2))}`;
    default:
      return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text.slice(2));
  } catch {
    throw new PathElementError(`not JSON: ${text}`);
  }
}

/** The element as conflicts and errors show it: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function formatElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(parseExactJson(rest) as Record<string, unknown>)
        .map(([key, value]) => `${key}=${formatValue(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${formatValue(parseExactJson(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

/** Formats a value as structured-merge-diff `value.ToString` does. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(',')}]`;
  if (isJsonObject(value)) {
    return Object.entries(value)
      .map(([key, item]) => `${key}=${formatValue(item)}`)
      .join('');
  }
  return String(value);
}

/** The order of FieldsV1: fields, then keys, values, indexes. Within each kind, numbers come before strings and strings before booleans. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  return compareRead(readElement(a), readElement(b));
}

/** Sorts by {@link compareElements}. Reads each element once, because a list may have a hundred thousand. */
export function sortElements(elements: readonly PathElement[]): PathElement[] {
  return elements
    .map(readElement)
    .sort(compareRead)
    .map(({ element }) => element);
}

/** `held` has the keys in their order, or the value. It is empty for a field, whose text suffices. */
interface ReadElement {
  readonly element: PathElement;
  readonly held: unknown;
}

function readElement(element: PathElement): ReadElement {
  const kind = element[0];
  if (kind === 'f') return { element, held: undefined };
  const held: unknown = parseExactJson(element.slice(2));
  return { element, held: kind === 'k' ? Object.entries(held as Record<string, unknown>) : held };
}

function compareRead(a: ReadElement, b: ReadElement): number {
  if (a.element === b.element) return 0;
  const kind = a.element[0];
  if (kind !== b.element[0]) return 'fkvi'.indexOf(kind ?? '') - 'fkvi'.indexOf(b.element[0] ?? '');
  if (kind === 'f') return a.element < b.element ? -1 : 1;
  return kind === 'k' ? compareKeys(a.held as Key[], b.held as Key[]) : compareValues(a.held, b.held);
}

type Key = readonly [name: string, value: unknown];

function compareKeys(left: readonly Key[], right: readonly Key[]): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [leftName, leftValue] = left[i]!;
    const [rightName, rightValue] = right[i]!;
    if (leftName !== rightName) return leftName < rightName ? -1 : 1;
    const order = compareValues(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const RANKS = ['number', 'string', 'boolean', 'object'];

function rankOf(value: unknown): number {
  return RANKS.indexOf(typeof value === 'bigint' ? 'number' : typeof value);
}

function isNumber(value: unknown): value is Int64 {
  return typeof value === 'number' || typeof value === 'bigint';
}

function compareValues(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === typeof b && typeof a !== 'object') return a === b ? 0 : String(a) < String(b) ? -1 : 1;
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  const left = marshalled(a);
  const right = marshalled(b);
  return left === right ? 0 : left < right ? -1 : 1;
}
