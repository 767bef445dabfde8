import { type CST, YAMLParseError } from 'yaml';

import type { Steps } from '../../../base/time/steps.ts';
import { PIECE } from './yaml-long-texts.ts';

/** Units of a piece; each line costs up to a tenth of a microsecond. */
const PIECE_UNITS = 40;

const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

interface Header {
  readonly folded: boolean;
  /** The spaces that each line has beyond those of the collection around the text; 0 if the first line decides. */
  readonly indent: number;
  /** `+` keeps the empty lines at the end, `-` also drops the last line end. */
  readonly chomp: string | undefined;
}

/**
 * The value of a text after `|` or `>`, which is read in pieces. `atRoot`: the text is the whole document.
 * @throws YAMLParseError for a line without enough spaces before it
 */
export function* blockTextSteps(token: CST.BlockScalar, atRoot: boolean): Steps<string> {
  const header = headerOf(token);
  const { source } = token;
  const start = startOf(token);
  const parts: string[] = [];
  let piece: string[] = [];
  let pieceStart = 0;
  /** The spaces that do not belong to the value. The first line with content decides unless the header does. */
  let margin = header.indent > 0 ? token.indent + header.indent : undefined;
  /** The most spaces of an empty line before the first one with content. */
  let widest = token.indent;
  /** Empty lines since the last one with content. */
  let empty = 0;
  let lineEnds = 0;
  /** The line before, if it has content: a line that begins with more space than it must is not folded. */
  let previous: 'none' | 'plain' | 'spaced' = 'none';
  let hasContent = false;
  for (let at = 0; at <= source.length;) {
    const lineFeed = source.indexOf('\n', at);
    const next = lineFeed < 0 ? source.length : lineFeed;
    if (lineFeed >= 0) lineEnds++;
    const end = next > at && source.charCodeAt(next - 1) === CARRIAGE_RETURN ? next - 1 : next;
    let first = at;
    while (first < end && source.charCodeAt(first) === SPACE) first++;
    const spaces = first - at;
    if (first < end && !hasContent) {
      if (spaces < (margin ?? widest)) throw tooFewSpacesAtFirst(start + first);
      margin ??= spaces;
      if (margin === 0 && !atRoot) throw notIndented(start + at);
      hasContent = true;
    }
    if (first < end && spaces < margin!) throw tooFewSpaces(start + first, header);
    if (first === end && spaces <= (margin ?? Infinity)) {
      widest = Math.max(widest, spaces);
      empty++;
    } else {
      const line = spaces > margin! || source.charCodeAt(first) === TAB ? 'spaced' : 'plain';
      if (previous === 'none') piece.push('\n'.repeat(empty));
      else if (!header.folded || line === 'spaced' || previous === 'spaced') piece.push('\n'.repeat(empty + 1));
      else piece.push(empty === 0 ? ' ' : '\n'.repeat(empty));
      piece.push(source.slice(at + margin!, end));
      previous = line;
      empty = 0;
    }
    at = next + 1;
    if (at - pieceStart < PIECE) continue;
    parts.push(piece.join(''));
    piece = [];
    pieceStart = at;
    yield PIECE_UNITS;
  }
  parts.push(piece.join(''));
  if (!hasContent) return header.chomp === '+' ? '\n'.repeat(Math.max(1, lineEnds)) : '';
  if (header.chomp === '+') parts.push('\n'.repeat(Math.max(1, empty)));
  else if (header.chomp === undefined) parts.push('\n');
  return parts.join('');
}

function headerOf({ props }: CST.BlockScalar): Header {
  const text = (props[0] as CST.SourceToken).source;
  return { folded: text.startsWith('>'), indent: Number(/[1-9]/.exec(text)?.[0] ?? 0), chomp: /[-+]/.exec(text)?.[0] };
}

/** The offset of the first line. */
function startOf({ offset, props }: CST.BlockScalar): number {
  const last = props.at(-1) as CST.SourceToken | undefined;
  return last === undefined ? offset : last.offset + last.source.length;
}

function tooFewSpacesAtFirst(at: number): YAMLParseError {
  const message = 'Block scalars with more-indented leading empty lines must use an explicit indentation indicator';
  return new YAMLParseError([at, at + 1], 'MISSING_CHAR', message);
}

function notIndented(at: number): YAMLParseError {
  return new YAMLParseError([at, at + 1], 'BAD_INDENT', 'Block scalar values in collections must be indented');
}

function tooFewSpaces(at: number, { indent }: Header): YAMLParseError {
  const least = indent > 0 ? 'explicit indentation indicator' : 'first line';
  const message = `Block scalar lines must not be less indented than their ${least}`;
  return new YAMLParseError([at, at + 1], 'BAD_INDENT', message);
}
