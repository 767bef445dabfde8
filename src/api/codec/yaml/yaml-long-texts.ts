import { CST, YAMLParseError } from 'yaml';

import type { Steps } from '../../../base/time/steps.ts';

/**
 * Texts that are read on their own, in pieces, by the offset at which each begins: long ones between quotes, and those without quotes that
 * have several lines.
 */
export type LongTexts = Map<number, string>;

/** From this length on, a text is read on its own; also the characters of a piece. The library takes some 200 ns for each. */
export const PIECE = 4096;
const PIECE_UNITS = 100;
/** White space of this length at a line end is not left to the library, because a piece must not end inside. */
const LONG_FOLD = 256;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x27;
const BACKSLASH = 0x5c;

/** Characters of an escape, with its backslash. */
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

type Style = '"' | "'" | '';

/** `atScalar`: the lexer has announced a text without quotes. */
export function isLongText(lexeme: string, atScalar: boolean): boolean {
  if (lexeme.length <= PIECE) return false;
  // Without quotes, a text of one line may be a number.
  return atScalar ? lexeme.includes('\n') : styleOf(lexeme) !== '';
}

function styleOf(lexeme: string): Style {
  const [first] = lexeme;
  return first === '"' || first === "'" ? first : '';
}

/** A text of the same length and style that the library reads quickly. It has several lines if the long text has. */
export function blankText(lexeme: string, atScalar: boolean): string {
  const [filling, last] = atScalar ? ['x', 'x'] : [' ', lexeme.at(-1)!];
  const second = lexeme.includes('\n') ? '\n' : filling;
  return `${lexeme[0]!}${second}${filling.repeat(lexeme.length - 3)}${last}`;
}

/**
 * The value of a long text, which is read in pieces.
 * @throws YAMLParseError for an escape that does not exist
 */
export function* longTextSteps(lexeme: string, offset: number, atScalar: boolean): Steps<string> {
  const style = atScalar ? '' : styleOf(lexeme);
  const parts: string[] = [];
  const last = lexeme.length - style.length;
  let from = style.length;
  const endPiece = (to: number): void => {
    if (to > from) parts.push(pieceOf(lexeme.slice(from, to), style, offset + from - 1));
  };
  for (let at = from; at < last;) {
    const space = spaceFrom(lexeme, at, last);
    if (space.lines > 0 && space.end - at > LONG_FOLD) {
      endPiece(at);
      parts.push(space.lines === 1 ? ' ' : '\n'.repeat(space.lines - 1));
      from = space.end;
      yield Math.ceil(((space.end - at) * PIECE_UNITS) / PIECE / 10);
    }
    at = space.end > at ? space.end : Math.min(last, afterCharacter(lexeme, at, style));
    if (at - from < PIECE) continue;
    endPiece(at);
    from = at;
    yield PIECE_UNITS;
  }
  endPiece(last);
  return parts.join('');
}

/** The white space that begins at a place, and the number of its line ends. */
function spaceFrom(text: string, start: number, last: number): { readonly end: number; readonly lines: number } {
  let lines = 0;
  let end = start;
  for (; end < last; end++) {
    const code = text.charCodeAt(end);
    if (code === LINE_FEED) lines++;
    else if (code === CARRIAGE_RETURN) {
      if (text.charCodeAt(end + 1) !== LINE_FEED) break;
    } else if (code !== SPACE && code !== TAB) break;
  }
  return { end, lines };
}

/** The place after a character or an escape. An escaped line end has no value, nor has the space after it. */
function afterCharacter(text: string, at: number, style: Style): number {
  const code = text.charCodeAt(at);
  if (style === "'") return code === QUOTE ? at + 2 : at + 1;
  if (style !== '"' || code !== BACKSLASH) return at + 1;
  const escaped = text.charCodeAt(at + 1);
  const lineEnd = escaped === CARRIAGE_RETURN && text.charCodeAt(at + 2) === LINE_FEED ? at + 2 : at + 1;
  if (text.charCodeAt(lineEnd) !== LINE_FEED) return at + (ESCAPE_LENGTHS[text[at + 1] ?? ''] ?? 2);
  let end = lineEnd + 1;
  while (text.charCodeAt(end) === SPACE || text.charCodeAt(end) === TAB) end++;
  return end;
}

/** The value of a part of a text. One without quotes gets quotes, because the library may not take its first character without them. */
function pieceOf(part: string, style: Style, offset: number): string {
  const type = style === '"' ? 'double-quoted-scalar' : 'single-quoted-scalar';
  const source = style === '' ? `'${part.replaceAll("'", "''")}'` : `${style}${part}${style}`;
  const token: CST.FlowScalar = { type, offset, indent: 0, source };
  const { value } = CST.resolveAsScalar(token, true, (at, code, message) => {
    throw new YAMLParseError([at, at + 1], code, message);
  });
  return value;
}
