import { append } from '../../base/collections/append.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { Graph, NodeId } from './graph.ts';
import type { Identity, Uid } from '../types/identity.ts';

/** One node, or one uid that a reference names, of a dump. */
export interface Vertex {
  readonly identity: Identity;
  /** A uid that a reference names but that has no node (COL-189). */
  readonly missing: boolean;
  readonly beingDeleted: boolean;
  readonly deletingDependents: boolean;
  readonly virtual: boolean;
}

/** The content of a dump: vertices by uid, and the owner uids of each vertex. */
export interface GraphView {
  readonly vertices: ReadonlyMap<Uid, Vertex>;
  readonly owners: ReadonlyMap<Uid, ReadonlySet<Uid>>;
}

/**
 * Nodes with owners or dependents, and the uids that they refer to. `uids` limits it to the connected components around these. O(nodes).
 */
export function viewGraph(graph: Graph, uids: readonly Uid[] = []): GraphView {
  const vertices = new Map<Uid, Vertex>();
  const owners = new Map<Uid, Set<Uid>>();
  const visit = (id: NodeId): void => addNode(graph, id, vertices, owners);
  if (uids.length === 0) graph.forEachNode(visit);
  else for (const id of componentsAround(graph, uids)) visit(id);
  return { vertices, owners };
}

/**
 * The graph in the DOT language (COL-181...COL-189). `uids` limits it to the connected components around these; without it, everything is
 * included. Each missing uid has one vertex, with the coordinates of the first reference to it (BETTER-20). For debugging: O(nodes), about
 * 500 bytes of text for each vertex.
 */
export function dumpGraph(graph: Graph, uids: readonly Uid[] = []): string {
  const { vertices, owners } = viewGraph(graph, uids);
  return render(vertices, owners);
}

function addNode(graph: Graph, id: NodeId, vertices: Map<Uid, Vertex>, edges: Map<Uid, Set<Uid>>): void {
  const node = graph.at(id);
  if (node.ownerReferences.length === 0 && !graph.hasDependents(id)) return;
  const { identity, beingDeleted, deletingDependents } = node;
  const from = identity.uid;
  const virtual = node.state === 'virtual';
  vertices.set(from, { identity, missing: false, beingDeleted, deletingDependents, virtual });
  const owners = new Set<Uid>();
  for (const reference of node.ownerReferences) {
    owners.add(reference.uid);
    if (vertices.has(reference.uid) || graph.find(reference.uid) >= 0) continue;
    const { apiVersion, kind, name, uid } = reference;
    vertices.set(uid, {
      identity: { apiVersion, kind, name, uid, namespace: '' },
      missing: true,
      beingDeleted: false,
      deletingDependents: false,
      virtual: false,
    });
  }
  if (owners.size > 0) edges.set(from, owners);
}

/** Every node that references connect, in either direction, with these. */
function componentsAround(graph: Graph, uids: readonly Uid[]): Set<NodeId> {
  const found = new Set<NodeId>();
  const open: NodeId[] = [];
  const reach = (id: NodeId): void => {
    if (id < 0 || found.has(id)) return;
    found.add(id);
    open.push(id);
  };
  for (const uid of uids) reach(graph.find(uid));
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    graph.forEachOwner(id, reach);
    graph.forEachDependent(id, reach);
  }
  return found;
}

function render(vertices: GraphView['vertices'], edges: GraphView['owners']): string {
  const lines = ['strict digraph full {'];
  const sorted = [...vertices.keys()].sort(byCodePoints);
  if (sorted.length > 0) lines.push('  // Node definitions.');
  for (const uid of sorted) append(lines, renderVertex(vertices.get(uid)!));
  const from = [...edges.keys()].sort(byCodePoints);
  if (from.length > 0) lines.push('  // Edge definitions.');
  for (const uid of from) {
    for (const owner of [...edges.get(uid)!].sort(byCodePoints)) lines.push(`  ${quoted(uid)} -> ${quoted(owner)};`);
  }
  lines.push('}', '');
  return lines.join('\n');
}

function renderVertex(vertex: Vertex): string[] {
  const { identity, missing, beingDeleted, deletingDependents, virtual } = vertex;
  const { group, version } = parseGroupVersion(identity.apiVersion) ?? { group: '', version: identity.apiVersion };
  const attributes: readonly (readonly [string, string | boolean])[] = [
    ['label', labelOf(vertex, group, version)],
    ['group', group],
    ['version', version],
    ['kind', identity.kind],
    ['namespace', identity.namespace],
    ['name', identity.name],
    ['uid', identity.uid],
    ['missing', missing],
    ['beingDeleted', beingDeleted],
    ['deletingDependents', deletingDependents],
    ['virtual', virtual],
  ];
  return [
    `  ${quoted(identity.uid)} [`,
    ...attributes.map(([key, value]) => `    ${key}=${quoted(String(value))}`),
    '  ];',
  ];
}

/** The label of a node: uid, namespace, kind, name and state (COL-186). */
function labelOf(vertex: Vertex, group: string, version: string): string {
  const { identity, beingDeleted, deletingDependents, virtual, missing } = vertex;
  const type = `${identity.kind}.${version}${group === '' ? '' : `.${group}`}`;
  const states = Object.entries({ beingDeleted, deletingDependents, virtual, missingFromGraph: missing })
    .filter(([, holds]) => holds)
    .map(([name]) => name);
  const text = `uid=${identity.uid}\nnamespace=${identity.namespace}\n${type}/${identity.name}\n`;
  return states.length === 0 ? text : `${text}${states.join(',')}\n`;
}

/** Go compares bytes, which sorts UTF-8 by code points. */
function byCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const left = [...a];
  const right = [...b];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
