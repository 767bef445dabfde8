import { newRequestEntityTooLarge } from '../status-error.ts';
import { skipString } from '../../base/json/json-scanner.ts';
import { MAX_JSON_DEPTH } from './json/json.ts';

/**
 * Maximum number of object members and list elements in one body. Every later step visits each of them, and only an object made to slow the
 * server reaches this number within etcd's limit of 1.5 MiB.
 */
export const MAX_BODY_VALUES = 50_000;

/** Each value takes at least two bytes of JSON, such as `1,`, so a shorter text is not counted. */
const FEWEST_BYTES = 2 * MAX_BODY_VALUES;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/**
 * Checks the number of values in a JSON text. A text that is nested too deeply is left to the parser, which refuses it.
 * @throws StatusError 413 for more values than a body may hold
 */
export function boundTextValues(text: string): void {
  if (text.length < FEWEST_BYTES) return;
  let values = 0;
  let members = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = skipString(text, i) - 1;
    else if (code === COMMA) values++;
    // Each comma stands before one value. The first member of an object has no comma, so members are counted too.
    else if (code === COLON) members++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else continue;
    if (depth > MAX_JSON_DEPTH) return;
    if (Math.max(values, members) > MAX_BODY_VALUES) throw tooManyValues();
  }
}

/** The same check for a tree that was read from `bytes` of another format. */
export function boundTreeValues(value: unknown, bytes: number): void {
  if (bytes < FEWEST_BYTES) return;
  let left = MAX_BODY_VALUES;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const items: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    left -= items.length;
    if (left < 0) throw tooManyValues();
    for (const item of items) visit(item);
  };
  visit(value);
}

export function tooManyValues(): ReturnType<typeof newRequestEntityTooLarge> {
  return newRequestEntityTooLarge(`limit is ${MAX_BODY_VALUES} values`);
}
