import { stringifyExactJson } from './exact-json.ts';

/** A list with more elements than this is written in parts. */
const LONG_LIST = 1000;
/** Elements of a part. */
const PART = 100;

/**
 * The JSON of a document in pieces, for one with a long list among its members: a plan of a million objects has more characters than a string
 * may have.
 * @param indent spaces of one level; 0 for one line
 */
export function* jsonPieces(document: object, indent = 0): Generator<string> {
  const line = indent === 0 ? '' : `\n${' '.repeat(indent)}`;
  const end = indent === 0 ? '' : '\n';
  // A newline inside a JSON text is never part of a string, so this moves a text one level further in.
  const deeper = (text: string): string => (indent === 0 ? text : text.replaceAll('\n', line));
  let before = '{';
  for (const [key, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}${line}${JSON.stringify(key)}:${indent === 0 ? '' : ' '}`;
    before = ',';
    if (!isLong(value)) {
      yield deeper(stringifyExactJson(value, indent));
      continue;
    }
    for (let i = 0; i < value.length; i += PART) {
      const part = stringifyExactJson(value.slice(i, i + PART), indent);
      yield `${i === 0 ? '[' : ','}${deeper(part.slice('['.length, -`${end}]`.length))}`;
    }
    yield `${line}]`;
  }
  yield before === '{' ? '{}' : `${end}}`;
}

/** True if {@link jsonPieces} writes the document in more pieces than one for each member. */
export function hasLongList(document: object): boolean {
  return Object.values(document).some(isLong);
}

/** Indented as by kubectl, with a newline at the end. */
export function* indentedJson(document: object): Generator<string> {
  yield* jsonPieces(document, 2);
  yield '\n';
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > LONG_LIST;
}
