import { describe, expect, it } from 'vitest';
import { marshalled, quoted } from './quoted.ts';

describe('quoted', () => {
  it.each([
    ['', '""'],
    ['a b', '"a b"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['a\n\t\u0007', '"a\\n\\t\\a"'],
    ['\u0000\u007f', '"\\x00\\x7f"'],
    ['ä€', '"ä€"'],
    ['\u00a0', '"\\u00a0"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\u{1f600}', '"\u{1f600}"'],
  ])('API-042 %j', (text, want) => {
    expect(quoted(text)).toBe(want);
  });
});

describe('marshalled', () => {
  it('API-042 escapes like Go and prints absent values as null', () => {
    expect(marshalled({ a: '<&>' })).toBe('{"a":"\\u003c\\u0026\\u003e"}');
    expect(marshalled(undefined)).toBe('null');
    expect(marshalled(['x', 1])).toBe('["x",1]');
  });
});
