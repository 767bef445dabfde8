import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { isLongDocument } from '../../base/json/document-parts.ts';
import { jsonPieces } from '../../base/json/json-pieces.ts';

/** Bytes of one chunk, unless a single text is longer. */
const CHUNK = 256 * 1024;
/** Bytes of a UTF-16 code unit in UTF-8. */
const MOST_BYTES = 3;

/** A document as JSON. Long lists in it are written piece by piece, because the whole may be longer than a string may be. */
export function jsonBody(document: object): Uint8Array | AsyncIterable<Uint8Array> {
  return isLongDocument(document) ? textBody(jsonPieces(document)) : Buffer.from(stringifyExactJson(document));
}

/** A text in chunks of some 256 KiB. */
export async function* textBody(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK);
  let length = 0;
  for (const text of pieces) {
    // Texts are encoded one by one: a joined one would be a large string that lives for a moment.
    const most = text.length * MOST_BYTES;
    if (length + most > chunk.length) {
      if (length > 0) yield chunk.subarray(0, length);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK, most));
      length = 0;
    }
    length += chunk.write(text, length);
  }
  yield chunk.subarray(0, length);
}
