import { newRequestEntityTooLarge, type StatusError } from '../../status-error.ts';
import { skipString } from '../../../base/json/json-scanner.ts';
import { MAX_JSON_DEPTH } from './json.ts';

/**
 * Maximum number of object members and list elements in one body. Every later step visits each of them, and only an object made to slow the
 * server reaches this number within etcd's limit of 1.5 MiB.
 */
export const MAX_BODY_VALUES = 50_000;

/**
 * Maximum number of members of one object. V8 keeps an object of more than a thousand members as a hash table, which takes a microsecond and
 * more for each member whenever the object is parsed, copied or compared.
 */
export const MAX_OBJECT_MEMBERS = 10_000;

/** Each member takes at least two bytes in any format, such as `a,` in YAML, so a shorter text is not counted. */
const FEWEST_BYTES = 2 * MAX_OBJECT_MEMBERS;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/**
 * Checks the number of values in a JSON text. A text that is nested too deeply is left to the parser, which refuses it.
 * @throws StatusError 413 for more values than a body may hold, or more members than one object may have
 */
export function boundTextValues(text: string): void {
  if (text.length < FEWEST_BYTES) return;
  let values = 0;
  let members = 0;
  /** Members of each open object or list, with the innermost last. */
  const open: number[] = [0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = skipString(text, i) - 1;
    else if (code === COMMA) values++;
    // Each comma stands before one value. The first member of an object has no comma, so members are counted too.
    else if (code === COLON) {
      members++;
      if (++open[open.length - 1]! > MAX_OBJECT_MEMBERS) throw tooManyMembers();
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) open.push(0);
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && open.length > 1) open.pop();
    else continue;
    if (open.length > MAX_JSON_DEPTH + 1) return;
    if (Math.max(values, members) > MAX_BODY_VALUES) throw tooManyValues();
  }
}

/** The same check for a tree that was read from `bytes` of another format. */
export function boundTreeValues(value: unknown, bytes: number): void {
  if (bytes < FEWEST_BYTES) return;
  const refusal = treeRefusal(value);
  if (refusal !== undefined) throw refusal;
}

/** The reason for which a tree has too many values, or undefined. */
export function treeRefusal(value: unknown): StatusError | undefined {
  let left = MAX_BODY_VALUES;
  const visit = (node: unknown): StatusError | undefined => {
    if (typeof node !== 'object' || node === null) return undefined;
    if (Array.isArray(node)) {
      left -= node.length;
      if (left < 0) return tooManyValues();
      for (const item of node) {
        const refusal = visit(item);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    }
    let members = 0;
    for (const name in node) {
      if (++members > MAX_OBJECT_MEMBERS) return tooManyMembers();
      if (--left < 0) return tooManyValues();
      const refusal = visit((node as Record<string, unknown>)[name]);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
  return visit(value);
}

export function tooManyValues(): StatusError {
  return newRequestEntityTooLarge(`limit is ${MAX_BODY_VALUES} values`);
}

export function tooManyMembers(): StatusError {
  return newRequestEntityTooLarge(`limit is ${MAX_OBJECT_MEMBERS} members in one object`);
}
