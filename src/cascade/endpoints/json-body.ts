import { stringifyExactJson } from '../../base/json/exact-json.ts';

/** Minimum bytes of one chunk; a smaller document is one body. */
const CHUNK = 256 * 1024;
/** A list with more elements than this is written in parts. */
const LONG_LIST = 1000;
/** Elements of a part. */
const PART = 100;

/**
 * A document as JSON. Long lists in it are written piece by piece: a plan of a million objects has more characters than a string may have.
 */
export function jsonBody(document: object): Uint8Array | AsyncIterable<Uint8Array> {
  const isLong = Object.values(document).some((value) => Array.isArray(value) && value.length > LONG_LIST);
  return isLong ? chunks(document) : Buffer.from(stringifyExactJson(document));
}

async function* chunks(document: object): AsyncGenerator<Uint8Array> {
  let texts: string[] = [];
  let length = 0;
  for (const text of pieces(document)) {
    texts.push(text);
    length += text.length;
    if (length < CHUNK) continue;
    yield Buffer.from(texts.join(''));
    texts = [];
    length = 0;
  }
  yield Buffer.from(texts.join(''));
}

function* pieces(document: object): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    before = ',';
    if (!Array.isArray(value) || value.length <= LONG_LIST) {
      yield stringifyExactJson(value);
      continue;
    }
    for (let i = 0; i < value.length; i += PART)
      yield `${i === 0 ? '[' : ','}${stringifyExactJson(value.slice(i, i + PART)).slice(1, -1)}`;
    yield ']';
  }
  yield '}';
}
