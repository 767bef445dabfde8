/** Thrown for text in a form that a {@link JsonCursor} does not read. The caller then uses a parser. */
export const NEEDS_PARSER: unique symbol = Symbol('the text is not of the form that can be copied');

export const ZERO = 0x30;
export const COLON = 0x3a;
const QUOTE = 0x22;
export const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_T = 0x74;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/**
 * Reads JSON text in the form of JSON.stringify, byte by byte and without allocating. White space, escapes and signs raise {@link
 * NEEDS_PARSER}.
 */
export class JsonCursor {
  json: Uint8Array = new Uint8Array(0);
  at = 0;

  members(member: () => void): void {
    this.expect(OPEN_BRACE);
    this.#list(CLOSE_BRACE, member);
  }

  elements(element: () => void): void {
    this.expect(OPEN_BRACKET);
    this.#list(CLOSE_BRACKET, element);
  }

  #list(close: number, item: () => void): void {
    if (this.json[this.at] === close) {
      this.at++;
      return;
    }
    for (;;) {
      item();
      const next = this.json[this.at++];
      if (next === close) return;
      if (next !== COMMA) throw NEEDS_PARSER;
    }
  }

  expect(byte: number): void {
    if (this.json[this.at++] !== byte) throw NEEDS_PARSER;
  }

  /** The start of a string without escapes. It ends one byte before the cursor. */
  string(): number {
    this.expect(QUOTE);
    const json = this.json;
    const start = this.at;
    for (let at = start; at < json.length; at++) {
      const byte = json[at];
      if (byte === QUOTE) {
        this.at = at + 1;
        return start;
      }
      if (byte === BACKSLASH) throw NEEDS_PARSER;
    }
    throw NEEDS_PARSER;
  }

  integer(): number {
    const start = this.at;
    let value = 0;
    for (;;) {
      const digit = this.json[this.at]! - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
      this.at++;
    }
    const digits = this.at - start;
    const next = this.json[this.at];
    if (digits === 0 || digits > 15 || (next !== COMMA && next !== CLOSE_BRACE)) throw NEEDS_PARSER;
    return value;
  }

  boolean(): number {
    const first = this.json[this.at];
    if (first === LETTER_T) this.at += 'true'.length;
    else if (first === LETTER_F) this.at += 'false'.length;
    else throw NEEDS_PARSER;
    return first === LETTER_T ? 1 : 0;
  }

  skipObject(): void {
    if (this.json[this.at] !== OPEN_BRACE) throw NEEDS_PARSER;
    this.#moveTo(objectEnd(this.json, this.at));
  }

  /** Skips a value of any type. It may contain escapes. */
  skipValue(): void {
    switch (this.json[this.at]) {
      case OPEN_BRACE:
        return this.skipObject();
      case OPEN_BRACKET:
        this.at++;
        while (this.json[this.at] !== CLOSE_BRACKET) {
          this.skipValue();
          if (this.json[this.at] === COMMA) this.at++;
        }
        this.at++;
        return;
      case QUOTE:
        return this.#moveTo(stringEnd(this.json, this.at));
      default: {
        const start = this.at;
        for (let byte = this.json[start]; isScalar(byte); byte = this.json[this.at]) this.at++;
        if (this.at === start) throw NEEDS_PARSER;
      }
    }
  }

  #moveTo(end: number): void {
    if (end < 0) throw NEEDS_PARSER;
    this.at = end;
  }
}

/** A byte of a number, `true`, `false` or `null`. */
function isScalar(byte: number | undefined): boolean {
  return byte !== undefined && byte !== COMMA && byte !== CLOSE_BRACE && byte !== CLOSE_BRACKET;
}

/** The position after the closing quote of the string at `start`; -1 if there is none. */
export function stringEnd(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === QUOTE) return at + 1;
    if (json[at] === BACKSLASH) at++;
  }
  return -1;
}

/**
 * The position after the closing brace of the object at `start`, with any content, including escapes and white space; -1 if there is none.
 */
export function objectEnd(json: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        for (at++; json[at] !== QUOTE; at++) {
          if (json[at] === BACKSLASH) at++;
          else if (at >= json.length) return -1;
        }
        break;
      case OPEN_BRACE:
        depth++;
        break;
      case CLOSE_BRACE:
        if (--depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Names of members to numbers, looked up by bytes. */
export class MemberTable {
  readonly #byLength: (readonly { readonly name: Uint8Array; readonly value: number }[] | undefined)[] = [];

  constructor(members: Readonly<Record<string, number>>) {
    for (const [name, value] of Object.entries(members)) {
      const known = this.#byLength[name.length] ?? [];
      this.#byLength[name.length] = [...known, { name: Buffer.from(name), value }];
    }
  }

  /** The number of a name, or -1 for a name that is not in the table. */
  find(json: Uint8Array, start: number, end: number): number {
    for (const { name, value } of this.#byLength[end - start] ?? []) {
      let i = 0;
      while (i < name.length && json[start + i] === name[i]) i++;
      if (i === name.length) return value;
    }
    return -1;
  }
}
