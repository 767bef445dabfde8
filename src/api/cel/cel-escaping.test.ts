import { expect, it } from 'vitest';
import { escapeIdentifier } from './cel-escaping.ts';

it.each([
  ['name', 'name'],
  ['namespace', '__namespace__'],
  ['in', '__in__'],
  ['int', 'int'],
  ['a-b.c/d', 'a__dash__b__dot__c__slash__d'],
  ['__a', '__underscores__a'],
  ['_a_', '_a_'],
  ['1a', undefined],
  ['a b', undefined],
  ['é', undefined],
  ['', undefined],
])('%s is %s in expressions', (name, escaped) => {
  expect(escapeIdentifier(name)).toBe(escaped);
});
