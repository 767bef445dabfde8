import { expect, it } from 'vitest';
import { grouped } from './grouped.ts';

it('groups items by key and keeps their order', () => {
  const groups = grouped(['pear', 'apple', 'plum', 'fig'], (fruit) => fruit[0]!);
  expect([...groups]).toEqual([
    ['p', ['pear', 'plum']],
    ['a', ['apple']],
    ['f', ['fig']],
  ]);
});
