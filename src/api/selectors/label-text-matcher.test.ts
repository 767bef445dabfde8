import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labels, members, requirement } from '../../../test/arbitraries/labelled-metadata.ts';
import { JsonLabels } from '../codec/metadata/json-labels.ts';
import { LabelSelector } from './label-selector.ts';
import { LabelTextMatcher } from './label-text-matcher.ts';

const reader = new JsonLabels();

function matches(selector: LabelSelector, text: string): boolean | 'parse' {
  const json = Buffer.from(text);
  const places = reader.places(json, 0);
  return places === 'parse' ? 'parse' : new LabelTextMatcher(selector).matches(json, places);
}

describe('label selectors on text', () => {
  it('API-101 match what they match as labels', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 3 }), labels, members, (requirements, given, before) => {
        const selector = LabelSelector.of(requirements);
        const matched = matches(selector, JSON.stringify({ ...before, labels: given }));
        if (matched === 'parse') return;
        expect(matched).toBe(selector.matches(given));
        seen[`${matched}`]++;
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(300);
  });

  it('API-101 of a label that is there twice the last counts', () => {
    const one = (value: string): LabelSelector => LabelSelector.of([{ key: 'a', operator: '=', values: [value] }]);
    const text = '{"labels":{"a":"1","a":"2"}}';
    expect([matches(one('1'), text), matches(one('2'), text)]).toEqual([false, true]);
  });

  it('API-101 everything and nothing', () => {
    const found = [LabelSelector.everything, LabelSelector.nothing].map((selector) => matches(selector, '{}'));
    expect(found).toEqual([true, false]);
  });
});
