import { expect, it } from 'vitest';
import { reasons, sentenceOf, type Reason } from './reasons.ts';

it('DESIGN 4 each reason is one sentence, and no two are the same', () => {
  const sentences = (Object.keys(reasons) as Reason[]).map(sentenceOf);
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^.]*\.$/);
  expect(new Set(sentences).size).toBe(sentences.length);
});
