import { expect, it } from 'vitest';
import { repeatedIndexes } from './repeated.ts';

it('finds what a list has twice, from the second time on', () => {
  expect([...repeatedIndexes(['a', 'b', 'a', 'a', 'c', 'b'])]).toEqual([2, 3, 5]);
  expect([...repeatedIndexes([])]).toEqual([]);
});
