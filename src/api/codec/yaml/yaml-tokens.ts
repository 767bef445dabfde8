import type { LineCounter } from 'yaml';
import { type CST, Lexer, Parser } from 'yaml';

import { MAX_JSON_DEPTH } from '../json/json.ts';

/**
 * Maximum number of tokens in one text. Each token costs microseconds of blocked event loop. A text of the maximum request size has
 * hundreds of thousands of tokens if people wrote it, and millions if it is an attack.
 */
export const MAX_YAML_TOKENS = 1_000_000;

/** Maximum number of keys after `? `. People write none; composing a list or map as a key costs tens of microseconds. */
const MAX_EXPLICIT_KEYS = 1000;

/**
 * The tokens of the text as the library's parser reads them, on demand.
 * @throws Error for a text beyond the bounds
 */
export function* boundedTokens(text: string, lines: LineCounter, maxTokens = MAX_YAML_TOKENS): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  let depth = 0;
  let explicitKeys = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new Error('document is too large');
    if (lexeme === '{' || lexeme === '[') depth++;
    else if (lexeme === '}' || lexeme === ']') depth--;
    else if (lexeme === '?' && ++explicitKeys > MAX_EXPLICIT_KEYS) {
      throw new Error(`too many keys after a question mark: limit is ${MAX_EXPLICIT_KEYS}`);
    }
    if (depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}
