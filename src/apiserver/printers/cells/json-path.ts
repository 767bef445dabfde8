import { type Int64, parseExactJson } from '../../../base/json/exact-json.ts';
import { isJsonObject } from '../../../api/codec/json/json-value.ts';

/**
 * The subset of JSONPath for printer columns (`apiextensions` allows simple paths; client-go `util/jsonpath` evaluates them): fields,
 * quoted fields, indexes, slices, `*`, `..field`, and filters that compare one path with a literal or test its existence.
 */
type Step =
  | { readonly take: 'field'; readonly name: string }
  | { readonly take: 'descendants'; readonly name: string }
  | { readonly take: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly by: number }
  | { readonly take: 'index'; readonly index: number }
  | { readonly take: 'all' }
  | { readonly take: 'matching'; readonly filter: Filter };

interface Filter {
  readonly path: JsonPath;
  readonly operator: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists';
  readonly literal: string | number | boolean | null;
}

export type JsonPath = readonly Step[];

/** The path is malformed. The message contains the column's text. */
export class JsonPathError extends Error {
  constructor(text: string, at: number) {
    super(`invalid JSONPath ${JSON.stringify(text)} at character ${at}`);
    this.name = 'JsonPathError';
  }
}

const NAME = /(?:\\.|[^\\.[\]()'"\s?@=!<>*,:])+/y;
const NUMBER = /-?\d+/y;
const LITERAL = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|true|false|null|-?\d+(?:\.\d+)?/y;
const OPERATOR = /\s*(==|!=|<=|>=|<|>)\s*/y;

/** Parses a path such as `.status.conditions[?(@.type=="Ready")].status`. A leading `$` is allowed. */
export function parseJsonPath(text: string): JsonPath {
  const reader = new Reader(text);
  reader.skip('$');
  const path = readSteps(reader);
  if (!reader.done) throw reader.error();
  return path;
}

/** All values at the path, in document order; empty if part of the path is missing. */
export function findJsonPath(path: JsonPath, root: unknown): unknown[] {
  let current: unknown[] = [root];
  for (const step of path) current = current.flatMap((value) => take(step, value));
  return current;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.#at >= this.#text.length;
  }

  skip(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.skip(token)) throw this.error();
  }

  /** `pattern` must be sticky. Returns its first group, or the match if it has none. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match[1] ?? match[0];
  }

  error(): JsonPathError {
    return new JsonPathError(this.#text, this.#at);
  }
}

function readSteps(reader: Reader): JsonPath {
  const steps: Step[] = [];
  for (;;) {
    if (reader.skip('..')) steps.push({ take: 'descendants', name: readName(reader) });
    else if (reader.skip('.')) {
      if (reader.skip('*')) steps.push({ take: 'all' });
      else if (reader.done && steps.length === 0) return steps;
      else steps.push({ take: 'field', name: readName(reader) });
    } else if (reader.skip('[')) steps.push(readBracket(reader));
    else return steps;
  }
}

function readName(reader: Reader): string {
  const name = reader.match(NAME);
  if (name === undefined) throw reader.error();
  return name.replaceAll(/\\(.)/g, '$1');
}

function readBracket(reader: Reader): Step {
  if (reader.skip('?(')) {
    const filter = readFilter(reader);
    reader.expect(')');
    reader.expect(']');
    return { take: 'matching', filter };
  }
  if (reader.skip('*')) {
    reader.expect(']');
    return { take: 'all' };
  }
  const quoted = readQuoted(reader);
  if (quoted !== undefined) {
    reader.expect(']');
    return { take: 'field', name: quoted };
  }
  const first = reader.match(NUMBER);
  if (reader.skip(']')) {
    if (first === undefined) throw reader.error();
    return { take: 'index', index: Number(first) };
  }
  reader.expect(':');
  const last = reader.match(NUMBER);
  const by = reader.skip(':') ? reader.match(NUMBER) : undefined;
  reader.expect(']');
  return {
    take: 'slice',
    from: first === undefined ? undefined : Number(first),
    to: last === undefined ? undefined : Number(last),
    by: by === undefined ? 1 : Math.max(1, Number(by)),
  };
}

function readFilter(reader: Reader): Filter {
  reader.match(/\s*/y);
  reader.expect('@');
  const path = readSteps(reader);
  const operator = reader.match(OPERATOR) as Filter['operator'] | undefined;
  if (operator === undefined) return { path, operator: 'exists', literal: null };
  const quoted = readQuoted(reader);
  if (quoted !== undefined) return { path, operator, literal: quoted };
  const literal = reader.match(LITERAL);
  if (literal === undefined) throw reader.error();
  return { path, operator, literal: parseExactJson(literal) as Filter['literal'] };
}

function readQuoted(reader: Reader): string | undefined {
  const quoted = reader.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/y);
  return quoted?.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

function take(step: Step, value: unknown): unknown[] {
  switch (step.take) {
    case 'field':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'descendants':
      return descendants(step.name, value);
    case 'all':
      return children(value);
    case 'index': {
      if (!Array.isArray(value)) return [];
      const item: unknown = value.at(step.index);
      return item === undefined ? [] : [item];
    }
    case 'slice':
      return Array.isArray(value) ? value.slice(step.from, step.to).filter((_, i) => i % step.by === 0) : [];
    case 'matching':
      return Array.isArray(value) ? value.filter((item) => holds(step.filter, item)) : [];
  }
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** The JSON parser bounds the nesting of the document, and so this recursion. */
function descendants(name: string, value: unknown): unknown[] {
  const own = isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
  return [...own, ...children(value).flatMap((child) => descendants(name, child))];
}

function holds(filter: Filter, item: unknown): boolean {
  const found = findJsonPath(filter.path, item);
  if (filter.operator === 'exists') return found.length > 0;
  const left = found[0];
  if (found.length === 0 || typeof left !== typeof filter.literal) return false;
  const right = filter.literal;
  switch (filter.operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return !isLess(right, left);
    case '>=':
      return !isLess(left, right);
  }
}

function isNumber(value: unknown): value is Int64 {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isLess(left: unknown, right: unknown): boolean {
  if (isNumber(left) && isNumber(right)) return left < right;
  return typeof left === 'string' && typeof right === 'string' && left < right;
}
