import { documentParts, isLongDocument } from './document-parts.ts';
import { stringifyExactJson } from './exact-json.ts';

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
  for (const { key, value, isFirst, isLast } of documentParts(document)) {
    if (isFirst) yield `${before}${line}${JSON.stringify(key)}:${indent === 0 ? '' : ' '}`;
    before = ',';
    if (isLongDocument(value)) {
      for (const piece of jsonPieces(value, indent)) yield deeper(piece);
      continue;
    }
    const text = stringifyExactJson(value, indent);
    if (isFirst && isLast) {
      yield deeper(text);
      continue;
    }
    yield `${isFirst ? '[' : ','}${deeper(text.slice('['.length, -`${end}]`.length))}`;
    if (isLast) yield `${line}]`;
  }
  yield before === '{' ? '{}' : `${end}}`;
}

/** Indented as by kubectl, with a newline at the end. */
export function* indentedJson(document: object): Generator<string> {
  yield* jsonPieces(document, 2);
  yield '\n';
}
