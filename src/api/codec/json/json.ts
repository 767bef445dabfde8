import { newBadRequest } from '../../status-error.ts';
import { scanDuplicateFields } from './duplicate-fields.ts';
import { parseExactJson, stringifyExactJson } from '../../../base/json/exact-json.ts';
import { skipString } from '../../../base/json/json-scanner.ts';
import { jsonSyntaxProblem } from './syntax-problem.ts';
import { wellFormedValue } from './well-formed.ts';

/**
 * Maximum nesting of objects and lists in a request. Go allows 10,000. Here every later step (copying, comparing, `JSON.stringify`)
 * recurses on the native stack, and 1,000 is safe for all of them.
 */
export const MAX_JSON_DEPTH = 1_000;

// JSON does not allow a byte order mark, so the decoder must keep it for the parser.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Parses one JSON document. Integers of 64 bits are kept exactly: see {@link parseExactJson}.
 * @throws StatusError 400 `json parse error: …` for anything else than one well-formed document
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parseJsonText(decodeUtf8(bytes));
}

/**
 * Decodes UTF-8.
 * @throws StatusError 400 for invalid bytes
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw newBadRequest('json parse error: invalid UTF-8');
  }
}

/**
 * The same for a text.
 * @param prefix the beginning of the message of an error
 */
export function parseJsonText(text: string, prefix = 'json parse error: '): unknown {
  if (text.length >= 2 * MAX_JSON_DEPTH && nestingDepth(text) > MAX_JSON_DEPTH) {
    throw newBadRequest(`${prefix}exceeded max depth`);
  }
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw newBadRequest(prefix + jsonSyntaxProblem(text));
  }
  if (MAYBE_INFINITE.test(text) && hasInfinity(value)) throw newBadRequest(`${prefix}a number is too large`);
  return wellFormedValue(value, text);
}

/** Paths of keys that occur twice in one object, such as `spec.replicas`; the last value wins in {@link parseJson}. */
export function duplicateFields(bytes: Uint8Array): string[] {
  const text = decodeUtf8(bytes);
  return duplicateFieldsOf(text, parseJsonText(text));
}

/**
 * The same for a text that is already parsed. Almost no text has duplicates, so the function first compares the number of members in the
 * text with the number in the parsed value.
 */
export function duplicateFieldsOf(text: string, parsed: unknown): string[] {
  return countMembers(text) === countKeys(parsed) ? [] : scanDuplicateFields(text);
}

export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(stringifyExactJson(value));
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = skipString(text, i) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return deepest;
}

/** The number of members of all objects in a well-formed text: the number of colons outside strings. */
function countMembers(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = skipString(text, i) - 1;
    else if (code === COLON) members++;
  }
  return members;
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) {
    let keys = 0;
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  let keys = 0;
  for (const key in value) {
    keys += 1 + countKeys((value as Record<string, unknown>)[key]);
  }
  return keys;
}

/** An exponent of two digits, or more digits than the largest double has. Only such a number can be infinite. */
const MAYBE_INFINITE = /\d[eE]\+?\d\d|\d{309}/;

/** JSON.parse returns infinity for a number that no double holds, and JSON.stringify writes null for infinity. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasInfinity);
}
