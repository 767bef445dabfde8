import type { Uid } from '../types/identity.ts';
import type { GraphView, Vertex } from './dump.ts';

/** The graph as a text tree, with the dependents of an object below it. Kind and name come first, the uid last. */
export function graphAsTree({ vertices, owners }: GraphView): string {
  const dependents = dependentsOf(owners);
  const order = sorted(vertices);
  const lines: string[] = [];
  const shown = new Set<Uid>();
  const draw = (uid: Uid, lead: string, below: string): void => {
    const vertex = vertices.get(uid);
    if (vertex === undefined) return;
    const again = shown.has(uid);
    shown.add(uid);
    lines.push(`${lead}${describe(vertex)}${again ? '  (its dependents are shown above)' : ''}  ${uid}`);
    if (again) return;
    const children = order.filter((each) => dependents.get(uid)?.has(each) === true);
    for (const [index, child] of children.entries()) {
      const last = index === children.length - 1;
      draw(child, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`);
    }
  };
  for (const uid of order) if ((owners.get(uid)?.size ?? 0) === 0) draw(uid, '', '');
  // The remaining objects belong to cycles, in which every object has an owner.
  for (const uid of order) if (!shown.has(uid)) draw(uid, '', '');
  return lines.length === 0 ? 'No object has an owner.\n' : `${lines.join('\n')}\n`;
}

/** The graph as plain data: nodes and edges from dependent to owner. */
export function graphAsJson({ vertices, owners }: GraphView): string {
  const order = sorted(vertices);
  const nodes = order.map((uid) => {
    const { identity, ...states } = vertices.get(uid)!;
    const { apiVersion, kind, namespace, name } = identity;
    return { kind, name, namespace, apiVersion, marks: marksOf({ identity, ...states }), uid };
  });
  const edges = order.flatMap((from) => [...(owners.get(from) ?? [])].map((to) => ({ from, to })));
  return `${JSON.stringify({ nodes, edges })}\n`;
}

/** The graph in Mermaid syntax, with arrows from owner to dependent. */
export function graphAsMermaid({ vertices, owners }: GraphView): string {
  const order = sorted(vertices);
  const ids = new Map(order.map((uid, index) => [uid, `n${index}`]));
  const label = (vertex: Vertex): string => describe(vertex).replaceAll('"', '#quot;');
  const lines = ['flowchart TD', ...order.map((uid) => `  ${ids.get(uid)}["${label(vertices.get(uid)!)}"]`)];
  for (const uid of order) {
    for (const owner of owners.get(uid) ?? []) {
      if (ids.has(owner)) lines.push(`  ${ids.get(owner)} --> ${ids.get(uid)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function dependentsOf(owners: GraphView['owners']): Map<Uid, Set<Uid>> {
  const dependents = new Map<Uid, Set<Uid>>();
  for (const [uid, theirs] of owners) {
    for (const owner of theirs) {
      const known = dependents.get(owner);
      if (known === undefined) dependents.set(owner, new Set([uid]));
      else known.add(uid);
    }
  }
  return dependents;
}

/** Sorted by kind, namespace and name, so that two dumps of one graph are equal. */
function sorted(vertices: GraphView['vertices']): Uid[] {
  const keys = new Map([...vertices].map(([uid, { identity }]) => [uid, keyOf(identity, uid)]));
  return [...vertices.keys()].sort((a, b) => ((keys.get(a) ?? '') < (keys.get(b) ?? '') ? -1 : 1));
}

function keyOf({ kind, namespace, name }: Vertex['identity'], uid: Uid): string {
  return `${kind}\0${namespace}\0${name}\0${uid}`;
}

function describe(vertex: Vertex): string {
  const { kind, name, namespace } = vertex.identity;
  const marks = marksOf(vertex);
  return `${kind}/${name}${namespace === '' ? '' : ` -n ${namespace}`}${marks.length === 0 ? '' : `  [${marks.join(', ')}]`}`;
}

function marksOf({ missing, virtual, beingDeleted, deletingDependents }: Vertex): string[] {
  const marks = {
    missing: missing,
    'not seen yet': virtual,
    terminating: beingDeleted,
    'waits for dependents': deletingDependents,
  };
  return Object.entries(marks)
    .filter(([, holds]) => holds)
    .map(([mark]) => mark);
}
