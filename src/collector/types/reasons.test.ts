import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AnyReason, reasons, sentenceOf } from './reasons.ts';

const sections = Object.entries(reasons) as [string, Readonly<Record<string, string>>][];
const names = sections.flatMap(([, section]) => Object.keys(section)) as AnyReason[];

describe('the catalogue of reasons', () => {
  it('DESIGN 4 each reason is one sentence, and no two are the same', () => {
    const sentences = names.map(sentenceOf);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^.]*\.$/);
    expect([new Set(names).size, new Set(sentences).size]).toEqual([names.length, names.length]);
  });

  it('is the tables of docs/reasons.md, in the same order', () => {
    const page = readFileSync(new URL('../../../docs/reasons.md', import.meta.url), 'utf8');
    const described = page
      .split(/^## /m)
      .slice(1)
      .map((part) => ({
        section: /`(\w+)`/.exec(part)?.[1],
        rows: [...part.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name, sentence]) => [name, sentence]),
      }));
    expect(described).toEqual(sections.map(([section, rows]) => ({ section, rows: Object.entries(rows) })));
  });
});
