import { describe, expect, it } from 'vitest';
import { dotPieces, mermaidPieces } from './drawing.ts';

const nodes = [
  { id: 'u1', label: 'pod/"a"\ndeleted', mark: 'deleted' },
  { id: 'u2', label: 'pod/b' },
];
const edges = [
  { from: 'u1', to: 'u2' },
  { from: 'u2', to: 'u1', dashed: true },
];

describe('a drawing', () => {
  it('CAS-021 is a graph in the DOT language', () => {
    expect([...dotPieces({ nodes, edges })].join('')).toBe(
      [
        'digraph cascade {',
        '  rankdir=BT;',
        '  node [shape=box, fontname="sans-serif"];',
        String.raw`  "u1" [label="pod/\"a\"\ndeleted", style=filled, fillcolor="#f8d7da"];`,
        '  "u2" [label="pod/b"];',
        '  "u1" -> "u2";',
        '  "u2" -> "u1" [style=dashed];',
        '}',
        '',
      ].join('\n'),
    );
  });

  it('CAS-021 is a Mermaid flowchart, without arrows to what it does not show', () => {
    expect([...mermaidPieces({ nodes, edges: [...edges, { from: 'u1', to: 'u3' }] })].join('')).toBe(
      [
        'flowchart BT',
        '  n0["pod/#quot;a#quot;<br/>deleted"]:::deleted',
        '  n1["pod/b"]',
        '  n0 --> n1',
        '  n1 -.-> n0',
        '  classDef deleted fill:#f8d7da',
        '',
      ].join('\n'),
    );
  });

  it.each([dotPieces, mermaidPieces])('CAS-004 comes in pieces: %s', (pieces) => {
    const many = Array.from({ length: 20_000 }, (_, n) => ({ id: `u${n}`, label: `pod/${n}` }));
    const all = [...pieces({ nodes: many, edges: [] })];
    expect(all.length).toBeGreaterThan(5);
    expect(
      all
        .join('')
        .split('\n')
        .filter((line) => line.includes('pod/')),
    ).toHaveLength(20_000);
  });
});
