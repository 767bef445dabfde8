import { humanDuration } from '../../api/meta/duration.ts';
import type { GraphDocument, GraphDocumentEdge, GraphDocumentNode } from '../documents/graph-document.ts';
import { objectName, typeName } from '../preview/object-name.ts';
import type { Drawing } from './drawing.ts';
import { cut, dim, type Style } from './style.ts';
import { type TreeLine, treeLines } from './tree-lines.ts';

const MOST_LINES = 200;

export interface GraphTextOptions {
  readonly style: Style;
  readonly all: boolean;
  /** `up` shows owners below their dependents. */
  readonly direction: 'down' | 'up';
  /** Milliseconds since the epoch, for ages. */
  readonly now: number;
  /** uids at the top of the tree; by default, all objects without owners in it. */
  readonly tops?: readonly string[];
  /** The namespace that is not printed. */
  readonly home: string | undefined;
  /** `Ready` or `Status` of an object, from the server's table. */
  readonly statusOf?: (uid: string) => string | undefined;
}

interface Hung {
  readonly node: GraphDocumentNode;
  /** The reference that places the object below the line above. */
  readonly edge: GraphDocumentEdge | undefined;
}

/** Objects with those below them (or above), one line each: name, status, how many die with it, age, marks (CAS-020). */
export function graphText(document: GraphDocument, options: GraphTextOptions): string {
  const lines = treeOf(document, options);
  const ages = new Map<string, string>();
  const ageOf = (created: string): string => {
    let age = ages.get(created);
    if (age === undefined) ages.set(created, (age = humanDuration(options.now - Date.parse(created))));
    return age;
  };
  const nameOf = ({ prefix, value: { node }, folded }: TreeLine<Hung>): string => {
    if (folded !== undefined) return `${prefix}… and ${decimal(folded)} more like ${typeName(node.ref)}`;
    const { namespace } = node.ref;
    const elsewhere = namespace === undefined || namespace === options.home ? '' : ` (${namespace})`;
    return `${prefix}${objectName(node.ref)}${elsewhere}`;
  };
  const ofObjects = (cell: (hung: Hung) => string) => (line: TreeLine<Hung>) =>
    line.folded === undefined ? cell(line.value) : '';
  const columns: [title: string, cell: (line: TreeLine<Hung>) => string][] = [['OBJECT', nameOf]];
  if (options.statusOf !== undefined)
    columns.push(['STATUS', ofObjects(({ node }) => options.statusOf?.(node.ref.uid) ?? '')]);
  columns.push(
    ['DIES', ofObjects(({ node: { dies } }) => (dies === undefined ? '' : decimal(dies)))],
    ['AGE', ofObjects(({ node: { created } }) => (created === undefined ? '' : ageOf(created)))],
    ['MARKS', ofObjects(({ node, edge }) => marksOf(node, edge))],
  );
  const texts = columns.map(([title, cell]) => padded([title, ...lines.map(cell)]));
  const rows = texts[0]!.map((_, row) => {
    const line = texts.reduce((before, column) => before + column[row]!, '').trimEnd();
    return options.style.width === undefined ? line : cut(line, options.style.width);
  });
  rows[0] = dim(options.style, rows[0]!);
  return `${rows.join('\n')}\n`;
}

/** The cells of a column in their common width, and the space to the next one. */
function padded(cells: readonly string[]): string[] {
  const width = cells.reduce((widest, { length }) => Math.max(widest, length), 0) + 3;
  return cells.map((cell) => cell.padEnd(width));
}

function treeOf({ nodes, edges }: GraphDocument, { direction, tops, style, all }: GraphTextOptions): TreeLine<Hung>[] {
  const index = new Map(nodes.map(({ ref }, i) => [ref.uid, i]));
  const next: { to: number; edge: GraphDocumentEdge }[][] = nodes.map(() => []);
  const hasParent = new Set<number>();
  for (const edge of edges) {
    const [parent, child] = direction === 'down' ? [edge.to, edge.from] : [edge.from, edge.to];
    const from = index.get(parent);
    const to = index.get(child);
    if (from === undefined || to === undefined || from === to) continue;
    next[from]!.push({ to, edge });
    hasParent.add(to);
  }
  // Each object appears once, below the first object that leads to it. An object that only a cycle reaches is at the top.
  const items: { value: Hung; children: number[] }[] = nodes.map((node) => ({
    value: { node, edge: undefined },
    children: [],
  }));
  const keys = nodes.map(({ ref }) => `${typeName(ref)}/${ref.name}`);
  const seen = new Set<number>();
  const starts: number[] = [];
  const hang = (top: number): void => {
    if (seen.has(top)) return;
    starts.push(top);
    seen.add(top);
    const open = [top];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const { to, edge } of next[at]!) {
        if (seen.has(to)) continue;
        seen.add(to);
        items[to]!.value = { node: nodes[to]!, edge };
        items[at]!.children.push(to);
        open.push(to);
      }
      items[at]!.children.sort((a, b) => NAMES.compare(keys[a]!, keys[b]!));
    }
  };
  if (tops !== undefined) for (const uid of tops) hang(index.get(uid) ?? -1);
  else {
    for (const i of nodes.keys()) if (!hasParent.has(i)) hang(i);
    for (const i of nodes.keys()) hang(i);
  }
  return treeLines(items, starts, {
    style,
    groupOf: ({ node }) => typeName(node.ref),
    ...(all ? {} : { most: MOST_LINES }),
  });
}

const NAMES = new Intl.Collator('en', { numeric: true });

/** As people write it: `9,001`. The digits of a small number need no locale, which takes some microseconds. */
const decimal = (number: number): string => (number < 1000 ? String(number) : number.toLocaleString('en-US'));

const BLOCKS = 'blocks its owner';

const BROKEN: Readonly<Record<NonNullable<GraphDocumentEdge['broken']>, string>> = {
  missing: 'owner is missing',
  otherIdentity: 'reference names another object',
  otherNamespace: 'owner is in another namespace',
  namespacedOwner: 'cluster-scoped with a namespaced owner',
  unservedKind: "owner's kind is not served",
};

function marksOf(node: GraphDocumentNode, edge: GraphDocumentEdge | undefined): string {
  const { marks = [], finalizers = [] } = node;
  if (marks.length === 0 && finalizers.length === 0 && edge?.broken === undefined)
    return edge?.blockOwnerDeletion === true ? BLOCKS : '';
  return [
    ...(marks.includes('missing') ? ['missing'] : []),
    ...(marks.includes('terminating') ? ['terminating'] : []),
    ...(finalizers.length > 0 ? [`finalizers: ${finalizers.join(', ')}`] : []),
    ...(edge?.blockOwnerDeletion === true ? [BLOCKS] : []),
    ...(edge?.broken === undefined ? [] : [BROKEN[edge.broken]]),
    ...(marks.includes('missingOwner') && edge?.broken !== 'missing' ? ['an owner is missing'] : []),
    ...(marks.includes('invalidReference') && (edge?.broken === undefined || edge.broken === 'missing')
      ? ['an invalid reference']
      : []),
  ].join('; ');
}

/** The graph as a drawing. */
export function graphDrawing({ nodes, edges }: GraphDocument): Drawing {
  return {
    nodes: nodes.map(({ ref, marks = [], dies }) => {
      const mark = marks.includes('missing') ? 'missing' : marks.includes('terminating') ? 'terminating' : undefined;
      const label = `${objectName(ref)}${dies === undefined || dies < 2 ? '' : `\n${dies} die with it`}`;
      return { id: ref.uid, label, ...(mark === undefined ? {} : { mark }) };
    }),
    edges: edges.map(({ from, to, broken }) => ({ from, to, ...(broken === undefined ? {} : { dashed: true }) })),
  };
}
