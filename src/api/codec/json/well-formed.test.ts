import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText } from './json.ts';
import { parseYaml, parseYamlDocuments } from '../yaml/yaml.ts';

describe('half a surrogate pair', () => {
  it.each([
    [String.raw`"\ud800"`, '\ufffd'],
    [String.raw`"a\udc00b"`, 'a\ufffdb'],
    [String.raw`"\ud834\udd1e"`, '𝄞'],
    [String.raw`"\ud834\ud834\udd1e"`, '\ufffd𝄞'],
    [String.raw`"\ud834𝄞\uDD1E"`, '\ufffd𝄞\ufffd'],
    // The backslash is escaped, so no escape of a surrogate follows.
    [String.raw`"\\ud800"`, String.raw`\ud800`],
    [
      String.raw`{"\ud800k":[{"a":"\uDFFF"}],"n":1,"t":true,"z":null}`,
      { '\ufffdk': [{ a: '\ufffd' }], n: 1, t: true, z: null },
    ],
  ])('%s is read as by Go, in JSON and YAML', (text, expected) => {
    expect(parseJsonText(text)).toEqual(expected);
    expect(parseYaml(text)).toEqual(expected);
    expect(parseYamlDocuments(text)).toEqual([expected]);
  });

  it('a key that is called __proto__ stays one', () => {
    expect(JSON.stringify(parseJsonText(String.raw`{"__proto__":{"a":"\ud800"}}`))).toBe(
      '{"__proto__":{"a":"\ufffd"}}',
    );
  });

  it('whatever is read has a UTF-8 form, and what had one is not changed', () => {
    const unit = fc.integer({ min: 0xd7f0, max: 0xe00f }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.array(fc.oneof(unit, fc.string()), { maxLength: 6 }), (parts) => {
        const text = parts.join('');
        const read = parseJsonText(JSON.stringify({ [text]: text }));
        const form = Buffer.from(text).toString();
        expect(read).toEqual({ [form]: form });
      }),
    );
  });
});
