import { describe, expect, it } from 'vitest';
import { MAX_OBJECT_MEMBERS } from '../codec/json/body-values.ts';
import { boundElements } from './list-element.ts';

describe('API-007 the elements of a list of type set or map', () => {
  const list = (length: number): number[] => Array.from({ length }, (_, at) => at);
  const most = MAX_OBJECT_MEMBERS;

  it.each([
    ['as many as one object may have members', list(most), []],
    ['fewer than before, though too many', list(most + 1), list(most + 2)],
    ['as many as before', list(most + 1), list(most + 1)],
  ])('may be %s', (_what, next, previous) => {
    expect(() => boundElements(next, previous)).not.toThrow();
  });

  it('may not become too many, nor more', () => {
    const refused = 'Request entity too large: limit is 10000 elements in one list of type set or map';
    expect(() => boundElements(list(most + 1))).toThrow(refused);
    expect(() => boundElements(list(most + 2), list(most + 1))).toThrow(refused);
  });
});
