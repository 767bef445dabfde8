import type { LineCounter } from 'yaml';
import { type CST, Lexer, Parser } from 'yaml';

import { MAX_JSON_DEPTH } from '../json/json.ts';

/**
 * Pieces of syntax in one text. Each costs microseconds, and nothing else is done meanwhile; a text as large as a request may be
 * holds hundreds of thousands when people wrote it, and millions when it was made to hurt.
 */
export const MAX_YAML_TOKENS = 1_000_000;

/** The text as the library's parser sees it, as far as it is asked for. @throws Error for a text beyond its bounds */
export function* boundedTokens(text: string, lines: LineCounter, maxTokens = MAX_YAML_TOKENS): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  let depth = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new Error('document is too large');
    if (lexeme === '{' || lexeme === '[') depth++;
    else if (lexeme === '}' || lexeme === ']') depth--;
    if (depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}
