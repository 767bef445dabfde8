import { describe, expect, it } from 'vitest';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegmentName,
  isQualifiedName,
  validateName,
} from './names.ts';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

describe('isDns1123Subdomain', () => {
  it.each(['a', 'a.b', '1a-b.c2', 'a'.repeat(253)])('API-063 %s', (name) => {
    expect(isDns1123Subdomain(name)).toEqual([]);
  });

  it.each(['', '.', '..', 'a/b', 'a%b', 'A', '-a', 'a-', 'a..b', 'a_b', 'ä', 'a\n'])('API-063 not %j', (name) => {
    expect(isDns1123Subdomain(name)).toEqual([SUBDOMAIN]);
  });

  it('API-063 not longer than 253', () => {
    expect(isDns1123Subdomain('a'.repeat(254))).toEqual(['must be no more than 253 characters']);
    expect(isDns1123Subdomain('ä'.repeat(127))).toEqual(['must be no more than 253 characters', SUBDOMAIN]);
  });
});

describe('isDns1123Label', () => {
  it('API-063 is one part of at most 63 bytes', () => {
    expect(isDns1123Label('1-a')).toEqual([]);
    expect(isDns1123Label('a'.repeat(63))).toEqual([]);
    expect(isDns1123Label('a'.repeat(64))).toEqual(['must be no more than 63 characters']);
    expect(isDns1123Label('a.b')).toEqual(['must not contain dots']);
    expect(isDns1123Label('A')).toEqual([LABEL]);
    expect(isDns1123Label('')).toEqual([LABEL]);
  });
});

describe('isDns1035Label', () => {
  it('begins with a letter', () => {
    expect(isDns1035Label('a1')).toEqual([]);
    expect(isDns1035Label('1a')).toEqual([LABEL_1035]);
    expect(isDns1035Label('a'.repeat(64))).toEqual(['must be no more than 63 characters']);
  });
});

describe('isQualifiedName', () => {
  it.each(['a', 'A.b_c-d', '1', 'example.com/MyName', `${'a'.repeat(63)}`])('API-066 %s', (name) => {
    expect(isQualifiedName(name)).toEqual([]);
  });

  it.each([
    ['', ['name part must be non-empty', NAME_PART]],
    ['a b', [NAME_PART]],
    ['-a', [NAME_PART]],
    ['a'.repeat(64), ['name part must be no more than 63 bytes']],
    ['/a', ['prefix part must be non-empty']],
    ['a/', ['name part must be non-empty', NAME_PART]],
    ['A.com/a', [`prefix part ${SUBDOMAIN}`]],
    [`${'a'.repeat(254)}/a`, ['prefix part must be no more than 253 bytes']],
    [
      'a/b/c',
      [
        `${NAME_PART.replace('name part', 'a valid label key')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ],
    ],
  ])('API-066 not %j', (name, want) => {
    expect(isQualifiedName(name)).toEqual(want);
  });
});

describe('isLabelValue', () => {
  it('API-066 is empty or at most 63 bytes of name', () => {
    expect(isLabelValue('')).toEqual([]);
    expect(isLabelValue('My_Value.1')).toEqual([]);
    expect(isLabelValue('a b')).toEqual([VALUE]);
    expect(isLabelValue('a/b')).toEqual([VALUE]);
    expect(isLabelValue('a'.repeat(64))).toEqual(['must be no more than 63 bytes']);
  });
});

describe('isPathSegmentName', () => {
  it.each([
    ['system:node', []],
    ['.', ["may not be '.'"]],
    ['..', ["may not be '..'"]],
    ['a/b', ["may not contain '/'"]],
    ['a%/b', ["may not contain '/'", "may not contain '%'"]],
  ])('API-063 %s', (name, want) => {
    expect(isPathSegmentName(name)).toEqual(want);
  });
});

describe('validateName', () => {
  it.each([
    ['dnsSubdomain', 'a.b', []],
    ['dnsSubdomain', '..', [SUBDOMAIN]],
    ['dnsLabel', 'a.b', ['must not contain dots']],
    ['service', '1a', []],
    ['service', 'a.b', ['must not contain dots']],
    ['pathSegment', 'A:B', []],
    ['pathSegment', '..', ["may not be '..'"]],
    ['customResourceDefinition', 'foos.example.com', []],
    ['customResourceDefinition', 'Foos', [SUBDOMAIN]],
  ] as const)('API-063 %s %s', (rule, name, want) => {
    expect(validateName(rule, name)).toEqual(want);
  });

  it('API-061 a generateName may end in a dash', () => {
    expect(validateName('dnsSubdomain', 'web-', { prefix: true })).toEqual([]);
    expect(validateName('dnsSubdomain', 'web-')).toEqual([SUBDOMAIN]);
    expect(validateName('dnsLabel', 'web-', { prefix: true })).toEqual([]);
    expect(validateName('pathSegment', '..', { prefix: true })).toEqual([]);
    expect(validateName('dnsLabel', '-', { prefix: true })).toEqual([LABEL]);
  });
});
