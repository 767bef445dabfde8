import { CST, YAMLParseError } from 'yaml';

import type { Steps } from '../../../base/time/steps.ts';

/** Characters of a piece of a long text. The library takes some 200 ns for each. */
const PIECE = 4096;
const PIECE_UNITS = 100;
/** Characters of the longest escape, `\U0001F600`. */
const LONGEST_ESCAPE = 10;

/** Texts between double quotes that are read on their own, by the offset of the first quote. */
export type QuotedTexts = Map<number, string>;

export function isLongQuoted(lexeme: string): boolean {
  return lexeme.length > PIECE && lexeme.startsWith('"');
}

/** Spaces and line ends in the place of a long text, so that the library passes over it quickly and counts the same lines. */
export function blankQuoted(lexeme: string): string {
  const lines = lexeme.slice(1, -1).split('\n');
  return `"${lines.map((line) => ' '.repeat(line.length)).join('\n')}${lexeme.at(-1)}`;
}

/**
 * The value of a long text between double quotes, which is read in pieces.
 * @throws YAMLParseError for an escape that does not exist
 */
export function* quotedSteps(lexeme: string, offset: number): Steps<string> {
  const parts: string[] = [];
  const last = lexeme.length - 1;
  for (let start = 1; start < last;) {
    const end = cutAfter(lexeme, Math.min(start + PIECE, last), last);
    const source = `"${lexeme.slice(start, end)}"`;
    const token: CST.FlowScalar = { type: 'double-quoted-scalar', offset: offset + start - 1, indent: 0, source };
    const { value } = CST.resolveAsScalar(token, true, (at, code, message) => {
      throw new YAMLParseError([at, at + 1], code, message);
    });
    parts.push(value);
    start = end;
    yield PIECE_UNITS;
  }
  return parts.join('');
}

/** The first place from `at` on where a text can be cut: not in or beside white space, and not in an escape. */
function cutAfter(text: string, at: number, last: number): number {
  let place = at;
  while (place < last && !canCut(text, place)) place++;
  return place;
}

function canCut(text: string, place: number): boolean {
  if (/\s/.test(text.slice(place - 1, place + 1))) return false;
  const before = text.slice(Math.max(1, place - LONGEST_ESCAPE), place);
  if (/\\[xuU][0-9a-fA-F]*$/.test(before)) return false;
  let backslashes = 0;
  while (text[place - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 0;
}
