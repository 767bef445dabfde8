import { describe, expect, it } from 'vitest';
import { stringifyYaml } from './yaml.ts';
import { yamlPieces } from './yaml-pieces.ts';

describe('YAML in pieces', () => {
  it.each([0, 1, 1000, 1001, 1150, 2500])('is the text of the whole, with a list of %i elements', (length) => {
    const nodes = Array.from({ length }, (_, n) =>
      n % 7 === 0 ? `line\n${n}` : { name: `é${n}`, of: [n, []], none: {}, text: 'a: b\n- c\n' },
    );
    const document = {
      nodes,
      kind: 'Graph',
      absent: undefined,
      nothing: null,
      few: [1, 'a\nb'],
      edges: nodes,
      plan: { summary: { nodes, empty: [] }, few: ['a\n\nb'] },
      'a b': 1,
    };
    expect([...yamlPieces(document)].join('')).toBe(stringifyYaml(document));
  });

  it('is short for a document without members, and in many pieces for a long one', () => {
    expect([...yamlPieces({})].join('')).toBe(stringifyYaml({}));
    const pieces = [...yamlPieces({ list: Array.from({ length: 5000 }, () => 'x'.repeat(100)) })];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(15_000);
  });
});
