import { quoted } from '../../api/meta/quoted.ts';

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

/** In the DOT language. */
export function dotOf({ nodes, edges }: Drawing): string {
  const lines = nodes.map(({ id, label, mark }) => {
    const fill = mark === undefined ? undefined : FILL[mark];
    return `  ${quoted(id)} [label=${quoted(label)}${fill === undefined ? '' : `, style=filled, fillcolor=${quoted(fill)}`}];`;
  });
  const arrows = edges.map(
    ({ from, to, dashed }) => `  ${quoted(from)} -> ${quoted(to)}${dashed === true ? ' [style=dashed]' : ''};`,
  );
  return [
    'digraph cascade {',
    '  rankdir=BT;',
    '  node [shape=box, fontname="sans-serif"];',
    ...lines,
    ...arrows,
    '}',
    '',
  ].join('\n');
}

/** As a Mermaid flowchart. */
export function mermaidOf({ nodes, edges }: Drawing): string {
  const names = new Map(nodes.map(({ id }, i) => [id, `n${i}`]));
  const marks = new Set(nodes.flatMap(({ mark }) => (mark === undefined ? [] : [mark])));
  const lines = nodes.map(({ id, label, mark }) => {
    const text = label.replaceAll('"', '#quot;').replaceAll('\n', '<br/>');
    return `  ${names.get(id)}["${text}"]${mark === undefined ? '' : `:::${mark}`}`;
  });
  const arrows = edges.flatMap(({ from, to, dashed }) => {
    const [a, b] = [names.get(from), names.get(to)];
    return a === undefined || b === undefined ? [] : [`  ${a} ${dashed === true ? '-.->' : '-->'} ${b}`];
  });
  const classes = [...marks].flatMap((mark) =>
    FILL[mark] === undefined ? [] : [`  classDef ${mark} fill:${FILL[mark]}`],
  );
  return ['flowchart BT', ...lines, ...arrows, ...classes, ''].join('\n');
}
