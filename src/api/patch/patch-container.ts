import { getKey, isJsonObject, setKey } from '../codec/json/json-value.ts';
import { quoted } from '../meta/quoted.ts';

/**
 * The value that an operation of a JSON patch finds and changes. Names, indexes and texts are those of kube-apiserver's library
 * (`evanphx/json-patch` v4), which is less strict than RFC 6902: an index may count from the end, and a missing key reads as null.
 */
export type Container = unknown[] | Record<string, unknown>;

/** The target of a path: an existing container, and a key in it that may be missing. */
export interface Place {
  readonly container: Container;
  readonly key: string;
}

export const MISSING = 'missing value';

/** The reason why an operation does not apply. The caller prefixes the operation. */
export class PatchProblem extends Error {}

/** An index in Go's signed decimal form: `+1` and `01` are valid, `1e0` and `-` are not. */
const INDEX = /^[+-]?[0-9]+$/;

/**
 * Undefined if there is no such container. Text before the first slash is ignored, and a path without a slash has no target. Reads a path
 * only as far as it exists, because it may have a million steps.
 */
export function findPlace(document: unknown, path: string): Place | undefined {
  const last = path.lastIndexOf('/');
  let slash = path.indexOf('/');
  if (slash < 0) return undefined;
  let container = document;
  while (slash < last) {
    if (!isContainer(container)) return undefined;
    const next = path.indexOf('/', slash + 1);
    container = childOf(container, unescaped(path.slice(slash + 1, next)));
    slash = next;
  }
  return isContainer(container) ? { container, key: unescaped(path.slice(last + 1)) } : undefined;
}

/** Null for a missing key. */
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

/** Insertion allows one index more than there are elements, for the end of the list. */
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

/** A step of a path (RFC 6901). Splitting is several times as fast as replacing where there are a million escapes. */
function unescaped(step: string): string {
  return step.includes('~') ? step.split('~1').join('/').split('~0').join('~') : step;
}
