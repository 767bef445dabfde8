/** Minimum characters of a piece, except the last. */
const PIECE = 64 * 1024;

/** Joins lines, which get their newlines here, into pieces of some size: fewer are written at once, and none is longer than a string may be. */
export function* textPieces(lines: Iterable<string>): Generator<string> {
  let part: string[] = [];
  let length = 0;
  for (const line of lines) {
    part.push(line, '\n');
    length += line.length + 1;
    if (length < PIECE) continue;
    yield part.join('');
    part = [];
    length = 0;
  }
  if (length > 0) yield part.join('');
}
