import { describe, expect, it } from 'vitest';
import { ignoredSelectors, selectorErrors } from './review-selectors.ts';

const told = (asked: Record<string, unknown>): string[] =>
  selectorErrors(asked).map(({ field, message }) => `${field}: ${message}`);
const path = 'spec.resourceAttributes';

describe.each(['fieldSelector', 'labelSelector'] as const)('API-374 a question with a %s', (field) => {
  it('says something by it', () => {
    expect(told({})).toEqual([]);
    expect(told({ [field]: { rawSelector: 'a=b' } })).toEqual([]);
    for (const empty of [{}, { requirements: [] }]) {
      expect(told({ [field]: empty })).toEqual([
        `${path}.${field}.requirements: Required value: when ${path}.${field} is specified, requirements or rawSelector is required`,
      ]);
    }
  });

  it('says it in one way', () => {
    const requirements = [{ key: 'a', operator: 'In', values: ['b'] }];
    expect(told({ [field]: { rawSelector: 'a=b', requirements } })).toEqual([
      `${path}.${field}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
    ]);
  });

  it('has values where the operator wants some; an operator of a newer client is no error', () => {
    const requirements = [
      { key: 'a', operator: 'NotIn' },
      { key: 'a', operator: 'Exists', values: ['b'] },
      { key: 'a', operator: 'Newer', values: ['b'] },
    ];
    expect(told({ [field]: { requirements } })).toEqual([
      `${path}.${field}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      `${path}.${field}.requirements[1].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ]);
  });

  it('gets a note of its ignored parts', () => {
    const [known, newer] = [
      { key: 'a', operator: 'In', values: ['b'] },
      { key: 'a', operator: 'Newer', values: ['b'] },
    ];
    expect(ignoredSelectors({ [field]: { requirements: [known] } })).toBe('');
    expect(ignoredSelectors({ [field]: { requirements: [newer] } })).toBe(
      `${path}.${field} ignored due to parse error`,
    );
    expect(ignoredSelectors({ [field]: { requirements: [known, newer] } })).toBe(
      `${path}.${field} partially ignored due to parse error`,
    );
    expect(ignoredSelectors({ [field]: { rawSelector: 'a=b' } })).toBe('');
    expect(ignoredSelectors({ [field]: { rawSelector: 'a in (b' } })).toBe(
      `${path}.${field} ignored due to parse error`,
    );
  });
});

describe('API-374 names and values', () => {
  it('with labels are checked in full, with fields only for presence', () => {
    const requirements = [{ key: 'a b', operator: 'In', values: ['c d'] }];
    expect(told({ fieldSelector: { requirements } })).toEqual([]);
    expect(told({ labelSelector: { requirements } })).toEqual([
      expect.stringMatching(/^spec.resourceAttributes.labelSelector.requirements\[0\].key: Invalid value: "a b": name/),
      expect.stringMatching(
        /^spec.resourceAttributes.labelSelector.requirements\[0\].values\[0\]: Invalid value: "c d"/,
      ),
    ]);
    expect(told({ fieldSelector: { requirements: [{ operator: 'Exists' }] } })).toEqual([
      `${path}.fieldSelector.requirements[0].key: Required value: must be specified`,
    ]);
  });

  it('a field has one value, and is always there', () => {
    const read = (operator: string, values?: string[]): string =>
      ignoredSelectors({ fieldSelector: { requirements: [{ key: 'a', operator, values }] } });
    expect([read('In', ['b', 'c']), read('Exists')]).toEqual(
      Array.from({ length: 2 }, () => `${path}.fieldSelector ignored due to parse error`),
    );
  });
});
