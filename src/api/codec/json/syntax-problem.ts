import { quoted } from '../../meta/quoted.ts';

const END = 'unexpected end of JSON input';
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ESCAPES: ReadonlySet<string> = new Set('bfnrt\\/"');

/** Describes the first byte that JSON does not allow, in the words of Go (`encoding/json`), which clients of kube-apiserver know. */
export function jsonSyntaxProblem(text: string | Buffer): string {
  try {
    new SyntaxScanner(typeof text === 'string' ? Buffer.from(text) : text).document();
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message;
    throw error;
  }
  // Reached only for valid JSON that another parser refuses for reasons of its own.
  return END;
}

class SyntaxProblem extends Error {}

/** Walks over a document of any depth without recursion. */
class SyntaxScanner {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  document(): void {
    /** The closing brackets that are still to come. */
    const open: ('}' | ']')[] = [];
    let expects: 'value' | 'first value' | 'first key' | 'key' | 'end of value' = 'value';
    for (;;) {
      this.#skipSpace();
      if (expects === 'end of value') {
        const closing = open.at(-1);
        if (closing === undefined) break;
        const next = this.#next();
        if (next === ',') expects = closing === '}' ? 'key' : 'value';
        else if (next === closing) open.pop();
        else this.#fail(closing === '}' ? 'after object key:value pair' : 'after array element');
      } else if (expects === 'key' || expects === 'first key') {
        const next = this.#next();
        if (expects === 'first key' && next === '}') {
          open.pop();
          expects = 'end of value';
          continue;
        }
        if (next !== '"') this.#fail('looking for beginning of object key string');
        this.#string();
        this.#skipSpace();
        if (this.#next() !== ':') this.#fail('after object key');
        expects = 'value';
      } else {
        const next = this.#next();
        if (next === '{' || next === '[') {
          open.push(next === '{' ? '}' : ']');
          expects = next === '{' ? 'first key' : 'first value';
        } else if (next === ']' && expects === 'first value') {
          open.pop();
          expects = 'end of value';
        } else {
          this.#scalar(next);
          expects = 'end of value';
        }
      }
    }
    if (this.#at < this.#bytes.length) {
      this.#at++;
      this.#fail('after top-level value');
    }
  }

  #scalar(first: string): void {
    if (first === '"') return this.#string();
    if (first === 't') return this.#literal('true');
    if (first === 'f') return this.#literal('false');
    if (first === 'n') return this.#literal('null');
    if (first === '-') {
      const digit = this.#next();
      if (!isDigit(digit)) this.#fail('in numeric literal');
      return this.#number(digit);
    }
    if (!isDigit(first)) this.#fail('looking for beginning of value');
    return this.#number(first);
  }

  #number(first: string): void {
    if (first !== '0') this.#digits();
    if (this.#peek() === '.') {
      this.#at++;
      if (!isDigit(this.#next())) this.#fail('after decimal point in numeric literal');
      this.#digits();
    }
    if (this.#peek() !== 'e' && this.#peek() !== 'E') return;
    this.#at++;
    let next = this.#next();
    if (next === '+' || next === '-') next = this.#next();
    if (!isDigit(next)) this.#fail('in exponent of numeric literal');
    this.#digits();
  }

  #digits(): void {
    while (isDigit(this.#peek())) this.#at++;
  }

  #literal(word: string): void {
    for (const letter of word.slice(1)) {
      if (this.#next() !== letter) this.#fail(`in literal ${word} (expecting '${letter}')`);
    }
  }

  #string(): void {
    for (;;) {
      const next = this.#next();
      if (next === '"') return;
      if (next < ' ') this.#fail('in string literal');
      if (next !== '\\') continue;
      const escaped = this.#next();
      if (escaped === 'u') {
        for (let i = 0; i < 4; i++) {
          if (!/[\da-fA-F]/.test(this.#next())) this.#fail('in \\u hexadecimal character escape');
        }
      } else if (!ESCAPES.has(escaped)) {
        this.#fail('in string escape code');
      }
    }
  }

  #skipSpace(): void {
    while (SPACE.has(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  #peek(): string {
    return String.fromCharCode(this.#bytes[this.#at] ?? 0);
  }

  #next(): string {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new SyntaxProblem(END);
    return String.fromCharCode(byte);
  }

  /** Reports the byte that was read last. */
  #fail(where: string): never {
    const character = String.fromCharCode(this.#bytes[this.#at - 1] ?? 0);
    const shown = character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${quoted(character).slice(1, -1)}'`;
    throw new SyntaxProblem(`invalid character ${shown} ${where}`);
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}
