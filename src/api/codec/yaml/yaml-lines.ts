const LINE_FEED = 0x0a;

/** The places of a text as lines and columns. The lines are counted when a place is first asked for. */
export class TextLines {
  readonly #text: string;
  /** Offsets of the first characters of all lines. */
  #starts: Uint32Array | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The place of a character; both figures are counted from 1. */
  linePos(offset: number): { line: number; col: number } {
    const starts = (this.#starts ??= startsOf(this.#text));
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, col: offset - starts[low]! + 1 };
  }
}

function startsOf(text: string): Uint32Array {
  let count = 1;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) count++;
  const starts = new Uint32Array(count);
  let line = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) starts[++line] = at + 1;
  return starts;
}
