import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { CelCompileError } from './cel-error.ts';
import type { CelExpression } from './cel-expression.ts';
import { CelUint, type CelValue, MAX_INT, MIN_INT } from './cel-value.ts';
import { ExpressionBuilder } from './expression-builder.ts';
import { findMacro } from './macros.ts';

/**
 * The parser is the library's. Its limits are raised to the size of a request, except the depth, which bounds every recursion over
 * expressions (cel-go's own limit is 250).
 */
const grammar = new Environment({
  enableOptionalTypes: true,
  limits: {
    maxAstNodes: 100_000,
    maxDepth: 250,
    maxListElements: 100_000,
    maxMapEntries: 100_000,
    maxCallArguments: 32,
  },
});

/** Maximum length of an expression; a longer one is refused without parsing (cel-go `ExpressionSizeCodePointLimit`). */
const MAX_EXPRESSION = 100_000;

/** Throws {@link CelCompileError} for an invalid expression. */
export function parseExpression(source: string): CelExpression {
  if (source.length > MAX_EXPRESSION) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_EXPRESSION}`;
    throw new CelCompileError('', [{ offset: 0, message }]);
  }
  const build = new ExpressionBuilder(source);
  const expression = new Converter(source, build).convert(parse(source));
  if (build.issues.length > 0) throw new CelCompileError(source, build.issues);
  return expression;
}

/** A long sequence of `!` before the first string and comment. */
const NEGATIONS = /^([^"'/]*?)((?:!\s*){100,})/;

/** The source with at most one of a long sequence of `!`: cel-go keeps none if their number is even, without recursion. Same length. */
function withoutDoubleNegation(source: string): string {
  return source.replace(NEGATIONS, (_, before: string, negations: string) => {
    const odd = negations.replaceAll(/\s/g, '').length % 2 === 1;
    return before + (odd ? '!' : '').padEnd(negations.length);
  });
}

function parse(source: string): ASTNode {
  try {
    return grammar.parse(withoutDoubleNegation(source)).ast;
  } catch (error) {
    // A long sequence of `-`, which the library's limit does not count.
    if (error instanceof RangeError) throw tooDeep(source);
    if (!(error instanceof ParseError)) throw error;
    throw new CelCompileError(source, [{ offset: error.range?.start ?? 0, message: syntaxMessage(source, error) }]);
  }
}

/** The tokens that may begin an expression, under the names of cel-go's grammar. */
const EXPRESSION =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const SYMBOLS: Readonly<Record<string, string>> = {
  IDENTIFIER: 'IDENTIFIER',
  RPAREN: "')'",
  RBRACKET: "']'",
  RBRACE: "'}'",
  COLON: "':'",
};

/** The message in cel-go's words, where cel-go has one. */
function syntaxMessage(source: string, { code, summary, range }: ParseError): string {
  if (code === 'invalid_macro_argument') return 'argument must be a simple name';
  const found = range === undefined ? '' : source.slice(range.start, range.end);
  const mismatched = (expected: string): string =>
    `Syntax error: mismatched input '${found === '' ? '<EOF>' : found}' expecting ${expected}`;
  if (code === 'unexpected_token') return mismatched(EXPRESSION);
  const expected = /^Expected (\w+),/.exec(summary)?.[1] ?? '';
  if (code === 'expected_token' && SYMBOLS[expected] !== undefined) return mismatched(SYMBOLS[expected]);
  if (code === 'unexpected_character' && summary.includes("'")) return mismatched('<EOF>');
  if (code === 'reserved_identifier') return `reserved identifier: ${found}`;
  return `Syntax error: ${summary}`;
}

/** Maximum depth of an expression, because every walk over it recurses. */
const MAX_DEPTH = 1000;

function tooDeep(source: string): CelCompileError {
  return new CelCompileError(source, [{ offset: 0, message: 'expression recursion limit exceeded: 250' }]);
}

const BINARY = ['!=', '==', '+', '-', '*', '/', '%', '<', '<=', '>', '>=', '||', '&&'] as const;

/**
 * Converts the library's tree to ours: operators have cel-go's names, macros are expanded, and every node has the position that cel-go
 * gives it.
 */
class Converter {
  readonly #source: string;
  readonly #build: ExpressionBuilder;
  #depth = 0;

  constructor(source: string, build: ExpressionBuilder) {
    this.#source = source;
    this.#build = build;
  }

  convert(node: ASTNode): CelExpression {
    if (++this.#depth > MAX_DEPTH) throw tooDeep(this.#source);
    const expression = this.#convert(node);
    this.#depth--;
    return expression;
  }

  #convert(node: ASTNode): CelExpression {
    const build = this.#build;
    switch (node.op) {
      case 'value':
        return build.literal(node.start, this.#literal(node.start, node.args));
      case 'id':
        return build.ident(node.start, node.args);
      case '.':
        return build.select(this.#after(node.args[0]), this.convert(node.args[0]), node.args[1]);
      case '.?': {
        const at = this.#after(node.args[0]);
        return build.call(at, '_?._', [this.convert(node.args[0]), build.literal(at, node.args[1])]);
      }
      case '[]':
      case '[?]': {
        const name = node.op === '[]' ? '_[_]' : '_[?_]';
        return build.call(
          this.#after(node.args[0]),
          name,
          node.args.map((arg) => this.convert(arg)),
        );
      }
      case 'in':
        return build.call(
          this.#after(node.args[0]),
          '@in',
          node.args.map((arg) => this.convert(arg)),
        );
      case '?:':
        return build.call(
          this.#after(node.args[0]),
          '_?_:_',
          node.args.map((arg) => this.convert(arg)),
        );
      case '!_':
        return build.call(node.start, '!_', [this.convert(node.args)]);
      case '-_':
        return this.#negation(node.start, node.args);
      case 'list':
        return build.list(
          node.start,
          node.args.map((element) => this.convert(element)),
        );
      case 'map': {
        const entries = node.args.map(([key, value]) => ({ key: this.convert(key), value: this.convert(value) }));
        return build.map(node.start, entries);
      }
      case 'call':
        return this.#call(node.start, node.args);
      case 'rcall':
        return this.#memberCall(node.args);
      default:
        return this.#binary(node.op, node.args);
    }
  }

  /** Sequences of `&&` and `||`, which may be long, become balanced trees; sequences of other operators lean to the left. */
  #binary(op: BinaryOperator, operands: readonly [ASTNode, ASTNode]): CelExpression {
    if (op === '&&' || op === '||') return this.#balanced(op, operands);
    const chain: BinaryOperation[] = [{ op, operands }];
    let [left] = operands;
    while (isBinary(left) && left.op !== '&&' && left.op !== '||') {
      chain.push({ op: left.op, operands: left.args });
      [left] = left.args;
    }
    this.#depth += chain.length;
    let expression = this.convert(left);
    for (const { op: name, operands: each } of chain.toReversed()) {
      expression = this.#build.call(this.#after(each[0]), `_${name}_`, [expression, this.convert(each[1])]);
    }
    this.#depth -= chain.length;
    return expression;
  }

  #balanced(op: '&&' | '||', operands: readonly [ASTNode, ASTNode]): CelExpression {
    const terms: CelExpression[] = [];
    const places: number[] = [];
    let [left, right] = operands;
    for (;;) {
      terms.push(this.convert(right));
      places.push(this.#after(left));
      if (left.op !== op) break;
      [left, right] = left.args;
    }
    terms.push(this.convert(left));
    terms.reverse();
    places.reverse();
    const join = (from: number, to: number): CelExpression => {
      const only = terms[from];
      if (from === to && only !== undefined) return only;
      const middle = Math.floor((from + to) / 2);
      return this.#build.call(places[middle] ?? 0, `_${op}_`, [join(from, middle), join(middle + 1, to)]);
    };
    return join(0, terms.length - 1);
  }

  /** `-1` is a literal. */
  #negation(offset: number, operand: ASTNode): CelExpression {
    if (operand.op === 'value' && operand.start === this.#skip(offset + 1)) {
      const { args } = operand;
      if (typeof args === 'bigint') return this.#build.literal(offset, this.#int(offset, -args));
      if (typeof args === 'number') return this.#build.literal(offset, -args);
    }
    return this.#build.call(offset, '-_', [this.convert(operand)]);
  }

  #literal(offset: number, value: (ASTNode & { op: 'value' })['args']): CelValue {
    if (typeof value === 'bigint') return this.#int(offset, value);
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    return new CelUint(value.value);
  }

  #int(offset: number, value: bigint): bigint {
    if (value > MAX_INT || value < MIN_INT) this.#build.report(offset, 'invalid int literal');
    return value;
  }

  #call(start: number, [name, args]: readonly [string, readonly ASTNode[]]): CelExpression {
    const offset = this.#skip(start + name.length);
    const build = this.#build;
    if (name !== 'has' || args.length !== 1)
      return build.call(
        offset,
        name,
        args.map((arg) => this.convert(arg)),
      );
    const [field] = args;
    if (field?.op === '.') return build.presenceTest(offset, this.convert(field.args[0]), field.args[1]);
    build.report(field?.start ?? offset, 'invalid argument to has() macro');
    return build.literal(offset, false);
  }

  #memberCall([name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]]): CelExpression {
    const build = this.#build;
    const dot = this.#after(receiver);
    const offset = this.#skip(this.#skip(dot + 1) + name.length);
    const target = this.convert(receiver);
    const converted = args.map((arg) => this.convert(arg));
    const expand = findMacro(name, args.length);
    if (expand === undefined) return build.memberCall(offset, name, [target, ...converted]);
    const copyTarget = (): CelExpression => this.convert(receiver);
    return expand(build, { offset, target, copyTarget, args: converted }) ?? build.literal(offset, false);
  }

  /** The position of the operator after a node, which the tree does not contain. Only spaces, comments and parentheses lie between them. */
  #after(node: ASTNode): number {
    let at = this.#skip(node.end);
    while (this.#source[at] === ')') at = this.#skip(at + 1);
    return at;
  }

  /** Skips spaces and comments. */
  #skip(from: number): number {
    let at = from;
    for (;;) {
      while (/\s/.test(this.#source[at] ?? '')) at++;
      if (!this.#source.startsWith('//', at)) return at;
      const end = this.#source.indexOf('\n', at);
      at = end === -1 ? this.#source.length : end;
    }
  }
}

type BinaryOperator = (typeof BINARY)[number];

interface BinaryOperation {
  readonly op: BinaryOperator;
  readonly operands: readonly [ASTNode, ASTNode];
}

type BinaryNode = Extract<ASTNode, { op: BinaryOperator }>;

function isBinary(node: ASTNode): node is BinaryNode {
  return BINARY.some((op) => op === node.op);
}
