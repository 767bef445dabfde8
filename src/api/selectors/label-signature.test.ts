import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labels, members, requirement } from '../../../test/arbitraries/labelled-metadata.ts';
import { JsonLabels } from '../codec/metadata/json-labels.ts';
import { LabelSelector } from './label-selector.ts';
import {
  type LabelSignature,
  mayHave,
  requiredSignature,
  signatureOfPlaces,
  UNKNOWN_LABELS,
} from './label-signature.ts';

const reader = new JsonLabels();

/** The signature as a store computes it from the text of an object; metadata begins behind `prefix`. */
function signatureOf(text: string, prefix = ''): LabelSignature {
  const json = Buffer.from(prefix + text);
  const places = reader.places(json, Buffer.byteLength(prefix));
  return places === 'parse' ? UNKNOWN_LABELS : signatureOfPlaces(json, places);
}

describe('signatures of labels', () => {
  it('API-101 an object that a selector matches has its bits, wherever its labels stand', () => {
    let ruledOut = 0;
    fc.assert(
      fc.property(
        fc.array(requirement, { maxLength: 3 }),
        fc.option(labels, { nil: undefined }),
        members,
        members,
        (requirements, given, before, { name: _name, ...after }) => {
          const selector = LabelSelector.of(requirements);
          const behind = Object.fromEntries(Object.entries(after).filter(([member]) => !Object.hasOwn(before, member)));
          const text = JSON.stringify({ ...before, ...(given === undefined ? {} : { labels: given }), ...behind });
          const may = mayHave(signatureOf(text, '{"metadata":'), requiredSignature(selector));
          if (!may) ruledOut++;
          if (selector.matches(given)) expect(may).toBe(true);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(ruledOut).toBeGreaterThan(300);
  });

  it.each([
    ['no labels', '{"name":"a"}', { low: 0, high: 0 }],
    ['nothing at all', '{}', { low: 0, high: 0 }],
    ['an empty map', '{"labels":{}}', { low: 0, high: 0 }],
    ['null', '{"labels":null}', UNKNOWN_LABELS],
    ['a value that is null', '{"labels":{"a":null}}', UNKNOWN_LABELS],
    ['an escape', '{"labels":{"a":"\\u0062"}}', UNKNOWN_LABELS],
    ['white space', '{ "labels":{}}', UNKNOWN_LABELS],
    ['an end that does not come', '{"labels":{"a":"b"', UNKNOWN_LABELS],
    ['a list that does not end', '{"finalizers":["a"', UNKNOWN_LABELS],
    ['a string that does not end', '{"name":"a\\"', UNKNOWN_LABELS],
    ['no object', '"a"', UNKNOWN_LABELS],
  ])('API-101 of %s', (_what, text, expected) => {
    expect(signatureOf(text)).toEqual(expected);
  });

  it('API-101 a label that is there twice counts with both values', () => {
    const twice = signatureOf('{"labels":{"a":"1","a":"2"}}');
    for (const one of ['1', '2']) {
      const selector = LabelSelector.of([{ key: 'a', operator: '=', values: [one] }]);
      expect(mayHave(twice, requiredSignature(selector))).toBe(true);
    }
  });

  it('API-101 few of many others pass: of objects with eight labels each, one in five at most', () => {
    const text = (app: number): string =>
      JSON.stringify({
        labels: Object.fromEntries(
          [...Array(7).keys()].map((i) => [`example.com/label-${i}`, 'same']).concat([['app', `${app}`]]),
        ),
      });
    const required = requiredSignature(LabelSelector.of([{ key: 'app', operator: '=', values: ['0'] }]));
    const passing = [...Array(2_000).keys()].filter((app) => mayHave(signatureOf(text(app)), required));
    expect(passing).toContain(0);
    expect(passing.length).toBeLessThan(400);
  });
});
