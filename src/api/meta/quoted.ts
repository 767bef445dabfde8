import { stringifyExactJson } from '../../base/json/exact-json.ts';

/**
 * Values in the form of Kubernetes' messages, quoted as in Go and not as in JSON, because clients match the messages literally (API-042).
 */

/** The characters with a special escape in double-quoted texts of Go and CEL. */
export const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

const PRINTABLE = /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
const PLAIN_ASCII = /^[ !#-[\]-~]*$/;

/** True for letters, marks, numbers, punctuation, symbols and the ASCII space: Go's `unicode.IsPrint`. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

/** A double-quoted text, as Go's `%q` prints it. */
export function quoted(text: string): string {
  if (PLAIN_ASCII.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) {
    const named = NAMED_ESCAPES[character];
    if (named !== undefined) {
      out += named;
      continue;
    }
    const code = character.codePointAt(0)!;
    // A lone surrogate has no UTF-8 form; Go reads it as the replacement character.
    if (code >= 0xd800 && code <= 0xdfff) out += '\ufffd';
    else if (isPrintable(character)) out += character;
    else if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return `${out}"`;
}

/** A list, as Go's `%q` prints it: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(quoted).join(' ')}]`;
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON as Go's `json.Marshal` writes it: compact, with `<`, `>` and `&` escaped. Absent values are `null`. */
export function marshalled(value: unknown): string {
  const text = stringifyExactJson(value) ?? 'null';
  return text.replace(/[<>&\u2028\u2029]/g, (character) => HTML_ESCAPES[character]!);
}
