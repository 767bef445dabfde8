import { expect, it } from 'vitest';
import { readDigits } from './decimal-digits.ts';

it.each([
  ['', 0n],
  ['000', 0n],
  ['007', 7n],
  ['99999999999999999999', 99_999_999_999_999_999_999n],
  [`${'0'.repeat(30)}12`, 12n],
  ['100000000000000000000', undefined],
])('API-471 %s', (digits, value) => {
  expect(readDigits(digits)).toBe(value);
});
