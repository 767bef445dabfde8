import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { compileGoRegexp } from './go-regexp.ts';

describe('compileGoRegexp', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['^a+$', ['a', 'aaa'], ['', 'b', 'a\n']],
    ['b', ['abc'], ['ac']],
    ['^(\\d+|\\w)-[^\\s]$', ['12-x', '_-ä'], ['١-x', 'é-x', '1- ']],
    ['^\\s$', [' ', '\t'], ['\v', '\u00a0']],
    ['^[[:alpha:]_][[:^digit:]]$', ['a!', '_é'], ['1a', 'a1']],
    ['^[\\d\\-.\\]]+$', ['1-2.]'], ['a', '\\']],
    ['^[^\\D]$', ['7'], ['a']],
    ['^[]a]$', [']', 'a'], ['b']],
    ['^[a-]$', ['a', '-'], ['b']],
    ['(?i)^abc[d-f]$', ['ABCE', 'abcd'], ['abcg']],
    ['^a(?i:b)c$', ['aBc', 'abc'], ['abC']],
    ['^a(?i)b$', ['aB'], ['AB']],
    ['(?s)^a.b$', ['a\nb'], ['ab']],
    ['^a.b$', ['axb', 'a😀b'], ['a\nb']],
    ['(?m)^b$', ['a\nb\nc', 'b'], ['ab']],
    ['\\Aab\\z', ['ab'], ['ab\n', 'xab']],
    ['^(?P<year>\\d{4})(?:-\\d{2}){0,2}$', ['2026', '2026-01-02'], ['2026-1', '2026-01-02-03']],
    ['^\\Qa.b*\\E$', ['a.b*'], ['axb']],
    ['^\\x41\\x{1F600}\\101$', ['A😀A'], ['AA']],
    ['^\\pL\\p{Greek}\\P{Lu}$', ['éαa'], ['1αa', 'éaa', 'éαA']],
    ['^a{,2}$', ['a{,2}'], ['a', 'aa']],
    ['^x*?y??$', ['', 'xxy'], ['yx']],
    ['^a/b"\\"\\_\\-$', ['a/b""_-'], ['a']],
    ['^((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.|$)){4}', ['10.0.0.1', '255.255.255.0'], ['256.0.0.1x', '1.2']],
    ['^*a', ['a'], []],
  ])('API-460 %s', (pattern, matching, others) => {
    const regexp = compileGoRegexp(pattern);
    expect(matching.filter((text) => !regexp.test(text))).toEqual([]);
    expect(others.filter((text) => regexp.test(text))).toEqual([]);
  });

  it.each([
    ['a(?=b)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['a(?!b)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?<=a)b', 'invalid named capture: `(?<=a)b`'],
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['\\y', 'invalid escape sequence: `\\y`'],
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['[a', 'missing closing ]: `[a`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['[[:nope:]]', 'invalid character class range: `[:nope:]`'],
    ['\\p{Nope}', 'invalid character class range: `\\p{Nope}`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['*', 'missing argument to repetition operator: `*`'],
    ['a|+', 'missing argument to repetition operator: `+`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['a{2,1}', 'invalid repeat count: `{2,1}`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
  ])('API-451 refuses %s', (pattern, problem) => {
    expect(() => compileGoRegexp(pattern)).toThrow(`error parsing regexp: ${problem}`);
  });

  it.each<[string, string, readonly [number, number] | undefined]>([
    ['b+', 'abbbc', [1, 4]],
    ['b+?', 'abbbc', [1, 2]],
    ['a|ab', 'xab', [1, 2]],
    ['(?:ab|a)(?:c|bcd)', 'abcd', [0, 3]],
    ['x*', 'abc', [0, 0]],
    ['$', 'abc', [3, 3]],
    ['\\bfoo\\b', 'afoo foo', [5, 8]],
    ['(?m)^b.$', 'ab\nbc\nb', [3, 5]],
    ['[^a]', '😀a', [0, 2]],
    ['(?i)STRASSE', 'die Strasse', [4, 11]],
    ['nope', 'abc', undefined],
    ['.+b', 'aabaa', [0, 3]],
  ])('finds %s in %j', (pattern, text, place) => {
    expect(compileGoRegexp(pattern).find(text)).toEqual(place);
  });

  it('finds where JavaScript finds, for patterns that mean the same in both', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '(?:ab)', '(a|b)', '.', '\\b', '^', '$');
    const repeated = fc
      .tuple(atom, fc.constantFrom('', '*', '+', '?', '*?', '+?', '{1,2}'))
      .map(([each, times]) => (/^(?:\\b|\^|\$)$/.test(each) ? each : each + times));
    const pattern = fc.array(repeated, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const either = fc.array(pattern, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|'));
    fc.assert(
      fc.property(either, fc.array(fc.constantFrom('a', 'b', ' '), { maxLength: 8 }), (source, letters) => {
        const text = letters.join('');
        const match = new RegExp(source, 'u').exec(text);
        const expected = match === null ? undefined : [match.index, match.index + match[0].length];
        const regexp = compileGoRegexp(source);
        expect(regexp.find(text)).toEqual(expected);
        expect(regexp.test(text)).toBe(expected !== undefined);
      }),
      { numRuns: 500 },
    );
  });

  it('takes no time that grows faster than the text', () => {
    const text = `${'a'.repeat(20_000)}!`;
    expect(compileGoRegexp('^(a+)+$').test(text)).toBe(false);
    expect(compileGoRegexp('(a|a)*b').find(text)).toBeUndefined();
  });
});
