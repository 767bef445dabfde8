import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DELETE_REASONS } from './reasons.ts';

const folder = new URL('.', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const names = readdirSync(folder);
const sources = names.filter((name) => /(?<!\.test)\.ts$/.test(name) && !['reasons.ts', 'fixtures.ts'].includes(name));
const tests = names.filter((name) => name.endsWith('.test.ts') && name !== 'reasons.test.ts');

describe('the catalogue of reasons', () => {
  it.each(Object.entries(DELETE_REASONS))(
    '%s is a sentence, is given by a decision, proven by a test and specified',
    (reason, sentence) => {
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      expect(sources.filter((name) => read(name).includes(`'${reason}'`))).not.toEqual([]);
      expect(tests.filter((name) => read(name).includes(`'${reason}'`))).not.toEqual([]);
      expect(read('SPEC.md')).toContain(`\`${reason}\``);
    },
  );
});
