/** A list with more elements than this is written in parts. */
const LONG_LIST = 1000;
/** Elements of a part. */
const PART = 100;

/**
 * `JSON.stringify(document, undefined, 2)` and a newline, in pieces, for a document with a long list among its members: a plan of a million
 * objects has more characters than a string may have.
 */
export function* indentedJson(document: object): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}\n  ${JSON.stringify(key)}: `;
    before = ',';
    if (!Array.isArray(value) || value.length <= LONG_LIST) {
      yield deeper(JSON.stringify(value, undefined, 2));
      continue;
    }
    for (let i = 0; i < value.length; i += PART) {
      const part = JSON.stringify(value.slice(i, i + PART), undefined, 2);
      yield `${i === 0 ? '[' : ','}${deeper(part.slice('['.length, -'\n]'.length))}`;
    }
    yield '\n  ]';
  }
  yield before === '{' ? '{}\n' : '\n}\n';
}

/** One level further in. A newline inside a JSON text is never part of a string. */
const deeper = (text: string): string => text.replaceAll('\n', '\n  ');
