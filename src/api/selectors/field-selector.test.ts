import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StatusError } from '../status-error.ts';
import { escapeValue, FieldSelector, parseFieldSelector } from './field-selector.ts';

describe('parseFieldSelector', () => {
  it.each<[string, FieldSelector['requirements']]>([
    ['', []],
    [',,', []],
    ['a=b', [{ field: 'a', operator: '=', value: 'b' }]],
    ['a==b', [{ field: 'a', operator: '=', value: 'b' }]],
    ['a!=b', [{ field: 'a', operator: '!=', value: 'b' }]],
    ['a=', [{ field: 'a', operator: '=', value: '' }]],
    [
      'b=1,a!=2',
      [
        { field: 'a', operator: '!=', value: '2' },
        { field: 'b', operator: '=', value: '1' },
      ],
    ],
    ['a=x\\,y\\=z\\\\', [{ field: 'a', operator: '=', value: 'x,y=z\\' }]],
    ['a!b=c', [{ field: 'a!b', operator: '=', value: 'c' }]],
    ['metadata.name=my pod', [{ field: 'metadata.name', operator: '=', value: 'my pod' }]],
  ])('API-102 %j', (text, want) => {
    expect(parseFieldSelector(text).requirements).toEqual(want);
  });

  it.each([
    ['abc', "invalid selector: 'abc'; can't understand 'abc'"],
    ['b=1,a', "invalid selector: 'b=1,a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a===b', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('API-102 %j is a 400', (text, message) => {
    let caught: unknown;
    try {
      parseFieldSelector(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code: 400, message });
  });

  it('API-103 knows the value that a field must have', () => {
    const selector = parseFieldSelector('metadata.name=x,metadata.namespace!=y');
    expect(selector.exact('metadata.name')).toBe('x');
    expect(selector.exact('metadata.namespace')).toBeUndefined();
    expect(selector.exact('status.phase')).toBeUndefined();
    expect(selector.empty).toBe(false);
    expect(parseFieldSelector('').empty).toBe(true);
  });

  it('API-102 comma is and', () => {
    const fields: Record<string, string> = { a: '1', b: '2' };
    const get = (field: string): string => fields[field] ?? '';
    expect(parseFieldSelector('a=1,b!=3').matches(get)).toBe(true);
    expect(parseFieldSelector('a=1,b!=2').matches(get)).toBe(false);
    expect(parseFieldSelector('c=').matches(get)).toBe(true);
  });
});

describe('properties', () => {
  const selector = fc.array(
    fc.record({
      field: fc.constantFrom('metadata.name', 'a', 'b'),
      operator: fc.constantFrom('=', '!=') as fc.Arbitrary<'=' | '!='>,
      value: fc.string({ unit: fc.constantFrom('x', ',', '=', '\\', '!', ' ', 'ä', '\n') }),
    }),
    { maxLength: 4 },
  );

  it('API-102 what is printed parses back, in sorted order', () => {
    fc.assert(
      fc.property(selector, (requirements) => {
        const parsed = parseFieldSelector(new FieldSelector(requirements).toString());
        const order = (list: readonly object[]): string[] => list.map((item) => JSON.stringify(item)).sort();
        expect(order(parsed.requirements)).toEqual(order(requirements));
      }),
    );
  });

  it('API-102 any text either parses or is a 400', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '=', '\\', '!') }), (text) => {
        try {
          parseFieldSelector(text);
        } catch (error) {
          expect((error as StatusError).code).toBe(400);
        }
      }),
    );
  });

  it('API-102 escapes exactly the three', () => {
    expect(escapeValue('a,b=c\\d!e')).toBe('a\\,b\\=c\\\\d!e');
  });
});
