import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { AbsentOwnerCache } from '../caches/absent-owner-cache.ts';
import type { QueuedAs } from '../graph/effect.ts';
import type { BlockingDependents, Graph, GraphNode } from '../graph/graph.ts';
import type { Epoch } from '../types/epoch.ts';
import type { Coordinates, Uid } from '../types/identity.ts';
import { versionNumber } from '../types/version-number.ts';
import type { OrphanedOwner } from '../caches/orphaned-owners.ts';
import type { Facts, LatestAnswer, NodeFacts, OwnerAnswer, OwnerFacts } from './facts.ts';
import { ownerLookup, type OwnerKey } from './owner-lookup.ts';
import type { KindMapping } from './target.ts';
import { isInWaitingCycle } from './waiting-cycle.ts';

/** The sources of facts. All of them answer synchronously. */
export interface FactSource {
  readonly graph: Graph;
  readonly absentOwners: Pick<AbsentOwnerCache, 'has'>;
  /** Whether an owner is known to have gone with policy Orphan (LIFE-560). Absent: none is. */
  readonly wasOrphaned?: (owner: OrphanedOwner) => boolean;
  /**
   * The REST mapper (COL-029); undefined for a kind it does not know. `resource`: where the graph has seen the object; undefined: only its
   * kind is known.
   */
  mapping(apiVersion: string, kind: string, resource?: string): KindMapping | undefined;
  readonly trust: Facts['graph'];
  /** While `trust` says `trusted`: whether the graph is trusted for this kind too. Absent: it is. */
  readonly trusts?: (apiVersion: string, kind: string) => boolean;
  /** Whether the watch of this kind works: then its events count more than one read. If absent, `trust` decides. */
  readonly follows?: (apiVersion: string, kind: string) => boolean;
  /** Whether so many objects of this kind vanished together that their absence is not believed yet. Absent: never. */
  readonly holdsAbsences?: (apiVersion: string, kind: string) => boolean;
  /**
   * The minimum version for a read of `owner`, so that its state is not older than the one in which `dependent` had `version`. This is
   * `version` itself if both are stored together, otherwise the newest known version of the owner's resource. Undefined: none is known.
   */
  readonly versionFor?: (owner: KindMapping, dependent: VersionedKind) => string | undefined;
  /**
   * While the graph is not trusted: whether discovery was read after the server may have been replaced. If so, a kind that is not served
   * was not restored from a backup either. Absent: it was not read.
   */
  readonly kindsReadSince?: boolean;
  /**
   * While the graph is not trusted: the first epoch in which a proof that an owner of this apiVersion is absent counts. Absent: any proof
   * counts.
   */
  readonly provenSince?: (apiVersion: string) => Epoch;
}

/** A version of an object of this apiVersion and resource. */
export interface VersionedKind {
  readonly apiVersion: string;
  readonly resource: string;
  readonly version: string;
}

/** One round about one key, with the answers so far. */
export interface Round {
  readonly uid: Uid;
  readonly queuedAs: QueuedAs;
  readonly shortcut: Facts['shortcut'];
  readonly latest: LatestAnswer;
  readonly owners: ReadonlyMap<OwnerKey, OwnerAnswer>;
  /** The value of `blocking` when this owner's blocking dependents were last queued. */
  readonly blockingWhenQueued: BlockingDependents | undefined;
  readonly endAccepted: AcceptedEnd | undefined;
}

/** The server has accepted a delete of an object, or the removal of the finalizer it waited with, at this version. */
export interface AcceptedEnd {
  readonly resourceVersion: string;
  readonly by: 'delete' | 'finalizer';
}

/**
 * The current facts. Gather them again before each call of `attemptToDelete`: the graph may have changed while an
 * answer was awaited. O(references), and for an object that is not deletingDependents O(dependents until one is found that is).
 * No dependent of a waiting owner is visited, unless something above it waits for it: see `waiting-cycle.ts`.
 */
export function gatherFacts(source: FactSource, round: Round): Facts {
  const { graph, trust } = source;
  const { uid, queuedAs, shortcut } = round;
  const found = graph.node(uid);
  if (found === undefined)
    return { queuedAs, node: undefined, latest: round.latest, owners: [], graph: trust, shortcut };
  const node = nodeFacts(source, found, round);
  const latest = withoutStale(round.latest, node);
  const owners = ownersInForce(source, found, { ...round, latest });
  return { queuedAs, node, latest, owners, graph: trust, shortcut };
}

/**
 * A read that is older than the state which a working watch shows came from a replica that lags. It counts as an error, so that the object
 * is read again. It must not decide anything, not even that there is nothing to do, because no event would queue the object again.
 */
function withoutStale(latest: LatestAnswer, { shown, identity, resourceVersion = '' }: NodeFacts): LatestAnswer {
  if (latest.state !== 'found' || !shown || latest.object.uid !== identity.uid) return latest;
  const isStale = versionNumber(latest.object.resourceVersion) < versionNumber(resourceVersion);
  return isStale ? { state: 'error', target: latest.target } : latest;
}

function nodeFacts(source: FactSource, node: GraphNode, { blockingWhenQueued, endAccepted }: Round): NodeFacts {
  const { id, identity, state, beingDeleted, deletingDependents, resourceVersion } = node;
  const { foregroundFinalizer, orphanFinalizer, otherFinalizers } = node;
  // Each decision uses either the blocking dependents or `dependents`. Each is computed only in its own branch, because it may cost a walk
  // over all dependents.
  const blocking = deletingDependents ? source.graph.blockingDependents(id) : { count: 0, lastAddition: 0 };
  const mapping = source.mapping(identity.apiVersion, identity.kind, source.graph.resourceAt(id));
  const shown = state === 'observed' && !node.unlisted && follows(source, identity);
  return {
    state,
    unlisted: node.unlisted,
    shown,
    notOlderThan: shown ? undefined : state === 'virtual' ? versionOfDependent(source, id, mapping) : resourceVersion,
    identity,
    mapping,
    ...(trusts(source, identity) ? {} : { doubted: true }),
    beingDeleted,
    deletingDependents,
    resourceVersion,
    endAccepted: endAccepted !== undefined && awaitsNews(node, endAccepted),
    foregroundFinalizer,
    orphanFinalizer,
    otherFinalizers,
    dependents: deletingDependents ? 'none' : dependentsOf(source.graph, id),
    blocking,
    inWaitingCycle: blocking.count > 0 && isInWaitingCycle(source.graph, id),
    blockingWhenQueued,
  };
}

/** Whether the graph may answer for objects of this kind. */
export function trusts(
  { trust, trusts: ofKind }: Pick<FactSource, 'trust' | 'trusts'>,
  { apiVersion, kind }: Kind,
): boolean {
  return trust === 'trusted' && ofKind?.(apiVersion, kind) !== false;
}

function follows({ follows: works, trust }: FactSource, { apiVersion, kind }: Kind): boolean {
  return works === undefined ? trust === 'trusted' : works(apiVersion, kind);
}

/** A dependent referred to the owner in this version, so the owner existed before. */
function versionOfDependent(source: FactSource, id: number, mapping: KindMapping | undefined): string | undefined {
  if (source.versionFor === undefined || mapping === undefined) return undefined;
  let found: string | undefined;
  source.graph.forEachDependent(id, (dependent) => {
    found = versionToName(source, mapping, dependent, source.graph.resourceVersionAt(dependent));
    return found === undefined;
  });
  return found;
}

function versionToName(
  source: FactSource,
  owner: KindMapping,
  dependent: number,
  version: string | undefined,
): string | undefined {
  const { graph, versionFor } = source;
  const resource = graph.resourceAt(dependent);
  if (resource === undefined || version === undefined) return undefined;
  return versionFor?.(owner, { apiVersion: graph.typeAt(dependent).apiVersion, resource, version });
}

type Kind = Pick<Coordinates, 'apiVersion' | 'kind'>;

function awaitsNews({ resourceVersion, beingDeleted }: GraphNode, end: AcceptedEnd): boolean {
  if (resourceVersion !== end.resourceVersion) return false;
  // A delete of an object that was being deleted may change nothing: then no event follows.
  return end.by === 'finalizer' || !beingDeleted;
}

function dependentsOf(graph: Graph, id: number): NodeFacts['dependents'] {
  let found: NodeFacts['dependents'] = 'none';
  graph.forEachDependent(id, (dependent) => {
    found = graph.isDeletingDependents(dependent) ? 'someDeletingDependents' : 'some';
    return found === 'some';
  });
  return found;
}

/** The version of the live object where there is one (COL-091), and in its namespace (COL-11A); else as recorded. */
function ownersInForce(source: FactSource, node: GraphNode, { latest, owners }: Round): OwnerFacts[] {
  const live = latest.state === 'found' && latest.object.uid === node.identity.uid ? latest.object : undefined;
  const references = live?.ownerReferences ?? node.ownerReferences;
  const namespace = live?.namespace ?? node.identity.namespace;
  const question = {
    namespace,
    answers: owners,
    dependent: node,
    version: live?.resourceVersion ?? node.resourceVersion,
  };
  return references.map((reference) => ownerFacts(source, { reference, ...question }));
}

interface Question {
  readonly reference: OwnerReference;
  readonly namespace: string;
  readonly answers: Round['owners'];
  readonly dependent: GraphNode;
  /** The version in which the dependent has this reference. */
  readonly version: string | undefined;
}

function ownerFacts(source: FactSource, { reference, namespace, answers, dependent, version }: Question): OwnerFacts {
  const { graph } = source;
  const state = ownerInGraph(graph, reference, namespace);
  const mapping = ownerMapping(source, reference, state);
  const key = mapping === undefined || answers.size === 0 ? undefined : ownerLookup(reference, mapping, namespace).key;
  const answer = (key === undefined ? undefined : answers.get(key)) ?? 'unasked';
  const live = answer === 'absent' && contradictsWatch(source, reference, state) ? 'error' : answer;
  const notOlderThan = mapping === undefined ? undefined : versionToName(source, mapping, dependent.id, version);
  const gone = graph.isKnownGone(reference, namespace);
  const knownAbsent = isKnownAbsent(source, reference, { mapping, namespace, gone });
  // Without a proof of absence the record of an orphaned owner does not count.
  const absent = knownAbsent || live === 'absent';
  return {
    reference,
    knownAbsent,
    ...(absent && wasOrphaned(source, reference, { mapping, namespace }) ? { orphaned: true } : {}),
    mapping,
    graph: state,
    ...(trusts(source, reference) ? {} : { doubted: true }),
    ...(gone ? { uidGone: true } : {}),
    ...(notOlderThan === undefined ? {} : { notOlderThan }),
    live,
  };
}

/** A working watch shows the owner, or the owner vanished together with so many others that their absence is not believed yet (COL-116). */
function contradictsWatch(source: FactSource, owner: Coordinates, state: OwnerFacts['graph']): boolean {
  if (state === 'unproven') return false;
  const { graph } = source;
  if (!graph.isUnlisted(graph.find(owner.uid))) return follows(source, owner);
  return source.holdsAbsences?.(owner.apiVersion, owner.kind) === true;
}

/**
 * True if the absence of the owner is in the cache and may be believed (COL-111). While the graph is not trusted, the server may not be the
 * one that proved the absence (designs/0011), so only proofs after the last outage count. If discovery says again that the kind is not
 * served any more, the old proof counts, because no newer one is possible (BETTER-15).
 */
function isKnownAbsent(
  source: FactSource,
  owner: Coordinates,
  { mapping, namespace, gone }: Place & { readonly gone: boolean },
): boolean {
  const { absentOwners, kindsReadSince, provenSince } = source;
  const mayBeBack = mapping !== undefined || kindsReadSince !== true;
  if (!trusts(source, owner) && mayBeBack) {
    return absentOwners.has(owner, namespace, provenSince?.(owner.apiVersion));
  }
  return gone || absentOwners.has(owner, namespace);
}

function ownerMapping(
  source: FactSource,
  { apiVersion, kind, uid }: Coordinates,
  state: OwnerFacts['graph'],
): KindMapping | undefined {
  const mapping = source.mapping(apiVersion, kind);
  if (mapping?.alsoElsewhere !== true || state === 'unproven') return mapping;
  return source.mapping(apiVersion, kind, source.graph.resourceAt(source.graph.find(uid)));
}

interface Place {
  readonly mapping: KindMapping | undefined;
  /** The namespace of the dependent. */
  readonly namespace: string;
}

/** Whether the reference means a recorded orphaned owner, at its recorded coordinates (COL-140, COL-241). */
function wasOrphaned(source: FactSource, { kind, name, uid }: Coordinates, { mapping, namespace }: Place): boolean {
  const had = (place: string): boolean => source.wasOrphaned?.({ kind, name, uid, namespace: place }) === true;
  // A kind that is no longer served may have been namespaced or not. If a kind has two resources, perhaps only one of them is namespaced.
  if (mapping === undefined || mapping.alsoElsewhere === true) return had(namespace) || had('');
  return had(mapping.namespaced ? namespace : '');
}

function ownerInGraph(graph: Graph, reference: Coordinates, namespace: string): OwnerFacts['graph'] {
  const id = graph.find(reference.uid);
  if (id < 0 || !graph.isObserved(id)) return 'unproven';
  const owner = graph.identityAt(id);
  if (owner.namespace !== '' && owner.namespace !== namespace) return 'unproven';
  if (owner.name !== reference.name || owner.kind !== reference.kind) return 'unproven';
  if (owner.apiVersion !== reference.apiVersion) return 'unproven';
  return graph.isWaiting(id) ? 'waiting' : 'solid';
}
