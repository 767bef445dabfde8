import { describe, expect, it } from 'vitest';
import { StatusError } from '../../status-error.ts';
import { boundTextValues, boundTreeValues, MAX_BODY_VALUES, MAX_OBJECT_MEMBERS } from './body-values.ts';

const members = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'a,b:c,d:e,f:g']));

describe('API-007 the values of a body are bounded', () => {
  const refusal = (act: () => void): unknown => {
    try {
      act();
    } catch (error) {
      return error instanceof StatusError ? [error.code, error.message] : error;
    }
    return undefined;
  };
  const tooMany = [413, 'Request entity too large: limit is 50000 values'];

  const tooWide = [413, 'Request entity too large: limit is 10000 members in one object'];
  const spread = (objects: number, each: number): unknown => Array.from({ length: objects }, () => members(each));

  it.each([
    ['members', spread(6, MAX_BODY_VALUES / 6 + 1), tooMany],
    ['elements', Array.from({ length: MAX_BODY_VALUES + 2 }, () => 1), tooMany],
    ['elements of many lists', Array.from({ length: 30_000 }, () => [1, 2]), tooMany],
    ['members of one object', { a: [{}, { b: members(MAX_OBJECT_MEMBERS + 1) }] }, tooWide],
  ])('%s', (_what, value, refused) => {
    const text = JSON.stringify(value);
    expect(refusal(() => boundTextValues(text))).toEqual(refused);
    expect(refusal(() => boundTreeValues(value, text.length))).toEqual(refused);
  });

  it('text counts as one value, and members of other objects are not those of one', () => {
    const value = [...(spread(4, MAX_OBJECT_MEMBERS) as object[]), { last: members(MAX_OBJECT_MEMBERS - 10) }];
    const text = JSON.stringify(value);
    expect(refusal(() => boundTextValues(text))).toBeUndefined();
    expect(refusal(() => boundTreeValues(value, text.length))).toBeUndefined();
  });
});
