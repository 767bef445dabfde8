import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lintCodes } from '../lint/lint-codes.ts';
import { explainCodes } from './explain-codes.ts';

it('CAS-032 and CAS-040: docs/stuck.md has every code with its meaning, and no other', () => {
  const text = readFileSync(new URL('../../../docs/stuck.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code, rest]) => [code, rest]);
  expect(rows).toEqual([
    ...Object.entries(explainCodes),
    ...Object.entries(lintCodes).map(([code, [severity, what]]) => [code, `${severity} | ${what}`]),
  ]);
});
