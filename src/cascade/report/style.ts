import type { Outcome } from '../documents/cascade-plan.ts';

/** How a text is printed: colours, glyphs and width. Every colour has a word with the same meaning. */
export interface Style {
  /** ANSI colours; off with NO_COLOR and without a terminal. */
  readonly colour: boolean;
  /** Uses only ASCII in trees. */
  readonly ascii: boolean;
  /** Characters in a line; undefined if lines are not cut. */
  readonly width: number | undefined;
}

export const PLAIN: Style = { colour: false, ascii: false, width: undefined };

const COLOURS: Readonly<Record<Outcome, string>> = {
  deleted: '31',
  orphaned: '36',
  kept: '32',
  waits: '33',
  stuck: '1;31',
  unknown: '35',
};

export function paintOutcome({ colour }: Style, outcome: Outcome, text: string): string {
  return colour ? `\u001b[${COLOURS[outcome]}m${text}\u001b[0m` : text;
}

export function bold({ colour }: Style, text: string): string {
  return colour ? `\u001b[1m${text}\u001b[0m` : text;
}

export function dim({ colour }: Style, text: string): string {
  return colour ? `\u001b[2m${text}\u001b[0m` : text;
}

/** `1 object`, `4,812 objects` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`;
}

/** Cuts a text that is too long, and marks the cut with an ellipsis. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
