import { describe, expect, it } from 'vitest';
import { StatusError } from '../status-error.ts';
import { boundTextValues, boundTreeValues, MAX_BODY_VALUES } from './body-values.ts';

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

  it.each([
    ['members', members(MAX_BODY_VALUES + 2)],
    ['elements', Array.from({ length: MAX_BODY_VALUES + 2 }, () => 1)],
    ['elements of many lists', Array.from({ length: 30_000 }, () => [1, 2])],
  ])('%s', (_what, value) => {
    const text = JSON.stringify(value);
    expect(refusal(() => boundTextValues(text))).toEqual(tooMany);
    expect(refusal(() => boundTreeValues(value, text.length))).toEqual(tooMany);
  });

  it('text counts as one value', () => {
    const value = members(MAX_BODY_VALUES - 1);
    const text = JSON.stringify(value);
    expect(refusal(() => boundTextValues(text))).toBeUndefined();
    expect(refusal(() => boundTreeValues(value, text.length))).toBeUndefined();
  });
});
