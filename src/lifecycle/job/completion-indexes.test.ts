import { describe, expect, it } from 'vitest';
import { formatIndexes, parseIndexes } from './completion-indexes.ts';

describe('completion indexes', () => {
  it.each([
    ['', []],
    ['0', [0]],
    ['0,1', [0, 1]],
    ['0-2,5', [0, 1, 2, 5]],
    ['1,3-5,7', [1, 3, 4, 5, 7]],
  ])('LIFE-352 %j stands for %j, both ways', (text, indexes) => {
    expect([...parseIndexes(text, 10)]).toEqual(indexes);
    expect(formatIndexes(new Set(indexes))).toBe(text);
  });

  it('LIFE-352 leaves out what the Job does not have', () => {
    expect([...parseIndexes('1-1000000000,x,3', 3)]).toEqual([1, 2]);
  });
});
