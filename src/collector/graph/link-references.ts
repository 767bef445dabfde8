import { type Effect, EnqueueEffect, type Enqueueing } from './effect.ts';
import { BLOCK } from './tables/edge-table.ts';
import { NAMESPACE, NONE, STATE_GONE, STATE_OBSERVED } from './tables/node-table.ts';
import { OWNER_FIELDS } from '../../api/codec/metadata/metadata-columns.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import type { OwnershipGraph } from './ownership-graph.ts';
import type { Edge } from './tables/reference-store.ts';

/** Links a node that has no references to all owners in the columns: COL-070, COL-078. */
export function linkReferences(graph: OwnershipGraph, node: number, columns: ObjectColumns, effects: Effect[]): void {
  if (columns.ownerCount === 0) return;
  const { hash, references, sibling } = graph;
  if (columns.ownerCount === 1 && sibling.hasSameReference(hash)) {
    const edge = references.appendDerived(node, sibling.owner, sibling.flags);
    queueTroubled(graph, node, troubleWith(graph, node, edge, effects), effects);
    return;
  }
  let trouble: Trouble = 'none';
  let last: Edge = NONE;
  for (let i = 0; i < columns.ownerCount; i++) {
    const known = effects.length;
    last = linkReference(graph, node, columns, { at: i * OWNER_FIELDS, last, effects });
    // The owner was not virtual before, otherwise it would have been queued just now.
    if (trouble === 'none' && effects.length === known) trouble = troubleWith(graph, node, last, effects);
  }
  if (columns.ownerCount === 1 && !references.isExplicit(last)) {
    sibling.remember(references.ownerOf(last), references.flagsOf(last), hash);
  }
  queueTroubled(graph, node, trouble, effects);
}

/**
 * Replaces the references of an observed node by those of the columns (COL-053...COL-056, BETTER-5). While a reference was out of reach,
 * nothing was done with the node (COL-113). Once that reference is removed or corrected, the others decide.
 */
export function replaceReferences(
  graph: OwnershipGraph,
  node: number,
  columns: ObjectColumns,
  effects: Effect[],
): void {
  const { nodes, references } = graph;
  const old = references.detach(node);
  const before = byOwner(graph, old);
  /** Owners that some new reference blocks. */
  const blocked = new Set<number>();
  let trouble: Trouble = 'none';
  let last: Edge = NONE;
  for (let i = 0; i < columns.ownerCount; i++) {
    const known = effects.length;
    last = linkReference(graph, node, columns, { at: i * OWNER_FIELDS, last, effects });
    const edge = last;
    const owner = references.ownerOf(edge);
    if (references.isBlocking(edge)) blocked.add(owner);
    if (trouble !== 'none' || effects.length > known) continue;
    const knownBefore = before.get(owner)?.some((other) => references.sameCoordinates(other, edge)) ?? false;
    if (!knownBefore) trouble = troubleWith(graph, node, edge, effects);
  }
  if (trouble === 'none' && needsALook(graph, node) && lostOne(before, graph, node)) trouble = 'referenceDropped';
  for (const [owner, edges] of before) {
    if (blocked.has(owner) || nodes.state(owner) === STATE_GONE) continue;
    if (!edges.some((edge) => (references.flagsOf(edge) & BLOCK) !== 0)) continue;
    const as = nodes.state(owner) === STATE_OBSERVED ? 'observed' : 'virtual';
    const reason = 'dependentReleased';
    effects.push(new EnqueueEffect(nodes, owner, { queue: 'attemptToDelete', as, delay: 'none', reason }));
  }
  references.drop(old);
  queueTroubled(graph, node, trouble, effects);
  graph.compactNamesWhenDue();
}

/** The references of one object from this reference on. */
function byOwner({ references }: OwnershipGraph, first: Edge): Map<number, Edge[]> {
  const found = new Map<number, Edge[]>();
  for (let edge = first; edge !== NONE; edge = references.nextReference(edge)) {
    const same = found.get(references.ownerOf(edge));
    if (same === undefined) found.set(references.ownerOf(edge), [edge]);
    else same.push(edge);
  }
  return found;
}

/** True if a previous reference no longer exists, so that its owner is no longer referred to, or only at other coordinates. */
function lostOne(before: ReadonlyMap<number, readonly Edge[]>, graph: OwnershipGraph, node: number): boolean {
  const { references } = graph;
  const left = byOwner(graph, references.firstReference(node));
  for (const [owner, edges] of before) {
    const others = left.get(owner) ?? [];
    if (!edges.every((edge) => others.some((other) => references.sameCoordinates(edge, other)))) return true;
  }
  return false;
}

/** True if an owner is gone, waits for its dependents, or differs from the reference. */
function needsALook(graph: OwnershipGraph, node: number): boolean {
  const { nodes, references } = graph;
  for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
    const owner = references.ownerOf(edge);
    if (nodes.state(owner) === STATE_GONE || graph.isWaiting(owner) || references.isExplicit(edge)) return true;
  }
  return false;
}

const VIRTUAL_OWNER: Enqueueing = {
  queue: 'attemptToDelete',
  as: 'virtual',
  delay: 'none',
  reason: 'virtualOwner',
};

interface LinkInput {
  readonly at: number;
  readonly last: Edge;
  readonly effects: Effect[];
}

/** Appends one reference, and creates a virtual node for an owner that has none (COL-070). */
function linkReference(graph: OwnershipGraph, node: number, columns: ObjectColumns, input: LinkInput): Edge {
  const { nodes, references } = graph;
  let owner = nodes.findOwner(columns, input.at);
  if (owner === NONE) {
    owner = nodes.createVirtual(columns, input.at, nodes.table.get(node, NAMESPACE));
    input.effects.push(new EnqueueEffect(nodes, owner, VIRTUAL_OWNER));
  }
  return references.append(node, owner, columns, input.at, input.last);
}

/** The reason why a reference to a known uid makes its holder "potentially invalid" (COL-078). */
type Trouble = 'none' | 'mismatch' | 'ownerKnownAbsent' | 'referenceDropped';

function troubleWith(graph: OwnershipGraph, node: number, edge: Edge, effects: Effect[]): Trouble {
  const { nodes, references } = graph;
  const { table } = nodes;
  const owner = references.ownerOf(edge);
  if (nodes.state(owner) === STATE_GONE) return 'ownerKnownAbsent';
  const observed = nodes.state(owner) === STATE_OBSERVED;
  if (table.get(owner, NAMESPACE) !== table.get(node, NAMESPACE)) {
    if (nodes.namespace(owner) !== '') {
      if (observed) {
        const dependent = nodes.identity(node);
        const ownerReference = references.firstTo(node, owner);
        const reason = 'OwnerRefInvalidNamespace';
        effects.push({ effect: 'reportInvalidNamespace', dependent, ownerReference, reason });
      }
      return 'mismatch';
    }
    if (!observed) return 'mismatch';
  }
  return references.isExplicit(edge) ? 'mismatch' : 'none';
}

function queueTroubled(graph: OwnershipGraph, node: number, trouble: Trouble, effects: Effect[]): void {
  if (trouble === 'none') return;
  const reason = trouble === 'mismatch' ? 'potentiallyInvalid' : trouble;
  effects.push(
    new EnqueueEffect(graph.nodes, node, { queue: 'attemptToDelete', as: 'observed', delay: 'none', reason }),
  );
}
