import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { MonitoredResource, ObservedObject } from '../types/event.ts';
import type { Uid } from '../types/identity.ts';
import { NONE, STATE_FREE, STATE_GONE, STATE_OBSERVED, STATE_VIRTUAL } from './tables/node-table.ts';
import type { OwnershipGraph } from './ownership-graph.ts';
import type { Edge } from './tables/reference-store.ts';

export interface Inconsistency {
  readonly uid: Uid;
  readonly problem:
    | 'notFoundByUid'
    | 'referenceNotInOwnersList'
    | 'listedTwice'
    | 'listedUnderOtherOwner'
    | 'listedWithoutReference'
    | 'virtualWithReferences'
    | 'unreferencedVirtual'
    | 'blockingCountWrong'
    | 'referenceCountWrong'
    | 'stateCountWrong';
}

/**
 * Checks all invariants of the graph (COL-051, ReferenceStore, NodeStore) in O(nodes + references). For tests and for a debug endpoint; a
 * violation is always a bug of this program.
 */
export function checkInvariants(graph: OwnershipGraph): Inconsistency[] {
  const { nodes, references } = graph;
  const found: Inconsistency[] = [];
  const report = (node: number, problem: Inconsistency['problem']): void => {
    found.push({ uid: node === NONE ? '' : nodes.uid(node), problem });
  };
  const listed = new Set<Edge>();
  const states = [0, 0, 0, 0];
  for (let node = 0; node < nodes.table.end; node++) {
    const state = nodes.state(node);
    states[state]!++;
    if (state === STATE_FREE) continue;
    if (nodes.find(nodes.uid(node)) !== node) report(node, 'notFoundByUid');
    let blocking = 0;
    for (let edge = references.firstDependent(node); edge !== NONE; edge = references.nextDependent(edge)) {
      if (listed.has(edge)) {
        report(node, 'listedTwice');
        break;
      }
      listed.add(edge);
      if (references.ownerOf(edge) !== node) report(node, 'listedUnderOtherOwner');
      if (references.isBlocking(edge) && references.dependentOf(edge) !== node) blocking++;
    }
    const waiting = references.waiting(node);
    if (waiting !== undefined && waiting.count !== blocking) report(node, 'blockingCountWrong');
    if (state === STATE_OBSERVED) continue;
    if (references.firstReference(node) !== NONE) report(node, 'virtualWithReferences');
    if (references.firstDependent(node) === NONE) report(node, 'unreferencedVirtual');
  }
  let count = 0;
  for (let node = 0; node < nodes.table.end; node++) {
    if (nodes.state(node) === STATE_FREE) continue;
    for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
      count++;
      if (!listed.delete(edge)) report(node, 'referenceNotInOwnersList');
    }
  }
  for (const edge of listed) report(references.ownerOf(edge), 'listedWithoutReference');
  if (count !== references.count) report(NONE, 'referenceCountWrong');
  const { virtual, observed, gone } = graph.counts;
  if (virtual !== states[STATE_VIRTUAL] || observed !== states[STATE_OBSERVED] || gone !== states[STATE_GONE]) {
    report(NONE, 'stateCountWrong');
  }
  return found;
}

export interface Difference {
  readonly uid: Uid;
  /**
   * `missing` is listed but not an observed node. `extra` is an observed and listed node that the list lacks. In the other cases the node
   * differs from the object. All can occur briefly, until the watch catches up with the list.
   */
  readonly difference: 'missing' | 'extra' | 'identity' | 'references' | 'deletion' | 'finalizers';
}

/** Compares the nodes of one monitored resource with a fresh list of it. O(nodes + objects). */
export function compareWithList(
  graph: OwnershipGraph,
  resource: MonitoredResource,
  objects: Iterable<ObservedObject>,
): Difference[] {
  const found: Difference[] = [];
  const listed = new Set<Uid>();
  for (const object of objects) {
    listed.add(object.uid);
    const difference = compareWithNode(graph, resource, object);
    if (difference !== undefined) found.push({ uid: object.uid, difference });
  }
  graph.forEachNode((id) => {
    const { apiVersion, kind } = graph.typeAt(id);
    if (apiVersion !== resource.apiVersion || kind !== resource.kind) return;
    if (graph.resourceAt(id) !== resource.resource) return;
    const uid = graph.uidAt(id);
    // The absence of an unlisted node is not proven, and the graph records that. A standby collector keeps such a node until it leads and
    // reads it.
    if (!listed.has(uid) && !graph.isUnlisted(id)) found.push({ uid, difference: 'extra' });
  });
  return found;
}

function compareWithNode(
  graph: OwnershipGraph,
  resource: MonitoredResource,
  object: ObservedObject,
): Difference['difference'] | undefined {
  const node = graph.node(object.uid);
  if (node === undefined || node.state === 'virtual') return 'missing';
  const { apiVersion, kind, name, namespace } = node.identity;
  const sameKind = apiVersion === resource.apiVersion && kind === resource.kind;
  if (!sameKind || name !== object.name || namespace !== object.namespace) return 'identity';
  if (!equalReferences(node.ownerReferences, object.ownerReferences)) return 'references';
  if (node.beingDeleted !== object.deleting) return 'deletion';
  const foreground = object.finalizers.includes('foregroundDeletion');
  const orphan = object.finalizers.includes('orphan');
  return node.foregroundFinalizer === foreground && node.orphanFinalizer === orphan ? undefined : 'finalizers';
}

function equalReferences(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return (
    a.length === b.length &&
    a.every((reference, i) => {
      const other = b[i]!;
      return (
        reference.uid === other.uid &&
        reference.name === other.name &&
        reference.kind === other.kind &&
        reference.apiVersion === other.apiVersion &&
        reference.controller === other.controller &&
        reference.blockOwnerDeletion === other.blockOwnerDeletion
      );
    })
  );
}
