import { describe, expect, it } from 'vitest';
import { jsonSyntaxProblem } from './syntax-problem.ts';

describe('a text that is no JSON', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    [' \n', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['nonsense', `invalid character 'o' in literal null (expecting 'u')`],
    ['x', `invalid character 'x' looking for beginning of value`],
    ["'", `invalid character '\\'' looking for beginning of value`],
    ['{a:1}', `invalid character 'a' looking for beginning of object key string`],
    ['{"a":1,}', `invalid character '}' looking for beginning of object key string`],
    ['{"a" 1}', `invalid character '1' after object key`],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['[1 2]', `invalid character '2' after array element`],
    ['[1,]', `invalid character ']' looking for beginning of value`],
    ['{}{', `invalid character '{' after top-level value`],
    ['[tru]', `invalid character ']' in literal true (expecting 'e')`],
    ['-x', `invalid character 'x' in numeric literal`],
    ['1.x', `invalid character 'x' after decimal point in numeric literal`],
    ['1e+x', `invalid character 'x' in exponent of numeric literal`],
    ['01', `invalid character '1' after top-level value`],
    ['"a\nb"', `invalid character '\\n' in string literal`],
    ['"\\q"', `invalid character 'q' in string escape code`],
    ['"\\u12g4"', `invalid character 'g' in \\u hexadecimal character escape`],
    ['é', `invalid character 'Ã' looking for beginning of value`],
    ['\ufeff{}', `invalid character 'ï' looking for beginning of value`],
    [`${'['.repeat(100_000)}x`, `invalid character 'x' looking for beginning of value`],
  ])('API-150 %j is described as Go describes it', (text, problem) => {
    expect(jsonSyntaxProblem(text)).toBe(problem);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });
});
