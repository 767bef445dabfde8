import { formatFieldError } from '../field-error.ts';
import type { LabelOperator, LabelRequirement } from './requirement.ts';
import { labelKeyProblem, valuesProblem } from './requirement.ts';

/** A malformed label selector. The message is upstream's (`labels.Parse`). */
export class LabelSelectorSyntaxError extends Error {
  override readonly name = 'LabelSelectorSyntaxError';
}

type TokenKind = 'end' | 'identifier' | 'in' | 'notin' | '!' | '=' | '==' | '!=' | '<' | '>' | '(' | ')' | ',';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };

/** Symbols and keywords, which have one token each. */
const FIXED: ReadonlyMap<string, Token> = new Map(
  (['in', 'notin', '!', '=', '==', '!=', '<', '>', '(', ')', ','] as const).map((text) => [text, { kind: text, text }]),
);

/** White space separates tokens, special characters are tokens, and all other text forms words. */
const TOKEN = /==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g;

function tokenize(text: string): readonly Token[] {
  const words = text.match(TOKEN) ?? [];
  return words.map((word) => FIXED.get(word) ?? { kind: 'identifier', text: word });
}

const BINARY_OPERATORS: Readonly<Partial<Record<TokenKind, LabelOperator>>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

/** Parses all terms, in the order written. Throws {@link LabelSelectorSyntaxError}. */
export function parseRequirements(text: string): LabelRequirement[] {
  return new Parser(tokenize(text)).parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  /** Keys that are valid. A selector may name one of them many times. */
  readonly #keys = new Set<string>();
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The loop is bounded: every term consumes at least one token. */
  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === 'end') return requirements;
      if (!isWord(next) && next.kind !== '!') {
        throw expected(next, "!, identifier, or 'end of string'");
      }
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator.kind === 'end') return requirements;
      if (separator.kind !== ',') throw expected(separator, "',' or 'end of string'");
      const after = this.#peek();
      if (!isWord(after) && after.kind !== '!') throw expected(after, "identifier after ','");
    }
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? END;
  }

  #take(): Token {
    return this.#tokens[this.#position++] ?? END;
  }

  #requirement(): LabelRequirement {
    const requirement = wrapped(() => this.#term());
    const problem = valuesProblem(requirement);
    if (problem !== undefined) throw new LabelSelectorSyntaxError(`unable to parse requirement: ${problem}`);
    return requirement;
  }

  #term(): LabelRequirement {
    let token = this.#take();
    const negated = token.kind === '!';
    if (negated) token = this.#take();
    if (!isWord(token)) throw expected(token, 'identifier');
    const key = token.text;
    this.#checkKey(key);
    if (negated) return { key, operator: '!', values: NONE };
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return { key, operator: 'exists', values: NONE };
    const operatorToken = this.#take();
    const operator = BINARY_OPERATORS[operatorToken.kind];
    if (operator === undefined) throw expected(operatorToken, 'in, notin, =, ==, !=, gt, lt');
    if (operator !== 'in' && operator !== 'notin') return { key, operator, values: [this.#exactValue()] };
    return { key, operator, values: [...new Set(this.#valueList())].sort() };
  }

  #checkKey(key: string): void {
    if (this.#keys.has(key)) return;
    // Upstream has no path here, and prints `<nil>`.
    const problem = labelKeyProblem(key, '<nil>');
    if (problem !== undefined) throw new LabelSelectorSyntaxError(formatFieldError(problem));
    this.#keys.add(key);
  }

  #exactValue(): string {
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return '';
    const token = this.#take();
    if (!isWord(token)) throw expected(token, 'identifier');
    return token.text;
  }

  /** Parses `(a,b)`. Every gap between commas and parentheses is an empty value: `()`, `(a,)`, `(,,b)`. */
  #valueList(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw new LabelSelectorSyntaxError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (!isWord(first) && first.kind !== ',' && first.kind !== ')') throw expected(first, "',', ')' or identifier");
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      if (isWord(token)) {
        values.push(token.text);
        const after = this.#take();
        if (after.kind === ')') return values;
        if (after.kind !== ',') throw expected(after, "',' or ')'");
        if (this.#peek().kind === ')') {
          this.#take();
          values.push('');
          return values;
        }
      } else if (token.kind === ',') {
        values.push('');
        if (this.#peek().kind === ')') {
          this.#take();
          return values;
        }
      } else if (token.kind === ')') {
        values.push('');
        return values;
      } else {
        throw expected(token, "',', or identifier");
      }
    }
  }
}

const NONE: readonly string[] = [];

/** Keywords are words wherever the grammar expects no operator. */
function isWord(token: Token): boolean {
  return token.kind === 'identifier' || token.kind === 'in' || token.kind === 'notin';
}

function expected(token: Token, what: string): LabelSelectorSyntaxError {
  return new LabelSelectorSyntaxError(`found '${token.text}', expected: ${what}`);
}

function wrapped<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof LabelSelectorSyntaxError)) throw error;
    throw new LabelSelectorSyntaxError(`unable to parse requirement: ${error.message}`, { cause: error });
  }
}
