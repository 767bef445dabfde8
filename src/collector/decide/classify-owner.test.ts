import { describe, expect, it } from 'vitest';
import { attemptToDelete } from './attempt-to-delete.ts';
import { classifyOwner, type OwnerClass } from './classify-owner.ts';
import type { Facts, OwnerFacts } from './facts.ts';

const reference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o' };
const pods = { apiVersion: 'v1', resource: 'pods', namespaced: true };
const nodes = { apiVersion: 'v1', resource: 'nodes', namespaced: false };
const owner = (change: Partial<OwnerFacts>): OwnerFacts => ({
  reference,
  knownAbsent: false,
  mapping: pods,
  graph: 'unproven',
  live: 'unasked',
  ...change,
});

describe('classifyOwner', () => {
  const usual = { clusterScoped: false, believeGraph: true };
  it.each<[string, Partial<OwnerFacts>, Partial<typeof usual>, OwnerClass]>([
    ['COL-110 does not exist', { live: 'absent' }, {}, 'dangling'],
    ['COL-110 exists, terminates and waits', { live: 'waiting' }, {}, 'waiting'],
    ['COL-110 exists otherwise', { live: 'solid' }, {}, 'solid'],
    ['COL-111 known absent, without a call', { knownAbsent: true }, {}, 'dangling'],
    [
      'COL-111 known absent, though its kind is not served any more',
      { knownAbsent: true, mapping: undefined },
      {},
      'dangling',
    ],
    ['COL-112 of a kind that is not served', { mapping: undefined }, {}, 'unmapped'],
    ['COL-113 namespaced, of a cluster-scoped dependent', {}, { clusterScoped: true }, 'outOfReach'],
    ['COL-113 the same, known absent or not', { knownAbsent: true }, { clusterScoped: true }, 'outOfReach'],
    ['COL-142 cluster-scoped, of a cluster-scoped dependent', { mapping: nodes }, { clusterScoped: true }, 'unread'],
    ['COL-114 nobody has asked', {}, {}, 'unread'],
    ['COL-114 an answer that proves nothing', { live: 'error' }, {}, 'unreadable'],
    ['COL-098 shown by the graph', { graph: 'solid' }, {}, 'solid'],
    ['COL-098 shown by the graph to wait', { graph: 'waiting' }, {}, 'waiting'],
    ['COL-098 shown by a graph that is not to be believed', { graph: 'solid' }, { believeGraph: false }, 'unread'],
    ['COL-135 BETTER-14 seen alive after its absence was noted', { graph: 'solid', knownAbsent: true }, {}, 'solid'],
    [
      'BETTER-14 the same, in a graph not to be believed: asked',
      { graph: 'solid', knownAbsent: true },
      { believeGraph: false },
      'unread',
    ],
  ])('%s', (_, change, how, expected) => {
    expect(classifyOwner(owner(change), { ...usual, ...how })).toBe(expected);
  });
});

describe('COL-110 several references', () => {
  const facts = (owners: readonly OwnerFacts[]): Facts => ({
    queuedAs: 'observed',
    node: {
      state: 'observed',
      unlisted: false,
      shown: false,
      notOlderThan: undefined,
      identity: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'n', uid: 'n' },
      mapping: pods,
      beingDeleted: false,
      deletingDependents: false,
      resourceVersion: '11',
      foregroundFinalizer: false,
      orphanFinalizer: false,
      otherFinalizers: false,
      dependents: 'none',
      blocking: { count: 0, lastAddition: 0 },
      inWaitingCycle: false,
      blockingWhenQueued: undefined,
      endAccepted: false,
    },
    latest: { state: 'unasked' },
    owners,
    graph: 'trusted',
    shortcut: 'allowed',
  });
  const named = (uid: string, change: Partial<OwnerFacts>): OwnerFacts =>
    owner({ reference: { ...reference, uid, name: uid }, ...change });

  it('COL-110 are each asked for, in order, and only those that nobody knows', () => {
    const step = attemptToDelete(
      facts([named('a', {}), named('b', { knownAbsent: true }), named('c', {}), named('d', { graph: 'waiting' })]),
    );
    expect(step).toMatchObject({ need: 'owners' });
    expect('need' in step && step.need === 'owners' ? step.lookups.map(({ reference: { uid } }) => uid) : []).toEqual([
      'a',
      'c',
    ]);
  });

  it.each([
    { rule: 'COL-110 all dangling: deleted', lives: ['absent', 'absent'], reason: 'ownersAbsent', actions: ['delete'] },
    {
      rule: 'COL-107 dangling and waiting: deleted',
      lives: ['absent', 'waiting'],
      reason: 'ownerWaits',
      actions: ['delete'],
    },
    { rule: 'COL-002 one solid: lives', lives: ['solid', 'solid'], reason: 'solidOwner', actions: [] },
    {
      rule: 'COL-112 COL-114 one unknown: nothing is done about the others',
      lives: ['absent', 'error'],
      reason: 'ownerUnreadable',
      actions: [],
    },
  ] as const)('$rule', ({ lives, reason, actions }) => {
    const step = attemptToDelete(facts(lives.map((live, i) => named(`o${i}`, { live }))));
    expect(step).toMatchObject({ reason });
    const done = 'verdict' in step ? step.actions.filter(({ action }) => action !== 'noteAbsentOwner') : [];
    expect(done.map(({ action }) => action)).toEqual(actions);
  });
});
