import { type CST, Lexer, Parser } from 'yaml';

import { A_TURN } from '../../../base/time/steps.ts';
import { MAX_JSON_DEPTH } from '../json/json.ts';
import { blockTextSteps } from './yaml-block-texts.ts';
import type { TextLines } from './yaml-lines.ts';
import { blankText, isLongText, longTextSteps, type LongTexts, PIECE } from './yaml-long-texts.ts';

/**
 * Maximum number of tokens in one text. Each token costs microseconds of processor time. A text of the maximum request size has
 * hundreds of thousands of tokens if people wrote it, and millions if it is an attack.
 */
export const MAX_YAML_TOKENS = 1_000_000;

/** Maximum number of keys after `? `. People write none; composing a list or map as a key costs tens of microseconds. */
const MAX_EXPLICIT_KEYS = 1000;

/** Tokens between two pauses, and the units that they cost. */
const TOKENS_OF_A_STEP = 100;
const STEP_UNITS = 40;

/** The lexer announces a text without quotes, or one after `|` or `>`, by this token. */
const SCALAR = '\u001f';

/** A text with all that is found out about it on the way. */
export interface YamlSource {
  readonly text: string;
  readonly lines: TextLines;
  readonly longTexts: LongTexts;
}

/**
 * The tokens of the text as the library's parser reads them, on demand. A number is a pause with its units.
 * @throws Error for a text beyond the bounds
 */
export function* tokenSteps(
  { text, longTexts }: Pick<YamlSource, 'text' | 'longTexts'>,
  maxTokens = MAX_YAML_TOKENS,
): Generator<CST.Token | number> {
  const parser = new Parser();
  let tokens = 0;
  let depth = 0;
  let explicitKeys = 0;
  let atScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new Error('document is too large');
    if (lexeme === '{' || lexeme === '[') depth++;
    else if (lexeme === '}' || lexeme === ']') depth--;
    else if (lexeme === '?' && ++explicitKeys > MAX_EXPLICIT_KEYS) {
      throw new Error(`too many keys after a question mark: limit is ${MAX_EXPLICIT_KEYS}`);
    }
    if (depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
    if (lexeme.length > PIECE) {
      yield* longText(parser, lexeme, { atScalar, longTexts });
    } else {
      yield* parser.next(lexeme);
    }
    atScalar = lexeme === SCALAR && !atScalar;
    if (tokens % TOKENS_OF_A_STEP === 0) yield STEP_UNITS;
  }
  yield* parser.end();
}

interface LongText {
  readonly atScalar: boolean;
  readonly longTexts: LongTexts;
}

/** Reads a long text in pieces, and gives the library one of the same length that it reads quickly. */
function* longText(parser: Parser, lexeme: string, { atScalar, longTexts }: LongText): Generator<CST.Token | number> {
  // The lexer has read all of it in this turn.
  yield A_TURN;
  const token = parser.stack.at(-1);
  if (atScalar && token?.type === 'block-scalar') {
    const atRoot = parser.stack.at(-2)?.type === 'document';
    // The parser finds the indentation of the text.
    yield* parser.next(lexeme);
    longTexts.set(token.offset, yield* blockTextSteps(token, atRoot));
    token.source = ' '.repeat(lexeme.length);
  } else if (isLongText(lexeme, atScalar)) {
    const { offset } = parser;
    longTexts.set(offset, yield* longTextSteps(lexeme, offset, atScalar));
    yield* parser.next(blankText(lexeme, atScalar));
  } else {
    yield* parser.next(lexeme);
  }
  yield A_TURN;
}

/** The same without pauses. */
export function* boundedTokens(source: Pick<YamlSource, 'text' | 'longTexts'>): Generator<CST.Token> {
  for (const token of tokenSteps(source)) if (typeof token !== 'number') yield token;
}
