import { quoted } from '../../api/meta/quoted.ts';
import { textPieces } from '../../base/collections/text-pieces.ts';

/** A drawing: nodes with a text and a class, and arrows from dependents to owners. */
export interface Drawing {
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly mark?: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly dashed?: boolean }[];
}

const FILL: Readonly<Record<string, string>> = {
  deleted: '#f8d7da',
  orphaned: '#cff4fc',
  kept: '#d1e7dd',
  waits: '#fff3cd',
  stuck: '#f1aeb5',
  unknown: '#e2d9f3',
  terminating: '#fff3cd',
  missing: '#e9ecef',
};

/** In the DOT language, in pieces. */
export function dotPieces(drawing: Drawing): Generator<string> {
  return textPieces(dotLines(drawing));
}

/** As a Mermaid flowchart, in pieces. */
export function mermaidPieces(drawing: Drawing): Generator<string> {
  return textPieces(mermaidLines(drawing));
}

function* dotLines({ nodes, edges }: Drawing): Generator<string> {
  yield 'digraph cascade {';
  yield '  rankdir=BT;';
  yield '  node [shape=box, fontname="sans-serif"];';
  for (const { id, label, mark } of nodes) {
    const fill = mark === undefined ? undefined : FILL[mark];
    yield `  ${quoted(id)} [label=${quoted(label)}${fill === undefined ? '' : `, style=filled, fillcolor=${quoted(fill)}`}];`;
  }
  for (const { from, to, dashed } of edges)
    yield `  ${quoted(from)} -> ${quoted(to)}${dashed === true ? ' [style=dashed]' : ''};`;
  yield '}';
}

function* mermaidLines({ nodes, edges }: Drawing): Generator<string> {
  const names = new Map<string, string>();
  const marks = new Set<string>();
  yield 'flowchart BT';
  for (const { id, label, mark } of nodes) {
    const name = `n${names.size}`;
    names.set(id, name);
    if (mark !== undefined) marks.add(mark);
    const text = label.replaceAll('"', '#quot;').replaceAll('\n', '<br/>');
    yield `  ${name}["${text}"]${mark === undefined ? '' : `:::${mark}`}`;
  }
  for (const { from, to, dashed } of edges) {
    const [a, b] = [names.get(from), names.get(to)];
    if (a !== undefined && b !== undefined) yield `  ${a} ${dashed === true ? '-.->' : '-->'} ${b}`;
  }
  for (const mark of marks) if (FILL[mark] !== undefined) yield `  classDef ${mark} fill:${FILL[mark]}`;
}
