import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import { assert, unreachable } from '../../../base/errors/assert.ts';
import { apply } from '../../graph/apply.ts';
import { checkInvariants } from '../../graph/check-consistency.ts';
import type { Effect } from '../../graph/effect.ts';
import type { GraphEvent } from '../../types/event.ts';
import type { BlockingDependents } from '../../graph/graph.ts';
import { sameIdentity, type Coordinates, type Identity } from '../../types/identity.ts';
import { NONE } from '../../graph/tables/node-table.ts';
import { OwnershipGraph } from '../../graph/ownership-graph.ts';
import { parseWorkKey, workKey } from '../../queues/work-key.ts';
import type { Action, DeleteAction } from '../actions.ts';
import { afterDelete } from '../after-delete.ts';
import { afterRemoveReferences } from '../after-remove-references.ts';
import { afterUnblock } from '../after-unblock.ts';
import { attemptToDelete } from '../attempt-to-delete.ts';
import { attemptToOrphan } from '../attempt-to-orphan.ts';
import type { LatestAnswer } from '../facts.ts';
import { type AcceptedEnd, gatherFacts, type Round } from '../gather-facts.ts';
import { beginOrphanRound, gatherOrphanFacts, lookedAtOwner } from '../gather-orphan-facts.ts';
import { ownerAnswer } from '../owner-lookup.ts';
import { targetOf, type Target } from '../target.ts';
import { SmallServer, type ServerObject } from './small-server.ts';

/** A write of another client, once, at any time. */
export interface Incident {
  readonly name: string;
  readonly happen: (server: SmallServer) => SmallServer;
}

/** A key in work: the answers so far, or the actions that are left. */
type Work =
  | { readonly key: string; readonly round: Round }
  | { readonly key: string; readonly round: Round; readonly actions: readonly Action[]; readonly requeue: boolean };

/** The whole state that decides what can happen next. */
interface State {
  readonly server: SmallServer;
  readonly graph: OwnershipGraph;
  readonly absent: readonly Identity[];
  readonly ready: readonly string[];
  readonly backedOff: readonly string[];
  readonly orphanReady: readonly string[];
  readonly virtualDeletes: readonly Identity[];
  readonly working: Work | undefined;
  readonly lastQueued: ReadonlyMap<string, BlockingDependents>;
  /** Versions at which the deletion of an object was accepted, while the graph has them (BETTER-9). */
  readonly acceptedEnds: ReadonlyMap<string, AcceptedEnd>;
  readonly incidents: readonly Incident[];
  readonly options: Pick<Required<ExploreOptions>, 'steps' | 'watches'>;
  /** Dependent and owner of every invalid namespace that was reported. */
  readonly reports: readonly string[];
}

interface Exploration {
  readonly states: number;
  /** The final states of the histories, each different one once. */
  readonly ends: readonly End[];
  /** Deletes of objects that had an owner that lives and does not wait (COL-002), with the choices that led there. */
  readonly violations: readonly string[];
}

export interface End {
  /** Uids of the objects that are left, in order, with `!` behind those that are terminating. */
  readonly objects: string;
  /** Uids of the keys that are retried for ever. */
  readonly backedOff: string;
  readonly reports: string;
}

export interface ExploreOptions {
  readonly incidents?: readonly Incident[];
  /** The collector has seen everything before the first incident. */
  readonly synced?: boolean;
  /** `inOrder`: changes are shown as they happened; otherwise those of different objects in any order (COL-212). */
  readonly watches?: 'free' | 'inOrder';
  /** Reads and writes of one key are separate steps, between which anything else may happen. */
  readonly steps: 'fine' | 'coarse';
  /** Maximum number of states; more of them mean a mistake in the scenario. */
  readonly bound?: number;
}

/** All histories of a collector that starts beside a server with these objects: breadth first, each state once. */
export function explore(
  server: SmallServer,
  { incidents = [], synced = false, steps, watches = 'free', bound = 60_000 }: ExploreOptions,
): Exploration {
  const empty: State = {
    server,
    graph: new OwnershipGraph(),
    absent: [],
    ready: [],
    backedOff: [],
    orphanReady: [],
    virtualDeletes: [],
    working: undefined,
    lastQueued: new Map(),
    acceptedEnds: new Map(),
    incidents,
    options: { steps, watches },
    reports: [],
  };
  const start = synced ? seenAll(empty) : empty;
  const seen = new Set([keyOf(start)]);
  const open: { readonly state: State; readonly own: string }[] = [{ state: start, own: keyOf(start) }];
  const ends = new Map<string, End>();
  const violations: string[] = [];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { state, own } = at;
    let moved = false;
    for (const next of choices(state, violations)) {
      const key = keyOf(next);
      if (key === own) continue;
      moved = true;
      if (seen.has(key)) continue;
      seen.add(key);
      assert(seen.size <= bound, `more than ${bound} states`);
      open.push({ state: next, own: key });
    }
    if (!moved) {
      const end = endOf(state);
      ends.set(JSON.stringify(end), end);
    }
  }
  const sorted = [...ends.keys()].sort();
  return { states: seen.size, ends: sorted.map((key) => ends.get(key)!), violations };
}

/** The oldest change of this uid that was not shown yet, shown. */
function shown(state: State, uid: string): State {
  const { server } = state;
  const { object, gone } = server.changes.find((change) => change.object.uid === uid)!;
  const resource = server.monitored(object.resource);
  const { name, namespace } = object;
  const event: GraphEvent = gone
    ? { type: 'deleted', resource, uid, name, namespace }
    : { type: 'observed', resource, object: SmallServer.observed(object) };
  return applied({ ...state, server: server.show(uid) }, event);
}

/** All changes are shown. Keys and reports that depended on their order are dropped, because they are settled. */
function seenAll(state: State): State {
  let next = state;
  for (const { object } of state.server.changes) next = shown(next, object.uid);
  return { ...next, ready: [], reports: [] };
}

function endOf({ server, backedOff, reports }: State): End {
  const objects = [...server.objects.values()].map(({ uid, deleting }) => (deleting ? `${uid}!` : uid));
  return {
    objects: objects.sort().join(' '),
    backedOff: backedOff
      .map((key) => parseWorkKey(key).uid)
      .sort()
      .join(' '),
    reports: [...new Set(reports)].sort().join(' '),
  };
}

function* choices(state: State, violations: string[]): Generator<State> {
  const { server, options, ready, backedOff, orphanReady, virtualDeletes, working, incidents } = state;
  for (const incident of incidents) {
    yield { ...state, incidents: incidents.filter((other) => other !== incident), server: incident.happen(server) };
  }
  const changed = server.changes.map(({ object }) => object.uid);
  for (const uid of new Set(options.watches === 'free' ? changed : changed.slice(0, 1))) yield shown(state, uid);
  const [identity, ...later] = virtualDeletes;
  if (identity !== undefined) yield applied({ ...state, virtualDeletes: later }, { type: 'virtualDelete', identity });
  if (working !== undefined) {
    yield work(state, violations);
    return;
  }
  for (const uid of orphanReady)
    yield orphan({ ...state, orphanReady: orphanReady.filter((other) => other !== uid) }, uid);
  for (const key of [...ready, ...backedOff]) {
    const { uid, queuedAs } = parseWorkKey(key);
    const round: Round = {
      uid,
      queuedAs,
      shortcut: 'allowed',
      latest: { state: 'unasked' },
      owners: new Map(),
      blockingWhenQueued: state.lastQueued.get(uid),
      endAccepted: state.acceptedEnds.get(uid),
    };
    const without = (keys: readonly string[]) => keys.filter((other) => other !== key);
    let next: State = {
      ...state,
      ready: without(ready),
      backedOff: without(backedOff),
      working: { key, round },
    };
    if (options.steps === 'fine') yield work(next, violations);
    else {
      while (next.working !== undefined) next = work(next, violations);
      yield next;
    }
  }
}

/** One read, one write, or one decision of the key in work. */
function work(state: State, violations: string[]): State {
  const working = state.working!;
  if ('actions' in working) return act(state, working, violations);
  const { key, round } = working;
  const step = attemptToDelete(gatherFacts(sourceOf(state), round));
  if ('need' in step) {
    if (step.need === 'latest')
      return { ...state, working: { key, round: { ...round, latest: read(state.server, step.target) } } };
    const owners = new Map(round.owners);
    for (const lookup of step.lookups) {
      owners.set(lookup.key, ownerAnswer(lookup, state.server.read(lookup.target) ?? 'absent'));
    }
    return { ...state, working: { key, round: { ...round, owners } } };
  }
  const requeue = step.verdict === 'requeue';
  if (step.actions.length === 0) return finished(state, key, requeue);
  return { ...state, working: { key, round, actions: step.actions, requeue } };
}

function read(server: SmallServer, target: Target): LatestAnswer {
  const object = server.read(target);
  return object === undefined ? { state: 'absent', target } : { state: 'found', target, object };
}

function finished(state: State, key: string, requeue: boolean): State {
  const done: State = { ...state, working: undefined };
  return requeue && !done.ready.includes(key) ? { ...done, backedOff: [...done.backedOff, key].sort() } : done;
}

function act(state: State, working: Extract<Work, { actions: readonly Action[] }>, violations: string[]): State {
  const { key, round, requeue } = working;
  const [action, ...rest] = working.actions;
  assert(action !== undefined, 'a key in work has something left to do');
  const then = (next: State, left: readonly Action[] = rest): State =>
    left.length === 0 ? finished(next, key, requeue) : { ...next, working: { key, round, actions: left, requeue } };
  switch (action.action) {
    case 'emitVirtualDelete':
      return then({ ...state, virtualDeletes: [...state.virtualDeletes, action.identity] });
    case 'noteAbsentOwner':
      return then({ ...state, absent: noted(state.absent, action.identity) });
    case 'enqueueBlockingDependents': {
      const keys: string[] = [];
      const id = state.graph.find(action.owner);
      if (id < 0) return then(state);
      state.graph.forEachBlockingDependent(id, (dependent) => {
        if (!state.graph.isDeletingDependents(dependent)) keys.push(workKey(state.graph.uidAt(dependent), 'observed'));
      });
      const lastQueued = new Map(state.lastQueued).set(action.owner, state.graph.blockingDependents(id));
      return then({ ...queued(state, keys), lastQueued });
    }
    case 'removeFinalizer': {
      const { server, answer } = state.server.removeFinalizer(action.target, action.finalizer);
      const { only, target } = action;
      if (only === undefined || answer !== 'accepted') return then({ ...state, server });
      return then({ ...endAccepted(state, target.uid, { resourceVersion: only, by: 'finalizer' }), server });
    }
    case 'removeReferences': {
      const { target, owners } = action;
      const { server, answer } = state.server.removeReferences(target, owners);
      const release = afterRemoveReferences({ target, owners, answer, latest: { state: 'unasked' } });
      assert('release' in release && release.release !== 'failed', 'this server rejects no patch');
      const gone = release.release === 'gone' ? [action.identity] : [];
      return then({ ...state, server, virtualDeletes: [...state.virtualDeletes, ...gone] });
    }
    case 'unblockReferences': {
      const { server, answer, object } = state.server.unblock(action.target);
      const [deletion, ...others] = rest;
      if (deletion?.action !== 'delete') return then({ ...state, server });
      const next = afterUnblock(deletion, answer === 'accepted' ? object : undefined);
      if ('verdict' in next) return finished({ ...state, server }, key, true);
      return then({ ...state, server }, [next.action, ...others]);
    }
    case 'delete':
      return deletes(state, { working, action, violations });
    default:
      return unreachable(action);
  }
}

interface Deletion {
  readonly working: Extract<Work, { actions: readonly Action[] }>;
  readonly action: DeleteAction;
  readonly violations: string[];
}

/** DELETE; after a conflict the next step begins the decision anew. The number of repetitions is not bounded here. */
function deletes(state: State, { working, action, violations }: Deletion): State {
  const { key, round } = working;
  const { target, policy, preconditions } = action;
  const { server, answer } = state.server.delete(target, policy, preconditions);
  const next = afterDelete(action, answer);
  if (answer === 'accepted') checkSafety(state.server, target, violations);
  if ('next' in next) {
    const again: Round = { ...round, shortcut: 'spent', latest: { state: 'unasked' }, owners: new Map() };
    return { ...state, server, working: { key, round: again } };
  }
  const gone = next.actions.flatMap((follow) => (follow.action === 'emitVirtualDelete' ? [follow.identity] : []));
  const virtualDeletes = [...state.virtualDeletes, ...gone];
  const ended =
    answer === 'accepted'
      ? endAccepted(state, target.uid, { resourceVersion: preconditions.resourceVersion, by: 'delete' })
      : state;
  return finished({ ...ended, server, virtualDeletes }, key, working.requeue || next.verdict === 'requeue');
}

function endAccepted(state: State, uid: string, end: AcceptedEnd): State {
  return { ...state, acceptedEnds: new Map(state.acceptedEnds).set(uid, end) };
}

/** The accepted deletions that still matter: those of versions that the graph still has. */
function stillAwaited({ acceptedEnds }: State, graph: OwnershipGraph): State['acceptedEnds'] {
  return new Map([...acceptedEnds].filter(([uid, end]) => graph.node(uid)?.resourceVersion === end.resourceVersion));
}

/** Checks COL-002 against the server at the moment of the delete. */
function checkSafety(server: SmallServer, target: Target, violations: string[]): void {
  const object = server.at(target);
  if (object === undefined) return;
  const solid = object.references.filter((reference) => isSolid(server, object, reference));
  if (solid.length > 0) violations.push(`${object.uid} was deleted, owned by ${solid.map(({ uid }) => uid).join()}`);
}

function isSolid(server: SmallServer, dependent: ServerObject, reference: Coordinates): boolean {
  const mapping = server.mapping(reference.apiVersion, reference.kind);
  if (mapping === undefined) return false;
  const target = targetOf({ ...reference, namespace: dependent.namespace }, mapping);
  const owner = server.at(target);
  if (owner?.uid !== reference.uid) return false;
  return !(owner.deleting && owner.finalizers.includes('foregroundDeletion'));
}

/** A round of orphaning, in one step. */
function orphan(state: State, uid: string): State {
  const source = sourceOf(state);
  let round = beginOrphanRound(source, uid, { triedBefore: false });
  let { server } = state;
  for (;;) {
    const step = attemptToOrphan(gatherOrphanFacts(source, round));
    if ('verdict' in step) {
      for (const action of step.actions) {
        if (action.action === 'removeFinalizer') ({ server } = server.removeFinalizer(action.target, action.finalizer));
      }
      return { ...state, server };
    }
    if (step.need === 'latest') round = lookedAtOwner(source, round, read(server, step.target));
    else if (step.need === 'released') {
      for (const dependent of step.dependents) {
        const { identity } = state.graph.node(dependent)!;
        const target = targetOf(identity, server.mapping(identity.apiVersion, identity.kind)!);
        ({ server } = server.removeReferences(target, [uid]));
      }
      round = { ...round, released: 'all' };
    } else round = { ...round, barrier: 'gaveUp' };
  }
}

function sourceOf(state: State) {
  const { server, graph, absent } = state;
  // The list that shows an object first is the first change of that object.
  const synced = server.changes.every(
    ({ object }) => graph.find(object.uid) >= 0 || graph.isKnownGone(identityOf(server, object), object.namespace),
  );
  return {
    graph,
    absentOwners: {
      has: (coordinates: Coordinates, namespace: string) =>
        absent.some((identity) =>
          ['', namespace].some((at) => sameIdentity(identity, { ...coordinates, namespace: at })),
        ),
    },
    mapping: server.mapping.bind(server),
    trust: synced ? ('trusted' as const) : ('untrusted' as const),
  };
}

function identityOf(server: SmallServer, { resource, namespace, name, uid }: ServerObject): Identity {
  const { apiVersion, kind } = server.monitored(resource);
  return { apiVersion, kind, namespace, name, uid };
}

function applied(state: State, event: GraphEvent): State {
  const graph = state.graph.clone();
  const effects: Effect[] = [];
  apply(graph, event, effects);
  assert(checkInvariants(graph).length === 0, 'the graph is consistent after every event');
  let next: State = { ...state, graph, acceptedEnds: stillAwaited(state, graph) };
  for (const effect of effects) next = carriedOut(next, effect);
  return next;
}

function carriedOut(state: State, effect: Effect): State {
  switch (effect.effect) {
    case 'enqueue': {
      if (effect.queue === 'attemptToOrphan') {
        return { ...state, orphanReady: [...new Set([...state.orphanReady, effect.uid])].sort() };
      }
      return queued(state, [workKey(effect.uid, effect.as)]);
    }
    case 'noteAbsentOwner':
      return { ...state, absent: noted(state.absent, effect.identity) };
    case 'dropAbsentOwner':
      return { ...state, absent: state.absent.filter(({ uid }) => uid !== effect.uid) };
    case 'reportInvalidNamespace':
      return { ...state, reports: [...state.reports, `${effect.dependent.uid}->${effect.ownerReference.uid}`] };
    case 'heldAbsences':
      throw new Error('no list of this model has a limit');
  }
}

function queued(state: State, keys: readonly string[]): State {
  const ready = [...new Set([...state.ready, ...keys])].sort();
  return { ...state, ready, backedOff: state.backedOff.filter((key) => !keys.includes(key)) };
}

function noted(absent: readonly Identity[], identity: Identity): readonly Identity[] {
  return absent.some((known) => sameIdentity(known, identity)) ? absent : [...absent, identity];
}

/** Keys of graphs. A graph does not change any more, because each state has its own copy. */
const graphKeys = new WeakMap<OwnershipGraph, string>();

function graphKey(graph: OwnershipGraph): string {
  const known = graphKeys.get(graph);
  if (known !== undefined) return known;
  const nodes: string[] = [];
  graph.forEachNode((id) => {
    const { identity, state, beingDeleted, deletingDependents, ownerReferences, resourceVersion } = graph.at(id);
    const { uid, namespace, name, kind, apiVersion } = identity;
    const gone = graph.missingOwners(id).map((owner) => owner.uid);
    const flags = `${state} ${beingDeleted} ${deletingDependents} ${resourceVersion}`;
    nodes.push(
      [uid, namespace, name, kind, apiVersion, flags, ownerReferences.map(short).join(), gone.join()].join(' '),
    );
  });
  const key = nodes.sort().join('\n');
  graphKeys.set(graph, key);
  return key;
}

/** Two states with the same key have the same possible continuations. */
function keyOf(state: State): string {
  const { server, graph, absent, ready, backedOff, orphanReady, virtualDeletes, working, incidents, lastQueued } =
    state;
  const objects = [...server.objects.values()].map((object) => `${object.uid} ${object.version}`).sort();
  const changes = server.changes.map(({ object, gone }) => `${object.uid} ${object.version} ${gone}`).sort();
  return [
    objects.join(),
    changes.join(),
    graphKey(graph),
    absent
      .map((identity) => Object.values(identity).join(' '))
      .sort()
      .join(),
    ready.join(),
    backedOff.join(),
    orphanReady.join(),
    virtualDeletes.map((identity) => Object.values(identity).join(' ')).join(),
    working === undefined ? '' : JSON.stringify([working, [...working.round.owners]]),
    incidents.map(({ name }) => name).join(),
    [...lastQueued].map(([uid, was]) => `${uid} ${was.count} ${isLatest(graph, uid, was)}`).join(),
    JSON.stringify([...state.acceptedEnds].sort()),
    [...new Set(state.reports)].sort().join(),
  ].join('\n\n');
}

/** The only fact about `lastAddition` that a decision uses, because the numbers themselves differ between histories. */
function isLatest(graph: OwnershipGraph, uid: string, { lastAddition }: BlockingDependents): boolean {
  const id = graph.find(uid);
  return id !== NONE && graph.blockingDependents(id).lastAddition === lastAddition;
}

function short({ uid, name, kind, apiVersion, blockOwnerDeletion }: OwnerReference): string {
  return `${uid} ${name} ${kind} ${apiVersion} ${blockOwnerDeletion}`;
}
