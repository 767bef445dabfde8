import { assert, unreachable } from '../../base/errors/assert.ts';
import type { QueueReason } from '../types/reasons.ts';
import { alternativeIdentity, type ReferringDependent } from './alternative-identity.ts';
import { type ApplyOutcome, type Effect, EnqueueEffect } from './effect.ts';
import type {
  GraphEvent,
  HistoryResetEvent,
  MonitoredResource,
  VirtualDeleteEvent,
  ListFinishedEvent,
} from '../types/event.ts';
import { sameIdentity, type Identity } from '../types/identity.ts';
import { linkReferences, replaceReferences } from './link-references.ts';
import {
  BEHIND,
  BEING_DELETED,
  DELETING_DEPENDENTS,
  FINALIZERS,
  FLAGS,
  FOREGROUND,
  KIND,
  NONE,
  ORPHAN,
  OTHER_FINALIZERS,
  RESOURCE_MASK,
  SEEN,
  STATE_GONE,
  STATE_OBSERVED,
  STATE_VIRTUAL,
} from './tables/node-table.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import type { OwnershipGraph } from './ownership-graph.ts';
import { partitionDependents } from './partition-dependents.ts';

/**
 * The only writer of the graph. Applies one event, and appends the effects to `effects` in the order in which they must be carried out.
 * Preconditions: no branch reads the graph. The events of one resource come in the order of its watch; those of different resources may come
 * in any order (COL-212).
 * Postcondition: the invariants of `check-consistency.ts` (COL-051).
 */
export function apply(graph: OwnershipGraph, event: GraphEvent, effects: Effect[]): ApplyOutcome {
  assert(!graph.isShared, 'nothing changes the graph that a branch reads');
  if (event.type !== 'observedColumns' && event.type !== 'observed') graph.sibling.forget();
  switch (event.type) {
    case 'observedColumns':
      return observe(graph, event.resource, event.columns, effects);
    case 'observed':
      return observe(graph, event.resource, graph.columns.observed(event.object), effects);
    case 'deletedColumns':
      return observeDeletion(graph, event.resource, event.columns, effects);
    case 'deleted':
      return observeDeletion(
        graph,
        event.resource,
        graph.columns.identity(event.uid, event.name, event.namespace),
        effects,
      );
    case 'virtualDelete':
      return virtualDelete(graph, event, effects);
    case 'listStarted':
      return startList(graph, event.resource);
    case 'listFinished':
      return finishList(graph, event, effects);
    case 'resourceVanished':
      return vanish(graph, event.resource, effects);
    case 'historyReset':
      return resetHistory(graph, event, effects);
    default:
      return unreachable(event);
  }
}

/** Applies an event and returns its effects, for tests and for callers that can afford one more array. */
export function applied(
  graph: OwnershipGraph,
  event: GraphEvent,
): { readonly outcome: ApplyOutcome; readonly effects: readonly Effect[] } {
  const effects: Effect[] = [];
  const outcome = apply(graph, event, effects);
  return { outcome, effects };
}

/**
 * Adds a node for a new object, or compares a known one with the event: its references, waits and identity (COL-052, COL-053, COL-055,
 * COL-073).
 */
function observe(
  graph: OwnershipGraph,
  resource: MonitoredResource,
  columns: ObjectColumns,
  effects: Effect[],
): ApplyOutcome {
  const { nodes, references } = graph;
  const { table } = nodes;
  const { kind, mark } = graph.resources.of(resource);
  const { hash } = graph;
  hash.of(columns);
  let node = nodes.findObject(columns);
  if (node === NONE) {
    // Runs before any change, because it may throw. References that the previous object already had are known.
    if (!graph.sibling.hasSameReference(hash)) columns.readOwners();
    node = nodes.createObserved(columns, kind);
    remember(graph, node, columns, mark);
    linkReferences(graph, node, columns, effects);
    startTransitions(graph, node, columns, 0, effects);
    return 'changed';
  }
  graph.sibling.forget();
  const before = table.get(node, FLAGS);
  if (nodes.state(node) !== STATE_OBSERVED) {
    columns.readOwners();
    meetObject(graph, node, columns, kind, effects);
    nodes.setState(node, STATE_OBSERVED);
    remember(graph, node, columns, mark);
    linkReferences(graph, node, columns, effects);
    startTransitions(graph, node, columns, 0, effects);
    return 'changed';
  }
  const shownBySame = table.get(node, KIND) === kind && (before & RESOURCE_MASK) === mark;
  const mayBeBehind = !shownBySame || (before & BEHIND) !== 0;
  if (mayBeBehind && columns.resourceVersion < table.version(node)) return handOver(graph, node, resource, columns);
  // Name and namespace of a uid never change, so with the same kind and hash nothing relevant changed.
  const unmoved = table.get(node, KIND) === kind && table.hasHashOfReferences(node, hash);
  const same = unmoved && table.hasHash(node, hash);
  if (!unmoved) columns.readOwners();
  // The versions of two resources cannot be compared in time, so an event of another resource may be newer than all others.
  const unseen = (before & SEEN) === 0 || !shownBySame;
  const changedUnseen = unseen && table.version(node) !== columns.resourceVersion;
  remember(graph, node, columns, mark);
  if (same) {
    if (changedUnseen) questionOwners(graph, node, effects);
    if (changedUnseen) questionDependents(graph, node, effects);
    return 'unchanged';
  }
  const sameObject = unmoved || nodes.objectMatches(node, columns, kind);
  // The preferred version changed (COL-05A). Its dependents are not read again, because the object is the same.
  if (!sameObject) references.rename(node, identityOf(resource, nodes.uid(node), columns));
  const takenBack = !columns.deleting && (before & BEING_DELETED) !== 0;
  if (takenBack) takeDeletionBack(graph, node, effects);
  const sameReferences = unmoved || references.equals(node, columns);
  if (!sameReferences) replaceReferences(graph, node, columns, effects);
  if (changedUnseen) questionOwners(graph, node, effects);
  const started = startTransitions(graph, node, columns, before, effects);
  if (changedUnseen && !started) questionDependents(graph, node, effects);
  const deletionNoticed = columns.deleting && (before & BEING_DELETED) === 0;
  const finalizersChanged = ((before ^ table.get(node, FLAGS)) & (FOREGROUND | ORPHAN)) !== 0;
  if (takenBack) return 'wentBack';
  const sameState = !started && !deletionNoticed && !finalizersChanged;
  return sameObject && sameReferences && sameState ? 'unchanged' : 'changed';
}

/**
 * Two resources may show the same object (COL-015, COL-019), and one of them may be behind (COL-212). The state that it shows is ignored
 * until it reaches the version that the other one showed. Still, this resource has the object: if the other resource disappears, the object
 * is not lost.
 */
function handOver(
  graph: OwnershipGraph,
  node: number,
  resource: MonitoredResource,
  columns: ObjectColumns,
): ApplyOutcome {
  const { nodes, references } = graph;
  const { table } = nodes;
  const { kind, mark } = graph.resources.of(resource);
  if (!nodes.objectMatches(node, columns, kind))
    references.rename(node, identityOf(resource, nodes.uid(node), columns));
  table.set(node, FLAGS, (table.get(node, FLAGS) & ~RESOURCE_MASK) | SEEN | BEHIND | mark);
  return 'unchanged';
}

/**
 * Only a server that went back in time shows this, for example after a restore (designs/0011). The object was skipped because it was being
 * deleted, and nothing else would queue it again.
 */
function takeDeletionBack(graph: OwnershipGraph, node: number, effects: Effect[]): void {
  const { table } = graph.nodes;
  table.set(node, FLAGS, table.get(node, FLAGS) & ~(BEING_DELETED | DELETING_DEPENDENTS));
  graph.references.endWaiting(node);
  enqueue(graph, node, 'deletionTakenBack', effects);
}

/**
 * A list shows that the object changed while the watch was lost. Its references may have been others in between, or the collector may have
 * removed some, so the earlier decision about the live object was not about the current ones.
 */
function questionOwners(graph: OwnershipGraph, node: number, effects: Effect[]): void {
  const { nodes, references } = graph;
  for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
    const owner = references.ownerOf(edge);
    const solid = nodes.state(owner) === STATE_OBSERVED && !graph.isWaiting(owner) && !references.isExplicit(edge);
    if (solid) continue;
    enqueue(graph, node, 'changedUnseen', effects);
    return;
  }
}

/**
 * A list shows an object that still waits but changed while the watch was lost. It may have been deleted again in between, and a dependent
 * that was decided then may not have blocked it. So it counts as having just begun to wait (COL-062, COL-063).
 */
function questionDependents(graph: OwnershipGraph, node: number, effects: Effect[]): void {
  if (!graph.isWaiting(node)) return;
  graph.forEachDependent(node, (dependent) => enqueue(graph, dependent, 'changedUnseen', effects));
}

/**
 * Stores the facts of the last event, except references, and the mark of its resource. `startTransitions` and `takeDeletionBack` handle
 * transitions of the deletion.
 */
function remember(graph: OwnershipGraph, node: number, columns: ObjectColumns, mark: number): void {
  const { table } = graph.nodes;
  table.setVersion(node, columns.resourceVersion);
  table.setHash(node, graph.hash);
  const kept = table.get(node, FLAGS) & ~(FINALIZERS | BEHIND | RESOURCE_MASK);
  table.set(node, FLAGS, kept | finalizersOf(columns) | SEEN | mark);
}

function finalizersOf(columns: ObjectColumns): number {
  return (
    (columns.foregroundFinalizer ? FOREGROUND : 0) |
    (columns.orphanFinalizer ? ORPHAN : 0) |
    (columns.otherFinalizers ? OTHER_FINALIZERS : 0)
  );
}

/**
 * Detects the transitions of COL-060...COL-063, with the previous state from the node itself (BETTER-7). `before` has the flags of the node
 * after its last event, or 0 if it was not observed. Returns whether a transition started.
 */
function startTransitions(
  graph: OwnershipGraph,
  node: number,
  columns: ObjectColumns,
  before: number,
  effects: Effect[],
): boolean {
  if (!columns.deleting) return false;
  const { nodes, references } = graph;
  const { table } = nodes;
  table.set(node, FLAGS, table.get(node, FLAGS) | BEING_DELETED);
  const orphaning = columns.orphanFinalizer && starts(before, ORPHAN);
  const waiting = columns.foregroundFinalizer && starts(before, FOREGROUND);
  // COL-052 sets the flag of a node that is new with both finalizers, although COL-061 queues it only for orphaning.
  if (waiting && (!orphaning || (before & BEING_DELETED) === 0)) {
    table.set(node, FLAGS, table.get(node, FLAGS) | DELETING_DEPENDENTS);
    references.beginWaiting(node);
  }
  if (orphaning) {
    const reason = 'startsOrphaning';
    effects.push(new EnqueueEffect(nodes, node, { queue: 'attemptToOrphan', as: 'observed', delay: 'none', reason }));
    return true;
  }
  if (!waiting) return false;
  // An object that refers to itself comes last, too: if it went first, its dependents would be deleted as those of an owner that is gone.
  graph.forEachDependent(node, (dependent) => {
    if (dependent !== node) enqueue(graph, dependent, 'ownerStartsWaiting', effects);
  });
  enqueue(graph, node, 'startsWaiting', effects);
  return true;
}

/** The deletion of an object with this finalizer was not noticed before. */
function starts(before: number, finalizer: number): boolean {
  return (before & BEING_DELETED) === 0 || (before & finalizer) === 0;
}

/** A virtual or gone uid proves to be this object (COL-073, BETTER-14). */
function meetObject(
  graph: OwnershipGraph,
  node: number,
  columns: ObjectColumns,
  kind: number,
  effects: Effect[],
): void {
  const { nodes, references } = graph;
  if (graph.hasAbsences) effects.push({ effect: 'dropAbsentOwner', uid: nodes.uid(node), reason: 'objectSeen' });
  if (nodes.objectMatches(node, columns, kind)) return;
  const { apiVersion, kind: kindName } = nodes.kinds.words(kind);
  const observed = identityOf({ apiVersion, kind: kindName }, nodes.uid(node), columns);
  partitionDependents(graph, node, observed, (dependent, fit) => {
    if (!fit.mismatches) return;
    if (!fit.inReach) {
      const ownerReference = references.firstTo(dependent, node);
      const reason = 'OwnerRefInvalidNamespace';
      effects.push({ effect: 'reportInvalidNamespace', dependent: nodes.identity(dependent), ownerReference, reason });
    }
    enqueue(graph, dependent, 'potentiallyInvalid', effects);
  });
  references.rename(node, observed);
}

/** Removes the node of a deleted object; the deletion of an unknown uid is ignored (COL-057, COL-058). */
function observeDeletion(
  graph: OwnershipGraph,
  resource: MonitoredResource,
  columns: ObjectColumns,
  effects: Effect[],
): ApplyOutcome {
  const { nodes } = graph;
  const node = nodes.findObject(columns);
  if (node === NONE || nodes.state(node) === STATE_GONE) return 'ignored';
  const { kind } = graph.resources.of(resource);
  if (nodes.state(node) === STATE_VIRTUAL) meetObject(graph, node, columns, kind, effects);
  else if (!nodes.objectMatches(node, columns, kind)) {
    graph.references.rename(node, identityOf(resource, nodes.uid(node), columns));
  }
  removeNode(graph, node, effects);
  return 'changed';
}

/**
 * Removes a virtual owner that is absent, unless dependents name it by other coordinates. An observed node with other coordinates stays
 * (COL-075, COL-077).
 */
function virtualDelete(graph: OwnershipGraph, { identity }: VirtualDeleteEvent, effects: Effect[]): ApplyOutcome {
  const { nodes, references } = graph;
  const node = nodes.find(identity.uid);
  if (node === NONE || nodes.state(node) === STATE_GONE) return 'ignored';
  const recorded = sameIdentity(nodes.identity(node), identity);
  const virtual = nodes.state(node) === STATE_VIRTUAL;
  if (!virtual && recorded) {
    removeNode(graph, node, effects);
    return 'changed';
  }
  const matching: number[] = [];
  const mismatching: number[] = [];
  partitionDependents(graph, node, identity, (dependent, fit) => {
    if (fit.matches) matching.push(dependent);
    if (fit.mismatches) mismatching.push(dependent);
  });
  if (virtual && mismatching.length === 0) {
    if (!recorded) references.rename(node, identity);
    removeNode(graph, node, effects);
    return 'changed';
  }
  if (matching.length > 0) {
    effects.push({ effect: 'noteAbsentOwner', identity, reason: 'coordinatesAbsent' });
    for (const dependent of matching) enqueue(graph, dependent, 'ownerGone', effects);
  }
  if (virtual && recorded) {
    const other = alternativeIdentity(referringDependents(graph, mismatching), identity);
    if (other !== undefined) {
      references.rename(node, other);
      effects.push(
        new EnqueueEffect(nodes, node, {
          queue: 'attemptToDelete',
          as: 'virtual',
          delay: 'rateLimited',
          reason: 'alternativeIdentity',
        }),
      );
    }
  }
  return 'changed';
}

function* referringDependents(graph: OwnershipGraph, dependents: readonly number[]): Generator<ReferringDependent> {
  for (const dependent of dependents) {
    yield { namespace: graph.nodes.namespace(dependent), ownerReferences: graph.ownerReferencesAt(dependent) };
  }
}

/** The object is deleted (COL-057). Its references are unlinked. While dependents refer to it, its uid is kept as gone. */
function removeNode(graph: OwnershipGraph, node: number, effects: Effect[]): void {
  const { nodes, references } = graph;
  releaseOwners(graph, node, effects);
  clearObservation(graph, node);
  if (references.firstDependent(node) === NONE) nodes.free(node);
  else {
    nodes.setState(node, STATE_GONE);
    effects.push({ effect: 'noteAbsentOwner', identity: nodes.identity(node), reason: 'objectGone' });
    graph.forEachDependent(node, (dependent) => enqueue(graph, dependent, 'ownerGone', effects));
  }
  graph.compactNamesWhenDue();
}

/** Queues the node's waiting owners (COL-057), and unlinks it from all owners. */
function releaseOwners(graph: OwnershipGraph, node: number, effects: Effect[]): void {
  const { nodes, references } = graph;
  for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
    const owner = references.ownerOf(edge);
    if (owner === node || !nodes.has(owner, DELETING_DEPENDENTS) || !references.isFirstToOwner(edge)) continue;
    enqueue(graph, owner, 'dependentReleased', effects);
  }
  references.drop(references.detach(node));
}

/** Clears the fields that only an observed object has. */
function clearObservation(graph: OwnershipGraph, node: number): void {
  const { table } = graph.nodes;
  const cleared = BEING_DELETED | DELETING_DEPENDENTS | FINALIZERS | SEEN | BEHIND;
  table.set(node, FLAGS, table.get(node, FLAGS) & ~cleared);
  table.setVersion(node, Number.NaN);
  graph.references.endWaiting(node);
}

/**
 * The nodes that this resource showed last, without those of its kind that another resource shows. The list must not change during the
 * loop.
 */
function forEachOf(graph: OwnershipGraph, resource: MonitoredResource, visit: (node: number) => void): void {
  const { table } = graph.nodes;
  const { kind, mark } = graph.resources.of(resource);
  for (let node = 0; node < table.end; node++) {
    if (table.get(node, KIND) !== kind || (table.get(node, FLAGS) & RESOURCE_MASK) !== mark) continue;
    if (table.state(node) === STATE_OBSERVED) visit(node);
  }
}

function startList(graph: OwnershipGraph, resource: MonitoredResource): ApplyOutcome {
  const { table } = graph.nodes;
  forEachOf(graph, resource, (node) => table.set(node, FLAGS, table.get(node, FLAGS) & ~SEEN));
  return 'unchanged';
}

/**
 * Ends a list: even a complete one does not prove that the objects it lacks are gone (COL-042, COL-047). Nodes that nobody depends on are
 * removed. The others stay, unlisted, and are queued to be read. When more than `limit` allows are missing, all of them stay, and nothing
 * is queued.
 */
function finishList(graph: OwnershipGraph, { resource, limit }: ListFinishedEvent, effects: Effect[]): ApplyOutcome {
  const missing: number[] = [];
  let known = 0;
  forEachOf(graph, resource, (node) => {
    known++;
    if (!graph.nodes.has(node, SEEN)) missing.push(node);
  });
  if (missing.length === 0) return 'unchanged';
  if (limit !== undefined && missing.length >= limit.objects && missing.length >= limit.share * known) {
    effects.push({ effect: 'heldAbsences', resource, missing: missing.length, known });
    return 'unchanged';
  }
  // Chosen before any removal, so that a removal does not change which nodes are kept.
  const unproven = missing.filter((node) => needsProof(graph, node));
  const kept = new Set(unproven);
  for (const node of missing) if (!kept.has(node)) removeNode(graph, node, effects);
  for (const node of unproven) enqueue(graph, node, 'notListed', effects);
  return 'changed';
}

/** True if its absence would decide something: for its dependents, or for an owner that waits for it or orphans it. */
function needsProof(graph: OwnershipGraph, node: number): boolean {
  const { nodes, references } = graph;
  if (references.firstDependent(node) !== NONE) return true;
  for (let edge = references.firstReference(node); edge !== NONE; edge = references.nextReference(edge)) {
    const owner = references.ownerOf(edge);
    if (nodes.has(owner, BEING_DELETED) && (nodes.table.get(owner, FLAGS) & (FOREGROUND | ORPHAN)) !== 0) return true;
  }
  return false;
}

/** Forgets a resource that is not watched any more; references to its objects are verified again (BETTER-2). */
function vanish(graph: OwnershipGraph, resource: MonitoredResource, effects: Effect[]): ApplyOutcome {
  const lost: number[] = [];
  forEachOf(graph, resource, (node) => void lost.push(node));
  loseObservation(graph, lost, effects);
  graph.resources.forget(resource);
  return lost.length === 0 ? 'unchanged' : 'changed';
}

/**
 * No monitor shows these objects any more, which proves nothing about them. All nodes drop their references first, so that no node is
 * queued because another one is removed.
 */
function loseObservation(graph: OwnershipGraph, lost: readonly number[], effects: Effect[]): void {
  const { nodes, references } = graph;
  for (const node of lost) clearObservation(graph, node);
  for (const node of lost) releaseOwners(graph, node, effects);
  for (const node of lost) {
    if (references.firstDependent(node) === NONE) nodes.free(node);
    else questionNode(graph, node, 'observationLost', effects);
  }
  graph.compactNamesWhenDue();
}

/** Makes a node virtual and queues it for verification by a live read. */
function questionNode(graph: OwnershipGraph, node: number, why: QueueReason, effects: Effect[]): void {
  graph.nodes.setState(node, STATE_VIRTUAL);
  const reason = 'objectQuestioned';
  if (graph.hasAbsences) effects.push({ effect: 'dropAbsentOwner', uid: graph.nodes.uid(node), reason });
  enqueue(graph, node, why, effects);
}

function resetHistory(graph: OwnershipGraph, { of }: HistoryResetEvent, effects: Effect[]): ApplyOutcome {
  const { nodes } = graph;
  let outcome: ApplyOutcome = 'unchanged';
  for (let node = 0; node < nodes.table.end; node++) {
    const state = nodes.state(node);
    if (state === STATE_GONE) {
      questionNode(graph, node, 'historyReset', effects);
      outcome = 'changed';
    } else if (state === STATE_OBSERVED && (of === undefined || nodes.has(node, BEHIND))) forgetVersion(graph, node);
  }
  return outcome;
}

/** The next state that is shown of the object is later, or belongs to another history. */
function forgetVersion(graph: OwnershipGraph, node: number): void {
  const { table } = graph.nodes;
  table.setVersion(node, Number.NaN);
  table.set(node, FLAGS, table.get(node, FLAGS) & ~BEHIND);
}

function enqueue(graph: OwnershipGraph, node: number, reason: QueueReason, effects: Effect[]): void {
  const as = graph.nodes.state(node) === STATE_OBSERVED ? 'observed' : 'virtual';
  effects.push(new EnqueueEffect(graph.nodes, node, { queue: 'attemptToDelete', as, delay: 'none', reason }));
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function identityOf(
  { apiVersion, kind }: Pick<MonitoredResource, 'apiVersion' | 'kind'>,
  uid: string,
  { bytes, nameStart, nameEnd, namespaceStart, namespaceEnd }: ObjectColumns,
): Identity {
  return {
    apiVersion,
    kind,
    namespace: utf8.decode(bytes.subarray(namespaceStart, namespaceEnd)),
    name: utf8.decode(bytes.subarray(nameStart, nameEnd)),
    uid,
  };
}
