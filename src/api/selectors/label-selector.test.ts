import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../status-error.ts';
import { LabelSelector, labelSelectorFromObject, labelSelectorFromSet, parseLabelSelector } from './label-selector.ts';
import type { LabelRequirement } from './requirement.ts';

describe('parseLabelSelector', () => {
  it.each<[string, string]>([
    ['', ''],
    ['  ', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a==b'],
    [' a != b ', 'a!=b'],
    ['a=', 'a='],
    ['a=,b', 'a=,b'],
    ['a', 'a'],
    ['!a', '!a'],
    ['a in (x,y)', 'a in (x,y)'],
    ['a in(y,x,y)', 'a in (x,y)'],
    ['a notin ( x )', 'a notin (x)'],
    ['a in ()', 'a in ()'],
    ['a in (,)', 'a in ()'],
    ['a in (x,)', 'a in (,x)'],
    ['a in (x,,y)', 'a in (,x,y)'],
    ['a in (,x)', 'a in (,x)'],
    ['a>1', 'a>1'],
    ['a<1', 'a<1'],
    ['b=1,a=2', 'a=2,b=1'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['in=notin', 'in=notin'],
    ['example.com/a=b', 'example.com/a=b'],
  ])('API-101 %j is %j', (text, want) => {
    expect(parseLabelSelector(text).toString()).toBe(want);
  });

  it.each<[string, RegExp]>([
    ['a,', /^found '', expected: identifier after ','$/],
    [',a', /^found ',', expected: !, identifier, or 'end of string'$/],
    ['a,,b', /^found ',', expected: identifier after ','$/],
    ['a b', /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt$/],
    ['a=b c', /^found 'c', expected: ',' or 'end of string'$/],
    ['!a=b', /^found '=', expected: ',' or 'end of string'$/],
    ['!', /^unable to parse requirement: found '', expected: identifier$/],
    ['a=(', /^unable to parse requirement: found '\(', expected: identifier$/],
    ['a in x', /^unable to parse requirement: found 'x' expected: '\('$/],
    ['a in (', /^unable to parse requirement: found '', expected: ',', '\)' or identifier$/],
    ['a in (x', /^unable to parse requirement: found '', expected: ',' or '\)'$/],
    ['a in (,', /^unable to parse requirement: found '', expected: ',', or identifier$/],
    ['a in (x=y)', /^unable to parse requirement: found '=', expected: ',' or '\)'$/],
    ['a in (=)', /^unable to parse requirement: found '=', expected: ',', '\)' or identifier$/],
    [
      'a>x',
      /^unable to parse requirement: values\[0\]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be /,
    ],
    ['/a', /^unable to parse requirement: <nil>: Invalid value: "\/a": prefix part must be non-empty$/],
    [
      'a=x%',
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "x%": a valid label must be an empty string /,
    ],
    ['=b', /^found '=', expected: !, identifier, or 'end of string'$/],
  ])('API-101 %j is a 400', (text, want) => {
    let caught: unknown;
    try {
      parseLabelSelector(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(StatusError);
    expect((caught as StatusError).code).toBe(400);
    expect((caught as StatusError).message).toMatch(want);
  });

  it('API-101 comma is and; negative terms match objects without the label', () => {
    const selector = parseLabelSelector('app=web,tier!=db,!legacy');
    expect(selector.matches({ app: 'web' })).toBe(true);
    expect(selector.matches({ app: 'web', tier: 'db' })).toBe(false);
    expect(selector.matches({ app: 'web', legacy: '' })).toBe(false);
    expect(selector.matches(undefined)).toBe(false);
    expect(parseLabelSelector('tier notin (db)').matches(undefined)).toBe(true);
  });

  it('API-101 the empty selector selects everything', () => {
    expect(parseLabelSelector('').empty).toBe(true);
    expect(parseLabelSelector('').matches(undefined)).toBe(true);
    expect(parseLabelSelector('a').empty).toBe(false);
  });
});

describe('properties', () => {
  const key = fc.constantFrom('a', 'b', 'in', 'notin', 'example.com/c');
  const value = fc.constantFrom('', 'x', 'y', 'in', '5', '7', '10');
  const one = value.map((only) => [only]);
  const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('=', '==', '!=') as fc.Arbitrary<'='>, values: one }),
    fc.record({
      key,
      operator: fc.constantFrom('in', 'notin') as fc.Arbitrary<'in'>,
      values: fc.uniqueArray(value, { minLength: 1 }),
    }),
    fc.record({ key, operator: fc.constantFrom('exists', '!') as fc.Arbitrary<'!'>, values: fc.constant([]) }),
    fc.record({
      key,
      operator: fc.constantFrom('gt', 'lt') as fc.Arbitrary<'gt'>,
      values: fc.constantFrom(['5'], ['0']),
    }),
  );
  const labels = fc.dictionary(key, value);

  /** A second, simpler implementation of the table of operators. */
  function reference(term: LabelRequirement, given: Record<string, string>): boolean {
    const found = given[term.key];
    const wanted = term.values as (string | undefined)[];
    const number = /^-?\d+$/.test(found ?? '') ? Number(found) : Number.NaN;
    if (term.operator === 'exists') return found !== undefined;
    if (term.operator === '!') return found === undefined;
    if (term.operator === 'gt') return number > Number(wanted[0]);
    if (term.operator === 'lt') return number < Number(wanted[0]);
    return wanted.includes(found) === ['=', '==', 'in'].includes(term.operator);
  }

  it('API-101 matches when every term does', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (terms, given) => {
        expect(LabelSelector.of(terms).matches(given)).toBe(terms.every((term) => reference(term, given)));
      }),
    );
  });

  it('API-101 what is printed parses to the same selector', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (terms, given) => {
        const selector = LabelSelector.of(terms);
        const parsed = parseLabelSelector(selector.toString());
        expect(parsed.toString()).toBe(selector.toString());
        expect(parsed.matches(given)).toBe(selector.matches(given));
      }),
    );
  });

  it('API-101 any text either parses or is a 400', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '=', '!', '(', ')', ',', '<', '>', 'in', '/', '%') });
    fc.assert(
      fc.property(text, (given) => {
        try {
          parseLabelSelector(given);
        } catch (error) {
          expect((error as StatusError).code).toBe(400);
        }
      }),
    );
  });
});

describe('labelSelectorFromObject', () => {
  it('API-101 absent selects nothing, empty selects everything', () => {
    expect(labelSelectorFromObject(undefined).matches({ a: 'b' })).toBe(false);
    expect(labelSelectorFromObject(null).empty).toBe(false);
    expect(labelSelectorFromObject({}).matches({ a: 'b' })).toBe(true);
    expect(labelSelectorFromObject({}).empty).toBe(true);
  });

  it('API-101 combines labels and expressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'x', operator: 'NotIn', values: ['1'] },
        { key: 'y', operator: 'Exists' },
        { key: 'z', operator: 'DoesNotExist', values: [] },
      ],
    });
    expect(selector.toString()).toBe('app=web,tier in (a,b),x notin (1),y,!z');
  });

  it.each([
    [
      { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
      '"Gt" is not a valid label selector operator',
    ],
    [{ matchExpressions: [{ key: 'a', operator: 'toString' }] }, '"toString" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [{ matchLabels: { '/a': '' } }, 'key: Invalid value: "/a": prefix part must be non-empty'],
  ])('API-101 %o is a 400', (selector, want) => {
    expect(() => labelSelectorFromObject(selector)).toThrow(want);
  });
});

describe('labelSelectorFromSet', () => {
  it('API-101 is a conjunction of equalities', () => {
    expect(labelSelectorFromSet({ b: '2', a: '1' }).toString()).toBe('a=1,b=2');
    expect(labelSelectorFromSet(undefined).empty).toBe(true);
  });
});
