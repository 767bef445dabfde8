import { documentParts, isLongDocument } from '../../../base/json/document-parts.ts';
import { stringifyYaml } from './yaml.ts';

/** The YAML of a document in pieces: the same text as from {@link stringifyYaml}, which may be longer than a string may be. */
export function* yamlPieces(document: object): Generator<string> {
  const sorted = Object.fromEntries(Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  let isEmpty = true;
  for (const { key, value, isFirst } of documentParts(sorted)) {
    isEmpty = false;
    if (isLongDocument(value)) {
      yield stringifyYaml({ [key]: null }).replace(/ null\n$/, '\n');
      for (const piece of yamlPieces(value)) yield piece.replaceAll(/^(?=.)/gm, '  ');
      continue;
    }
    const text = stringifyYaml({ [key]: value });
    // The elements of a list stand below its key, in the same column.
    yield isFirst ? text : text.slice(text.indexOf('\n') + 1);
  }
  if (isEmpty) yield stringifyYaml({});
}
