import { skipString } from './json-scanner.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** An integer of 64 bits as a JSON value: a bigint beyond ±(2^53 - 1). */
export type Int64 = number | bigint;

/** The smallest integer beyond those of a double has 16 digits: 2^53 = 9007199254740992. */
const LONG = 16;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * `JSON.parse`, except that an integer of 64 bits beyond 2^53 is a bigint, as Go's decoder keeps int64 and float64 apart. Each number has
 * one form: an integer up to ±(2^53 - 1) is a number, a larger one of 64 bits is a bigint, and everything else is a double.
 *
 * @throws SyntaxError for a text that is no JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return holdsLongDigits(text) && holdsLongInteger(text) ? new ExactReader(text).document() : value;
}

/** Parses a text that is well-formed JSON. Each number gets the value that `readNumber` returns for its text. */
export function parseJsonNumbers(text: string, readNumber: (digits: string) => unknown): unknown {
  return new ExactReader(text, readNumber).document();
}

/** The form of an integer in a JSON value. Beyond 64 bits it is a double. */
export function integerValue(integer: bigint): Int64 {
  const rounded = Number(integer);
  return Number.isSafeInteger(rounded) || integer < INT64_MIN || integer > INT64_MAX ? rounded : integer;
}

/**
 * `JSON.stringify` of any value but undefined, with the digits of each bigint. Ordinary values take the built-in function alone, which
 * throws at the first bigint.
 */
export function stringifyExactJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError) || !error.message.includes('BigInt')) throw error;
    return written(value, '\n', ' '.repeat(indent)) ?? 'null';
  }
}

/** Undefined for a value that has no JSON form, such as a function. */
function written(value: unknown, line: string, step: string): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) as string | undefined;
  if ('toJSON' in value && typeof value.toJSON === 'function') return JSON.stringify(value);
  const inner = line + step;
  const colon = step === '' ? ':' : ': ';
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, inner, step) ?? 'null')
    : Object.entries(value).flatMap(([name, member]) => {
        const text = written(member, inner, step);
        return text === undefined ? [] : [quoted(name) + colon + text];
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  return step === '' ? `${open}${parts.join(',')}${close}` : `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
}

const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** True if 16 digits follow each other anywhere. Such a run covers one of every 16 places, so the function reads few characters. */
function holdsLongDigits(text: string): boolean {
  for (let i = LONG - 1; i < text.length; i += LONG) {
    if (!isDigit(text.charCodeAt(i))) continue;
    let start = i;
    while (isDigit(text.charCodeAt(start - 1))) start--;
    let end = i + 1;
    while (end - start < LONG && isDigit(text.charCodeAt(end))) end++;
    if (end - start >= LONG) return true;
  }
  return false;
}

/** No integer of 64 bits has more than 19 digits, and a conversion of millions of digits to a bigint takes long. */
const INTEGER_AT = /-?\d{16,19}(?![\d.eE])/y;

/** True if a number outside strings is a bigint. */
function holdsLongInteger(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = skipString(text, i) - 1;
    } else if (code === MINUS || isDigit(code)) {
      INTEGER_AT.lastIndex = i;
      const literal = INTEGER_AT.exec(text)?.[0];
      if (literal !== undefined && typeof integerValue(BigInt(literal)) === 'bigint') return true;
      while (/[-+.\deE]/.test(text.charAt(i + 1))) i++;
    }
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const LITERAL = /[^\s,\]}]+/y;
const INTEGER = /^-?\d{16,19}$/;

function exactNumber(digits: string): unknown {
  return INTEGER.test(digits) ? integerValue(BigInt(digits)) : JSON.parse(digits);
}

/** Reads a text that `JSON.parse` has accepted. */
class ExactReader {
  readonly #text: string;
  readonly #readNumber: (digits: string) => unknown;
  #at = 0;

  constructor(text: string, readNumber = exactNumber) {
    this.#text = text;
    this.#readNumber = readNumber;
  }

  document(): unknown {
    switch (this.#next()) {
      case OPEN_BRACE:
        return this.#object();
      case OPEN_BRACKET:
        return this.#list();
      case QUOTE:
        return this.#string();
      default:
        return this.#literal();
    }
  }

  /** The character at the cursor, after white space. */
  #next(): number {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at++;
    return this.#text.charCodeAt(this.#at);
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    while (this.#next() !== CLOSE_BRACE) {
      const name = this.#string();
      this.#pass(COLON);
      const value = this.document();
      // An assignment of `__proto__` would set the prototype.
      if (name === '__proto__') {
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      } else object[name] = value;
      this.#pass(COMMA);
    }
    this.#at++;
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    while (this.#next() !== CLOSE_BRACKET) {
      list.push(this.document());
      this.#pass(COMMA);
    }
    this.#at++;
    return list;
  }

  /** Passes the character if it is the next one. */
  #pass(code: number): void {
    if (this.#next() === code) this.#at++;
  }

  #string(): string {
    const start = this.#at;
    this.#at = skipString(this.#text, start);
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #literal(): unknown {
    LITERAL.lastIndex = this.#at;
    const literal = LITERAL.exec(this.#text)?.[0] ?? '';
    this.#at += literal.length;
    const code = literal.charCodeAt(0);
    return code === MINUS || isDigit(code) ? this.#readNumber(literal) : JSON.parse(literal);
  }
}
