import { describe, expect, it } from 'vitest';
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
    ['(?<=a)b', 'invalid or unsupported Perl syntax: `(?<=`'],
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
});
