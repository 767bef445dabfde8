import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { StatusError } from '../../status-error.ts';
import { duplicateFields, encodeJson, MAX_JSON_DEPTH, parseJson } from './json.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function failure(input: Uint8Array): StatusError {
  try {
    parseJson(input);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('JSON', () => {
  it('encoded values parse to the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseJson(encodeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['{"a":[1e400]}', 'a number is too large'],
    [`[${'9'.repeat(400)}]`, 'a number is too large'],
    [`[-${'9'.repeat(250)}e60]`, 'a number is too large'],
  ])('API-150 %j is 400', (text, problem) => {
    const error = failure(bytes(text));
    expect(error.code).toBe(400);
    expect(error.message).toContain(`json parse error: ${problem}`);
  });

  it.each(['{"a":"12345678901234567891"}', '[1234567890123456789.5]', '[1e300]', '[0.12345678901234567]'])(
    'numbers that lose nothing by being doubles are accepted: %s',
    (text) => {
      expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
    },
  );

  it('invalid UTF-8 is 400, not a replacement character', () => {
    expect(failure(new Uint8Array([0x22, 0xff, 0x22])).message).toBe('json parse error: invalid UTF-8');
  });

  it('nesting is bounded, also where the text is not well-formed', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJson(bytes(nested(MAX_JSON_DEPTH)))).toBeInstanceOf(Array);
    expect(failure(bytes(nested(MAX_JSON_DEPTH + 1))).message).toBe('json parse error: exceeded max depth');
    expect(failure(bytes('{"a":'.repeat(200_000))).message).toBe('json parse error: exceeded max depth');
    expect(parseJson(bytes(JSON.stringify('['.repeat(5000))))).toBe('['.repeat(5000));
  });
});

describe('duplicate fields', () => {
  it.each([
    ['{"spec":{"replicas":1,"replicas":2}}', ['spec.replicas']],
    [
      '{"spec":{"template":{"spec":{"containers":[{"name":"a","name":"b"}]}}}}',
      ['spec.template.spec.containers[0].name'],
    ],
    ['{"metadata":{"labels":{"a.b/c":"1","a.b/c":"2"}}}', ['metadata.labels.a.b/c']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"a":{"x":1},"a":{"x":1}}', ['a']],
    ['[{"a":1},{"a":1},[{"a":1,"a":1}]]', ['[2][0].a']],
    ['{"a":"b","b":"a","c":"\\"a\\":","d":["a","a"]}', []],
    ['{"\\u0061":1,"a":2}', ['a']],
    ['{ "a" : 1 ,\n "b" : { "c" : "x\\\\" , "c"\t: 2 } }', ['b.c']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"a":1,"b":[1,2,{"c":{"d":1,"e":2,"d":3}}],"a":4}', ['b[2].c.d', 'a']],
  ])('API-231 in %s', (text, expected) => {
    expect(duplicateFields(bytes(text))).toEqual(expected);
  });

  it('API-231 no document has duplicates after it was parsed once', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(duplicateFields(encodeJson(value))).toEqual([]);
      }),
    );
  });

  it('API-231 at most 100 are reported', () => {
    const text = `{${Array.from({ length: 300 }, (_, n) => `"k${n}":1,"k${n}":2`).join(',')}}`;
    expect(duplicateFields(bytes(text))).toHaveLength(100);
  });
});
