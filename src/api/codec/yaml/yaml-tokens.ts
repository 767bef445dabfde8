import type { LineCounter } from 'yaml';
import { type CST, Lexer, Parser } from 'yaml';

import { A_TURN } from '../../../base/time/steps.ts';
import { MAX_JSON_DEPTH } from '../json/json.ts';
import { blankQuoted, isLongQuoted, quotedSteps, type QuotedTexts } from './yaml-quoted.ts';

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

/** The lexer announces a scalar without quotes by this token, and by the others a document and the end of a flow collection. */
const SCALAR = '\u001f';
const MARKS = ['\u0002', '\u0018', SCALAR];

/** A text with all that is found out about it on the way. */
export interface YamlSource {
  readonly text: string;
  readonly lines: LineCounter;
  readonly quoted: QuotedTexts;
}

/**
 * The tokens of the text as the library's parser reads them, on demand. A number is a pause with its units.
 * @throws Error for a text beyond the bounds
 */
export function* tokenSteps(
  { text, lines, quoted }: YamlSource,
  maxTokens = MAX_YAML_TOKENS,
): Generator<CST.Token | number> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  let depth = 0;
  let explicitKeys = 0;
  let offset = 0;
  let previous = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new Error('document is too large');
    if (lexeme === '{' || lexeme === '[') depth++;
    else if (lexeme === '}' || lexeme === ']') depth--;
    else if (lexeme === '?' && ++explicitKeys > MAX_EXPLICIT_KEYS) {
      throw new Error(`too many keys after a question mark: limit is ${MAX_EXPLICIT_KEYS}`);
    }
    if (depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
    if (isLongQuoted(lexeme) && previous !== SCALAR) {
      quoted.set(offset, yield* quotedSteps(lexeme, offset));
      const blank = blankQuoted(lexeme);
      yield A_TURN;
      yield* parser.next(blank);
      yield A_TURN;
    } else {
      yield* parser.next(lexeme);
    }
    if (!MARKS.includes(lexeme) || previous === SCALAR) offset += lexeme.length;
    previous = lexeme;
    if (tokens % TOKENS_OF_A_STEP === 0) yield STEP_UNITS;
  }
  yield* parser.end();
}

/** The same without pauses. */
export function* boundedTokens(source: YamlSource): Generator<CST.Token> {
  for (const token of tokenSteps(source)) if (typeof token !== 'number') yield token;
}
