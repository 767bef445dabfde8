import { Pointer } from 'rfc6902';

import { getKey, isJsonObject, setKey } from '../codec/json/json-value.ts';
import { quoted } from '../meta/quoted.ts';

/**
 * The value that an operation of a JSON patch finds and changes. Names, indexes and texts are those of the library that kube-apiserver uses
 * (`evanphx/json-patch` v4), which is milder than RFC 6902: an index may count from the end, and a key that is missing is read as null.
 */
export type Container = unknown[] | Record<string, unknown>;

/** Where a path leads: a container that exists, and the name of a place in it that need not. */
export interface Place {
  readonly container: Container;
  readonly key: string;
}

export const MISSING = 'missing value';

/** Why an operation does not apply; the words before it say which one. */
export class PatchProblem extends Error {}

/** Go's signed decimal number of an index: `+1` and `01` are ones, `1e0` and `-` are not. */
const INDEX = /^[+-]?[0-9]+$/;

/** Undefined where no container is: what is before the first slash says nothing, and without a slash there is no place. */
export function findPlace(document: unknown, path: string): Place | undefined {
  const slash = path.indexOf('/');
  if (slash < 0) return undefined;
  const tokens = tokensOf(path.slice(slash));
  const key = tokens.pop() ?? '';
  let container = document;
  for (const token of tokens) {
    if (!isContainer(container)) return undefined;
    container = childOf(container, token);
  }
  return isContainer(container) ? { container, key } : undefined;
}

/** Null for a key that is missing. */
export function valueAt({ container, key }: Place): unknown {
  return Array.isArray(container) ? container[indexOf(container, key)] : (getKey(container, key) ?? null);
}

export function replaceAt({ container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) container[indexOf(container, key)] = value;
  else setKey(container, key, value);
}

export function addAt({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setKey(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(insertionIndex(container, key), 0, value);
}

export function removeAt({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(container, key), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new PatchProblem(`Unable to remove nonexistent key: ${key}: ${MISSING}`);
  delete container[key];
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isJsonObject(value);
}

function childOf(container: Container, token: string): unknown {
  if (!Array.isArray(container)) return getKey(container, token);
  if (!INDEX.test(token)) return undefined;
  return container.at(Number(token));
}

function indexOf(list: readonly unknown[], key: string): number {
  return within(numberOf(key), list.length);
}

/** One more place than there are elements, the last of them at the end. */
function insertionIndex(list: readonly unknown[], key: string): number {
  if (!INDEX.test(key)) {
    throw new PatchProblem(`value was not a proper array index: '${key}': ${notANumber(key)}`);
  }
  return within(Number(key), list.length + 1);
}

function within(index: number, places: number): number {
  if (index >= places || index < -places) {
    throw new PatchProblem(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return index < 0 ? index + places : index;
}

function numberOf(key: string): number {
  if (!INDEX.test(key)) throw new PatchProblem(notANumber(key));
  return Number(key);
}

function notANumber(key: string): string {
  return `strconv.Atoi: parsing ${quoted(key)}: invalid syntax`;
}

function tokensOf(path: string): string[] {
  return Pointer.fromJSON(path).tokens.slice(1);
}
