/**
 * Patterns of schemas are written for Go's RE2 (`pattern`, API-460). They are read here by RE2's rules, so that what Go refuses is
 * refused, and written anew for JavaScript, so that what both accept means the same: ASCII classes, no lookaround, no
 * back-references, inline flags. Matching itself is JavaScript's, which backtracks: unlike RE2 it takes more than linear
 * time for some patterns, so a schema's `maxLength`, checked first, is what bounds it.
 */
export class GoRegexpError extends Error {
  constructor(problem: string, at: string) {
    super(`error parsing regexp: ${problem}: \`${at}\``);
    this.name = 'GoRegexpError';
  }
}

/** Throws {@link GoRegexpError} for what Go's `regexp.Compile` refuses. */
export function compileGoRegexp(pattern: string): RegExp {
  return new RegExp(new Translator(pattern).translate(), 'u');
}

const MAX_REPEAT = 1000;

interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
}

const PERL_CLASSES: Readonly<Record<string, string>> = { d: '0-9', s: '\\t\\n\\f\\r ', w: '0-9A-Za-z_' };

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** What has to be said otherwise in a JavaScript pattern with the flag `u`. */
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/;

class Translator {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false };

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  translate(): string {
    const text = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new GoRegexpError('unexpected )', this.#pattern);
    return text;
  }

  /** Up to the end, or to the parenthesis that closes the group. */
  #alternatives(): string {
    let out = '';
    for (;;) {
      const rest = this.#pattern.slice(this.#at);
      if (rest === '' || rest.startsWith(')')) return out;
      if (rest.startsWith('|')) {
        this.#at++;
        out += '|';
      } else {
        out += this.#repeated();
      }
    }
  }

  #repeated(): string {
    const { text, repeatable } = this.#atom();
    const start = this.#at;
    const operator = this.#repetition();
    if (operator === undefined) return text;
    if (!repeatable) throw new GoRegexpError('missing argument to repetition operator', operator);
    const again = this.#repetition();
    if (again !== undefined) {
      throw new GoRegexpError('invalid nested repetition operator', this.#pattern.slice(start, this.#at));
    }
    // An assertion may be repeated in Go, not in JavaScript.
    return `(?:${text})${operator}`;
  }

  /** `*`, `+`, `?`, `{n,m}`, each with an optional `?`; undefined when none stands here. */
  #repetition(): string | undefined {
    const match = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#pattern.slice(this.#at));
    if (match === null) return undefined;
    this.#at += match[0].length;
    const [text, min, max] = match;
    if (min === undefined) return text;
    const low = Number(min);
    const high = max === undefined ? low : max === '' ? low : Number(max);
    if (low > MAX_REPEAT || high > MAX_REPEAT || high < low) {
      throw new GoRegexpError('invalid repeat count', text.replace(/\?$/, ''));
    }
    return text;
  }

  #atom(): { readonly text: string; readonly repeatable: boolean } {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return { text: this.#class(), repeatable: true };
      case '\\':
        return { text: this.#escape(), repeatable: true };
      case '.':
        return { text: this.#flags.dotAll ? '[^]' : '[^\\n]', repeatable: true };
      case '^':
        return { text: this.#flags.multiLine ? '(?<![^\\n])' : '(?<![^])', repeatable: true };
      case '$':
        return { text: this.#flags.multiLine ? '(?![^\\n])' : '(?![^])', repeatable: true };
      case '*':
      case '+':
      case '?':
        throw new GoRegexpError('missing argument to repetition operator', character);
      default:
        return { text: this.#literal(character), repeatable: true };
    }
  }

  #next(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #literal(character: string): string {
    if (this.#flags.ignoreCase) {
      const forms = new Set([character, character.toLowerCase(), character.toUpperCase()]);
      const single = [...forms].filter((form) => [...form].length === 1);
      if (single.length > 1) return `[${single.map(escaped).join('')}]`;
    }
    return escaped(character);
  }

  #group(): { readonly text: string; readonly repeatable: boolean } {
    const rest = this.#pattern.slice(this.#at);
    const before = this.#flags;
    if (rest.startsWith('?')) {
      const name = /^\?P?<([^>]*)>/.exec(rest);
      const flags = /^\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
      if (name !== null && !/^\?<[=!]/.test(rest)) {
        if (!/^\w+$/.test(name[1] ?? '')) throw new GoRegexpError('invalid named capture', `(${name[0]}`);
        this.#at += name[0].length;
      } else if (flags !== null) {
        this.#at += flags[0].length;
        this.#flags = withFlags(before, flags[1] ?? '', flags[2] ?? '');
        // `(?i)`: until the end of the group around it.
        if (flags[3] === ')') return { text: '', repeatable: false };
      } else {
        throw new GoRegexpError(
          'invalid or unsupported Perl syntax',
          `(${rest.slice(0, /^\?<[=!]/.test(rest) ? 3 : 2)}`,
        );
      }
    }
    if (++this.#depth > MAX_REPEAT) throw new GoRegexpError('expression nests too deeply', this.#pattern);
    const inner = this.#alternatives();
    if (this.#pattern[this.#at] !== ')') throw new GoRegexpError('missing closing )', this.#pattern);
    this.#at++;
    this.#depth--;
    this.#flags = before;
    return { text: `(?:${inner})`, repeatable: true };
  }

  #escape(): string {
    if (this.#at >= this.#pattern.length) throw new GoRegexpError('trailing backslash at end of expression', '');
    const rest = this.#pattern.slice(this.#at);
    switch (rest[0]) {
      case 'A':
        this.#at++;
        return '(?<![^])';
      case 'z':
        this.#at++;
        return '(?![^])';
      case 'b':
      case 'B':
        this.#at++;
        return `\\${rest[0]}`;
      case 'Q': {
        const end = rest.indexOf('\\E', 1);
        const quoted = end < 0 ? rest.slice(1) : rest.slice(1, end);
        this.#at += end < 0 ? rest.length : end + 2;
        return quoted === '' ? '(?:)' : [...quoted].map((character) => this.#literal(character)).join('');
      }
      default: {
        const set = this.#classEscape();
        if (set !== undefined) return set.startsWith('^') ? `[^${set.slice(1)}]` : `[${set}]`;
        return this.#literal(this.#characterEscape());
      }
    }
  }

  /** Members of `\d`, `\pN`…; beginning with `^` when they are those not meant. Undefined for other escapes. */
  #classEscape(): string | undefined {
    const rest = this.#pattern.slice(this.#at);
    const perl = /^[dswDSW]/.exec(rest)?.[0];
    if (perl !== undefined) {
      this.#at++;
      const set = PERL_CLASSES[perl.toLowerCase()] ?? '';
      return perl === perl.toLowerCase() ? set : `^${set}`;
    }
    const unicode = /^[pP](?:\{(\^?)(\w+)\}|([A-Z]))/.exec(rest);
    if (unicode === null) {
      if (/^[pP]/.test(rest)) throw new GoRegexpError('invalid character class range', `\\${rest.slice(0, 2)}`);
      return undefined;
    }
    this.#at += unicode[0].length;
    const name = unicode[2] ?? unicode[3] ?? '';
    const negated = (unicode[0][0] === 'P') !== (unicode[1] === '^');
    if (name === 'Any') return negated ? '^\\u{0}-\\u{10ffff}' : '\\u{0}-\\u{10ffff}';
    const property = unicodeProperty(name);
    if (property === undefined) throw new GoRegexpError('invalid character class range', `\\${unicode[0]}`);
    return `\\${negated ? 'P' : 'p'}{${property}}`;
  }

  #characterEscape(): string {
    const rest = this.#pattern.slice(this.#at);
    const match = /^(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([1-7][0-7]{1,2}|0[0-7]{0,2}))/.exec(rest);
    if (match !== null) {
      this.#at += match[0].length;
      const [, braced, hexadecimal, octal] = match;
      const code = octal === undefined ? Number.parseInt(braced ?? hexadecimal ?? '', 16) : Number.parseInt(octal, 8);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      throw new GoRegexpError('invalid escape sequence', `\\${match[0]}`);
    }
    const character = this.#next();
    const control = { a: '\u0007', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }[character];
    if (control !== undefined) return control;
    if (/^[0-9A-Za-z]$/.test(character) || character > '\u007f') {
      throw new GoRegexpError('invalid escape sequence', `\\${character}`);
    }
    return character;
  }

  #class(): string {
    const start = this.#at - 1;
    const negated = this.#pattern[this.#at] === '^';
    if (negated) this.#at++;
    let members = '';
    let first = true;
    for (;;) {
      const rest = this.#pattern.slice(this.#at);
      if (rest === '') throw new GoRegexpError('missing closing ]', this.#pattern.slice(start));
      if (rest.startsWith(']') && !first) break;
      first = false;
      const named = /^\[:(\^?)(\w+):\]/.exec(rest);
      if (named !== null) {
        const set = POSIX_CLASSES[named[2] ?? ''];
        if (set === undefined) throw new GoRegexpError('invalid character class range', named[0]);
        this.#at += named[0].length;
        members += named[1] === '^' ? complement(set) : set;
        continue;
      }
      if (rest.startsWith('\\')) {
        this.#at++;
        const set = this.#classEscape();
        if (set !== undefined) {
          members += set.startsWith('^') ? complement(set.slice(1)) : set;
          continue;
        }
        this.#at--;
      }
      members += this.#range();
    }
    this.#at++;
    return negated ? `[^${members}]` : `[${members}]`;
  }

  #range(): string {
    const start = this.#at;
    const low = this.#classCharacter();
    const rest = this.#pattern.slice(this.#at);
    if (!rest.startsWith('-') || rest.startsWith('-]') || rest === '-') return this.#members(low, low);
    this.#at++;
    const high = this.#classCharacter();
    if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) {
      throw new GoRegexpError('invalid character class range', this.#pattern.slice(start, this.#at));
    }
    return this.#members(low, high);
  }

  #classCharacter(): string {
    if (this.#at >= this.#pattern.length) throw new GoRegexpError('missing closing ]', this.#pattern);
    const character = this.#next();
    return character === '\\' ? this.#characterEscape() : character;
  }

  /** With `(?i)` the other case of ASCII letters belongs to it too. */
  #members(low: string, high: string): string {
    const range = low === high ? escaped(low) : `${escaped(low)}-${escaped(high)}`;
    if (!this.#flags.ignoreCase) return range;
    let others = '';
    for (let code = 0x41; code <= 0x5a; code++) {
      const upper = String.fromCharCode(code);
      const lower = upper.toLowerCase();
      if (low <= upper && upper <= high) others += lower;
      if (low <= lower && lower <= high) others += upper;
    }
    return range + others;
  }
}

function withFlags(flags: Flags, on: string, off: string): Flags {
  const set = (letter: string, now: boolean): boolean =>
    on.includes(letter) ? true : off.includes(letter) ? false : now;
  return {
    ignoreCase: set('i', flags.ignoreCase),
    multiLine: set('m', flags.multiLine),
    dotAll: set('s', flags.dotAll),
  };
}

function escaped(character: string): string {
  // Outside of a class a dash has no escape of its own.
  if (character === '-') return '\\x2d';
  return SYNTAX.test(character) ? `\\${character}` : character;
}

/** Everything but these members, as members of another class. Sets with ranges of code points below 0x80 only. */
function complement(set: string): string {
  const inside = new RegExp(`[${set}]`, 'u');
  let out = '\\u{80}-\\u{10ffff}';
  for (let code = 0; code < 0x80; code++) {
    if (!inside.test(String.fromCharCode(code))) out += `\\u{${code.toString(16)}}`;
  }
  return out;
}

/** The name of a Unicode category or script as JavaScript has it. */
function unicodeProperty(name: string): string | undefined {
  return [name, `Script=${name}`].find((property) => isProperty(property));
}

/** Only the engine itself knows. */
function isProperty(property: string): boolean {
  try {
    return new RegExp(`\\p{${property}}`, 'u').unicode;
  } catch {
    return false;
  }
}
