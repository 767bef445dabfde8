import { describe, expect, it } from 'vitest';
import { indentedJson } from './json-pieces.ts';

describe('JSON in pieces', () => {
  it.each([0, 1, 1000, 1001, 1100, 1150, 9001])(
    'is what JSON.stringify gives, with a list of %i elements',
    (length) => {
      const list = Array.from({ length }, (_, n) =>
        n % 7 === 0 ? `line\n${n}` : { name: `é${n}`, of: [n, []], none: {} },
      );
      const document = {
        kind: 'Graph',
        absent: undefined,
        nothing: null,
        nodes: list,
        few: [1, 'a\nb'],
        edges: list,
        plan: { summary: { list, empty: [] }, few: ['a\nb'] },
      };
      expect([...indentedJson(document)].join('')).toBe(`${JSON.stringify(document, undefined, 2)}\n`);
    },
  );

  it('is short for a document without members, and in many pieces for a long one', () => {
    expect([...indentedJson({})].join('')).toBe('{}\n');
    const pieces = [...indentedJson({ list: Array.from({ length: 5000 }, () => 'x'.repeat(100)) })];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(15_000);
  });
});
