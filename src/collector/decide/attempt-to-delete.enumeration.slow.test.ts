import { beforeAll, describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Action } from './actions.ts';
import { attemptToDelete } from './attempt-to-delete.ts';
import type { Facts, LatestAnswer, NodeFacts, OwnerFacts } from './facts.ts';
import type { Verdict } from './step.ts';
import { targetOf, type KindMapping } from './target.ts';

/** The true state of one owner, and the facts about it that the collector could know without a read. */
interface Owner {
  readonly truth: 'absent' | 'solid' | 'waiting' | 'unreadable';
  readonly scope: 'namespaced' | 'cluster' | 'unmapped';
  readonly knownAbsent?: true;
  readonly inGraph?: true;
  /** The owner was deleted, or is about to be deleted, with policy Orphan (LIFE-560). */
  readonly orphaned?: true;
}

/** Every possible state of an owner. A living owner with `knownAbsent` has a cache entry from before a restore. */
const OWNERS: readonly Owner[] = [
  { truth: 'absent', scope: 'namespaced', knownAbsent: true },
  { truth: 'absent', scope: 'unmapped', knownAbsent: true },
  { truth: 'absent', scope: 'namespaced' },
  { truth: 'absent', scope: 'cluster' },
  { truth: 'absent', scope: 'unmapped' },
  { truth: 'solid', scope: 'namespaced', inGraph: true },
  { truth: 'solid', scope: 'cluster', inGraph: true, knownAbsent: true },
  { truth: 'solid', scope: 'cluster' },
  { truth: 'waiting', scope: 'namespaced', inGraph: true },
  { truth: 'waiting', scope: 'cluster' },
  { truth: 'unreadable', scope: 'namespaced' },
  { truth: 'absent', scope: 'namespaced', knownAbsent: true, orphaned: true },
  { truth: 'absent', scope: 'cluster', orphaned: true },
  { truth: 'solid', scope: 'cluster', orphaned: true },
];

interface World {
  readonly queuedAs: 'virtual' | 'observed';
  readonly state: 'none' | 'virtual' | 'observed';
  readonly beingDeleted: boolean;
  readonly deletingDependents: boolean;
  readonly scope: 'namespaced' | 'cluster' | 'unmapped';
  readonly namespaceKnown: boolean;
  /** `living`: found and not being deleted, although the graph says that it is being deleted (designs/0011). */
  readonly live: 'absent' | 'replaced' | 'unreadable' | 'found' | 'living';
  readonly liveFinalizer: 'none' | 'foregroundDeletion' | 'orphan';
  readonly owners: readonly Owner[];
  readonly dependents: NodeFacts['dependents'];
  readonly blocking: number;
  readonly trust: 'believed' | 'untrusted' | 'spent';
}

const MAPPINGS: Record<string, KindMapping | undefined> = {
  namespaced: { apiVersion: 'v1', resource: 'pods', namespaced: true },
  cluster: { apiVersion: 'v1', resource: 'nodes', namespaced: false },
  unmapped: undefined,
};
const IDENTITY = { apiVersion: 'v1', kind: 'Thing', name: 'n', uid: 'n' };

const REFERENCES: readonly OwnerReference[] = [0, 1, 2].map((i) => ({
  apiVersion: 'v1',
  kind: 'Owner',
  name: `o${i}`,
  uid: `o${i}`,
  ...(i === 1 ? {} : { blockOwnerDeletion: true }),
}));

/** Answers all needs from the world, and counts the reads. */
function play(world: World): { verdict: Verdict; itemReads: number; ownerReads: number } {
  let latest: LatestAnswer = { state: 'unasked' };
  const answered = new Set<number>();
  let itemReads = 0;
  let ownerReads = 0;
  for (let round = 0; round < 4; round++) {
    const step = attemptToDelete(factsOf(world, latest, answered));
    if ('verdict' in step) return { verdict: step, itemReads, ownerReads };
    if (step.need === 'latest') {
      itemReads++;
      latest = liveAnswer(world);
    } else {
      ownerReads += step.lookups.length;
      for (const { reference } of step.lookups) answered.add(REFERENCES.findIndex(({ uid }) => uid === reference.uid));
    }
  }
  throw new Error('asks without end');
}

function liveAnswer(world: World): LatestAnswer {
  const target = targetOf(identityOf(world), MAPPINGS[world.scope]!);
  if (world.live === 'absent') return { state: 'absent', target };
  if (world.live === 'unreadable') return { state: 'error', target };
  const object = {
    uid: world.live === 'replaced' ? 'someone else' : 'n',
    name: 'n',
    namespace: target.namespace,
    resourceVersion: '12',
    ownerReferences: REFERENCES.slice(0, world.owners.length),
    finalizers: world.liveFinalizer === 'none' ? [] : [world.liveFinalizer],
    deleting: world.deletingDependents && world.live === 'found',
  };
  return { state: 'found', target, object };
}

function identityOf(world: World) {
  return { ...IDENTITY, namespace: world.scope === 'namespaced' && world.namespaceKnown ? 'ns' : '' };
}

function factsOf(world: World, latest: LatestAnswer, answered: ReadonlySet<number>): Facts {
  const node: NodeFacts | undefined =
    world.state === 'none'
      ? undefined
      : {
          state: world.state,
          unlisted: false,
          shown: isShown(world),
          notOlderThan: undefined,
          identity: identityOf(world),
          mapping: MAPPINGS[world.scope],
          beingDeleted: world.beingDeleted,
          deletingDependents: world.deletingDependents,
          resourceVersion: world.state === 'observed' ? '11' : undefined,
          foregroundFinalizer: world.liveFinalizer === 'foregroundDeletion',
          orphanFinalizer: world.liveFinalizer === 'orphan',
          otherFinalizers: false,
          dependents: world.dependents,
          blocking: { count: world.blocking, lastAddition: 0 },
          inWaitingCycle: false,
          blockingWhenQueued: undefined,
          endAccepted: false,
        };
  return {
    queuedAs: world.queuedAs,
    node,
    latest,
    owners: world.owners.map((owner, i): OwnerFacts => ownerFactsOf(owner, i, answered.has(i))),
    graph: world.trust === 'untrusted' ? 'untrusted' : 'trusted',
    shortcut: world.trust === 'spent' ? 'spent' : 'allowed',
  };
}

/** True if a watch that works shows the object. */
function isShown({ state, trust }: World): boolean {
  return state === 'observed' && trust !== 'untrusted';
}

function ownerFactsOf(owner: Owner, i: number, asked: boolean): OwnerFacts {
  const live = owner.truth === 'unreadable' ? 'error' : owner.truth;
  return {
    reference: REFERENCES[i]!,
    knownAbsent: owner.knownAbsent ?? false,
    ...(owner.orphaned === undefined ? {} : { orphaned: true }),
    mapping: MAPPINGS[owner.scope],
    graph: owner.inGraph && (owner.truth === 'solid' || owner.truth === 'waiting') ? owner.truth : 'unproven',
    live: asked ? live : 'unasked',
  };
}

/** The table of COL-090, row by row, computed from the true state of the world, whoever answers the reads. */
function table(world: World): string {
  const retryWhileVirtual = world.state === 'virtual' ? 'retry' : 'done';
  if (world.state === 'none' || (world.queuedAs === 'virtual' && world.state === 'observed')) return '1 done';
  if (world.beingDeleted && !world.deletingDependents) return '2 done';
  if (world.scope === 'unmapped') return '3 retry';
  if (world.scope === 'namespaced' && !world.namespaceKnown) return '4 done';
  // The graph's record may replace a read of the object: a change would fail the precondition of the delete (COL-098).
  const believed = world.trust === 'believed' && world.state === 'observed';
  if (!believed) {
    if (world.live === 'absent') return isShown(world) ? '5 retry' : '5 done virtualDelete';
    if (world.live === 'unreadable') return '6 retry';
    if (world.live === 'replaced') return isShown(world) ? '7 retry' : '7 done virtualDelete';
  }
  if (world.deletingDependents) {
    if (!believed && world.live === 'living') return `8 ${retryWhileVirtual}`;
    if (world.blocking > 0) return '8 done enqueueBlocking';
    return world.liveFinalizer === 'foregroundDeletion' ? '8 done removeFinalizer' : '8 done';
  }
  if (world.owners.length === 0) return `9 ${retryWhileVirtual}`;
  const clusterScoped = world.scope === 'cluster';
  if (clusterScoped && world.owners.some(({ scope }) => scope === 'namespaced')) return '10 done';
  const unresolvable = ({ scope, knownAbsent, truth }: Owner) =>
    truth === 'unreadable' || (scope === 'unmapped' && !knownAbsent);
  if (world.owners.some(unresolvable)) return '10 retry';
  const solid = world.owners.some(({ truth }) => truth === 'solid');
  const waiting = world.owners.some(({ truth }) => truth === 'waiting');
  const dangling = world.owners.some(({ truth }) => truth === 'absent');
  if (solid && !waiting && !dangling) return `11 ${retryWhileVirtual}`;
  // A write follows. If the graph's record replaced the read, the object is read now, or the write is guarded by its version.
  const unread = believed && world.live !== 'found';
  if (solid) {
    if (unread) return `12 ${readOutcome(world)}`;
    const removed = world.owners.flatMap(({ truth }, i) => (truth === 'solid' ? [] : [`o${i}`]));
    return `12 ${retryWhileVirtual} remove ${removed.join()}`;
  }
  // Between rows 12 and 13: owners that were deleted with policy Orphan (LIFE-560).
  if (world.owners.every(({ orphaned }) => orphaned)) {
    if (unread) return `12.5 ${readOutcome(world)}`;
    return `12.5 ${retryWhileVirtual} remove ${world.owners.map((_, i) => `o${i}`).join()}`;
  }
  if (waiting && world.dependents === 'someDeletingDependents') {
    if (unread) return `13 ${readOutcome(world)}`;
    const blocking = world.owners.some((_, i) => i !== 1);
    return `13 ${retryWhileVirtual} ${blocking ? 'unblock ' : ''}delete Foreground`;
  }
  if (waiting && world.dependents === 'some') return `14 ${retryWhileVirtual} delete Foreground`;
  const policy = { none: 'Background', foregroundDeletion: 'Foreground', orphan: 'Orphan' }[world.liveFinalizer];
  return `15 ${retryWhileVirtual} delete ${policy}`;
}

function readOutcome(world: World): string {
  return world.live === 'unreadable' || isShown(world) ? 'retry' : 'done virtualDelete';
}

function summary({ verdict, actions }: Verdict): string {
  const words = actions.flatMap((action): string[] => {
    switch (action.action) {
      case 'delete':
        return [`delete ${action.policy}`];
      case 'removeReferences':
        return [`remove ${[...action.owners].sort().join()}`];
      case 'unblockReferences':
        return ['unblock'];
      case 'removeFinalizer':
        return ['removeFinalizer'];
      case 'emitVirtualDelete':
        return ['virtualDelete'];
      case 'enqueueBlockingDependents':
        return ['enqueueBlocking'];
      case 'noteAbsentOwner':
        return [];
    }
  });
  return [verdict === 'forget' ? 'done' : 'retry', ...words].join(' ');
}

function ownerLists(max: number): Owner[][] {
  const lists: Owner[][] = [[]];
  for (let from = 0, length = 1; length <= max; length++) {
    const to = lists.length;
    for (; from < to; from++) for (const owner of OWNERS) lists.push([...lists[from]!, owner]);
  }
  return lists;
}

function* worlds(): Generator<World> {
  const lists = ownerLists(3);
  const shorter = ownerLists(1);
  const quiet = { beingDeleted: false, deletingDependents: false, namespaceKnown: true, blocking: 0 } as const;
  // Rows 9 to 15 in full: every list of up to three owners.
  for (const owners of lists) {
    for (const state of ['virtual', 'observed'] as const) {
      for (const scope of ['namespaced', 'cluster'] as const) {
        for (const trust of ['believed', 'untrusted', 'spent'] as const) {
          for (const dependents of ['none', 'some', 'someDeletingDependents'] as const) {
            for (const liveFinalizer of ['none', 'foregroundDeletion', 'orphan'] as const) {
              if (owners.length === 3 && liveFinalizer === 'orphan' && dependents !== 'none') continue;
              yield {
                ...quiet,
                queuedAs: state,
                state,
                scope,
                live: 'found',
                liveFinalizer,
                owners,
                dependents,
                trust,
              };
            }
          }
        }
      }
    }
  }
  // Rows 1 to 8, and every way in which reading the item can end, with at most one owner.
  for (const owners of shorter)
    for (const queuedAs of ['virtual', 'observed'] as const)
      for (const state of ['none', 'virtual', 'observed'] as const)
        for (const scope of ['namespaced', 'cluster', 'unmapped'] as const)
          for (const live of ['absent', 'replaced', 'unreadable', 'found', 'living'] as const)
            for (const trust of ['believed', 'untrusted', 'spent'] as const)
              for (const liveFinalizer of ['none', 'foregroundDeletion'] as const)
                for (const dependents of ['none', 'someDeletingDependents'] as const)
                  for (const bits of [0, 1, 2, 3, 4, 5, 6, 7]) {
                    if (live === 'living' && (bits & 2) === 0) continue;
                    yield {
                      queuedAs,
                      state,
                      scope,
                      live,
                      trust,
                      liveFinalizer,
                      owners,
                      dependents,
                      beingDeleted: (bits & 1) !== 0,
                      deletingDependents: (bits & 2) !== 0,
                      namespaceKnown: (bits & 4) === 0,
                      blocking: owners.length * 2,
                    };
                  }
}

interface Failure {
  readonly world: World;
  readonly expected: string;
  readonly actual: string;
}

/** Reports only a few failures of each kind, so that a failing run stays readable. */
class Failures {
  readonly found: Failure[] = [];

  add(world: World, expected: string, actual: string): void {
    if (this.found.length < 5) this.found.push({ world, expected, actual });
  }
}

describe('attemptToDelete over its whole state space', () => {
  const outcome = new Failures();
  const safety = new Failures();
  const proofs = new Failures();
  const preconditions = new Failures();
  const calls = new Failures();
  const rows = new Map<string, number>();
  let count = 0;

  beforeAll(() => {
    for (const world of worlds()) {
      count++;
      const { verdict, itemReads, ownerReads } = play(world);
      const [row, ...expected] = table(world).split(' ');
      rows.set(row!, (rows.get(row!) ?? 0) + 1);
      const actual = summary(verdict);
      if (expected.join(' ') !== actual) outcome.add(world, expected.join(' '), `${actual} (${verdict.reason})`);
      checkSafety(world, verdict.actions);
      for (const action of verdict.actions) checkPreconditions(world, action);
      checkCalls(world, { actual, itemReads, ownerReads });
    }
  });

  function checkSafety(world: World, actions: readonly Action[]): void {
    const deletes = actions.some(({ action }) => action === 'delete');
    if (deletes && world.owners.some(({ truth }) => truth === 'solid')) safety.add(world, 'no delete', 'delete');
    const writes = actions.some(({ action }) => action === 'delete' || action === 'removeReferences');
    const unproven = ({ truth, scope, knownAbsent }: Owner) =>
      truth === 'unreadable' || (scope === 'unmapped' && knownAbsent === undefined);
    if (writes && world.owners.some(unproven)) proofs.add(world, 'no write', 'write');
    for (const action of actions) {
      if (action.action !== 'noteAbsentOwner') continue;
      const owner = world.owners[REFERENCES.findIndex(({ uid }) => uid === action.identity.uid)]!;
      if (owner.truth !== 'absent') proofs.add(world, 'no note', 'noteAbsentOwner');
    }
  }

  function checkPreconditions(world: World, action: Action): void {
    if (action.action === 'delete') {
      const { uid, resourceVersion } = action.preconditions;
      const version = action.basis === 'live' ? ['12', 'fromPatch'] : ['11'];
      if (uid !== 'n' || !version.includes(resourceVersion)) preconditions.add(world, version.join(), resourceVersion);
      if (action.classified.length !== world.owners.length) preconditions.add(world, 'all references', 'fewer');
    }
    if ('target' in action) {
      const namespace = world.scope === 'namespaced' ? 'ns' : '';
      if (action.target.uid !== 'n') preconditions.add(world, 'uid n', action.target.uid);
      if (action.target.namespace !== namespace) preconditions.add(world, namespace, action.target.namespace);
    }
    if (action.action === 'removeFinalizer' && action.known !== undefined) {
      const version = world.trust === 'believed' && world.state === 'observed' ? '11' : '12';
      if (action.known.resourceVersion !== version) preconditions.add(world, version, action.known.resourceVersion);
    }
  }

  function checkCalls(world: World, played: { actual: string; itemReads: number; ownerReads: number }): void {
    const { actual, itemReads, ownerReads } = played;
    if (itemReads > 1) calls.add(world, 'one read of the item', String(itemReads));
    if (ownerReads > world.owners.length) calls.add(world, 'one read an owner', String(ownerReads));
    const believed = world.trust === 'believed' && world.state === 'observed';
    const known = world.owners.every(({ inGraph, knownAbsent }) => inGraph ?? knownAbsent);
    const orphaned = world.owners.length > 0 && world.owners.every((owner) => owner.orphaned);
    const patches =
      actual.includes('remove o') || actual.includes('unblock') || world.dependents !== 'none' || orphaned;
    if (believed && known && !patches && itemReads + ownerReads > 0)
      calls.add(world, 'no read', `${itemReads}+${ownerReads}`);
    if (world.trust !== 'believed' && world.live !== 'found' && ownerReads > 0)
      calls.add(world, 'no owner read', 'read');
  }

  it('covers every row of the table', () => {
    expect(count).toBeGreaterThan(100_000);
    expect([...rows.keys()].map(Number).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12.5, 13, 14, 15,
    ]);
  });

  it('COL-090 LIFE-560 each outcome is that of the table, whoever answered', () => {
    expect(outcome.found).toEqual([]);
  });

  it('COL-002 no delete while any owner is solid', () => {
    expect(safety.found).toEqual([]);
  });

  it('COL-114, COL-116, COL-156 what is not proven leads to no write and no note', () => {
    expect(proofs.found).toEqual([]);
  });

  it('COL-150, COL-172 every write names the uid, every delete the version its decision rests on', () => {
    expect(preconditions.found).toEqual([]);
  });

  it('COL-098, COL-175, BETTER-9 nothing is asked twice, and nothing that the graph can answer', () => {
    expect(calls.found).toEqual([]);
  });
});
