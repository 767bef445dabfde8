import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { hasLongList, jsonPieces } from '../../base/json/json-pieces.ts';

/** Minimum bytes of one chunk; a smaller document is one body. */
const CHUNK = 256 * 1024;

/** A document as JSON. Long lists in it are written piece by piece, because the whole may be longer than a string may be. */
export function jsonBody(document: object): Uint8Array | AsyncIterable<Uint8Array> {
  return hasLongList(document) ? chunks(document) : Buffer.from(stringifyExactJson(document));
}

async function* chunks(document: object): AsyncGenerator<Uint8Array> {
  let texts: string[] = [];
  let length = 0;
  for (const text of jsonPieces(document)) {
    texts.push(text);
    length += text.length;
    if (length < CHUNK) continue;
    yield Buffer.from(texts.join(''));
    texts = [];
    length = 0;
  }
  yield Buffer.from(texts.join(''));
}
