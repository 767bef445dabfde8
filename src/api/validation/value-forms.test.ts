import { describe, expect, it } from 'vitest';

import {
  domainPrefixProblems,
  isConfigKey,
  isEnvironmentName,
  isHttpHeaderName,
  isPercent,
  isPortName,
  isSearchDomain,
  isWildcardSubdomain,
} from './value-forms.ts';

describe('forms of values', () => {
  it.each<[string, (text: string) => string[], readonly string[], readonly string[]]>([
    [
      'port names',
      isPortName,
      ['http', 'a', '80a', 'a-b', 'x'.repeat(15)],
      ['', '80', 'A', '-a', 'a-', 'a--b', 'x'.repeat(16)],
    ],
    ['shares', isPercent, ['0%', '100%', '007%'], ['', '%', '1', '-1%', '1.5%', '1% ']],
    ['headers', isHttpHeaderName, ['X-A', '1'], ['', 'X_A', 'X A']],
    ['variables', isEnvironmentName, ['A', '9', 'a b', '.', '~'], ['', 'A=', 'ä', 'a\n']],
    ['keys', isConfigKey, ['a', '.a', 'A_b-c.d'], ['', '.', '..', '..a', 'a b', 'x'.repeat(254)]],
    ['wildcards', isWildcardSubdomain, ['*.a', '*.a.b-c'], ['', '*', '*a', 'a.*', '*.*.a', '*.A']],
    ['search domains', isSearchDomain, ['a', '_a._b.c'], ['', 'a_', '.', 'A']],
  ])('API-502 %s', (_, check, good, bad) => {
    for (const text of good) expect([text, check(text)]).toEqual([text, []]);
    for (const text of bad) expect([text, check(text).length > 0]).toEqual([text, true]);
  });

  it('API-502 each thing that is wrong with the name of a port', () => {
    expect(isPortName('-1--2-3-4-5-6-7-8-')).toEqual([
      'must be no more than 15 characters',
      'must contain at least one letter (a-z)',
      'must not contain consecutive hyphens',
      'must not begin or end with a hyphen',
    ]);
  });

  it('API-502 a domain and a path', () => {
    expect(domainPrefixProblems('example.com/a/b')).toEqual([]);
    for (const text of ['', 'a', '/a', 'a/']) expect(domainPrefixProblems(text)).toHaveLength(1);
    expect(domainPrefixProblems('A/ä').map(({ value }) => value)).toEqual(['A', 'ä']);
  });
});
