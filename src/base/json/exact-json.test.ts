import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { integerValue, parseExactJson, stringifyExactJson } from './exact-json.ts';

/** JSON values with integers of 64 bits anywhere. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerValue),
      fc.integer(),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((double) => Number.isSafeInteger(double) || double % 1 !== 0),
      fc.string(),
      fc.constantFrom(true, false, null, '9007199254740993', '\\"9007199254740993'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** JSON.stringify has no -0. */
const withoutMinusZero = (input: unknown): unknown =>
  JSON.parse(JSON.stringify(input, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)));

describe('exact JSON', () => {
  it.each<[string, unknown]>([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['18446744073709551616', 2 ** 64],
    ['[9007199254740993,18446744073709551616,-9999999999999999999]', [9007199254740993n, 2 ** 64, -1e19]],
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993e0', 9007199254740992],
    ['1234567890123456', 1234567890123456],
    ['"9007199254740993"', '9007199254740993'],
    [' [ 9007199254740993 , 1 ] ', [9007199254740993n, 1]],
    [
      '{ "a" : 9007199254740993 ,\n"b":{"c":[true,null,-1.5e3,"x\\"y"]}, "d":{}, "e":[ ] }',
      {
        a: 9007199254740993n,
        b: { c: [true, null, -1500, 'x"y'] },
        d: {},
        e: [],
      },
    ],
    ['{"a":9007199254740993,"a":1}', { a: 1 }],
  ])('%s is read', (text, expected) => {
    expect(parseExactJson(text)).toStrictEqual(expected);
  });

  it('values are read as they were written, compact and indented', () => {
    let long = 0;
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (input, indent) => {
        const text = stringifyExactJson(input, indent);
        if (/[\s[:,-]\d{16,}/.test(text)) long++;
        const read = parseExactJson(text);
        expect(withoutMinusZero(read)).toStrictEqual(withoutMinusZero(input));
        expect(stringifyExactJson(read, indent)).toBe(text);
      }),
      { numRuns: 200 },
    );
    expect(long).toBeGreaterThan(20);
  });

  it('a bigint changes nothing else in the text', () => {
    const around = { a: [1, { b: 'é"\n', c: undefined }], d: [undefined], e: {}, f: [], t: new Date(0) };
    for (const indent of [0, 2]) {
      expect(stringifyExactJson({ ...around, n: 9007199254740993n }, indent)).toBe(
        JSON.stringify({ ...around, n: 'LONG' }, undefined, indent).replace('"LONG"', '9007199254740993'),
      );
    }
  });

  it('other values without a JSON form are refused as by JSON.stringify', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => stringifyExactJson(circle)).toThrow(TypeError);
  });

  it('a key that is called __proto__ stays one', () => {
    const read = parseExactJson('{"__proto__":9007199254740993}') as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(stringifyExactJson(read)).toBe('{"__proto__":9007199254740993}');
  });

  it('long digits are found at any place', () => {
    for (let before = 0; before < 40; before++) {
      expect(parseExactJson(`[${' '.repeat(before)}9007199254740993]`)).toStrictEqual([9007199254740993n]);
    }
  });
});
