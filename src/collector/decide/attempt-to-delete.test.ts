import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { attemptToDelete } from './attempt-to-delete.ts';
import type { Facts, NodeFacts, OwnerFacts } from './facts.ts';
import type { LiveObject } from './live-object.ts';
import { ownerKey } from './owner-lookup.ts';
import { targetOf } from './target.ts';

const pods = { apiVersion: 'v1', resource: 'pods', namespaced: true };
const clusterThings = { apiVersion: 'x/v1', resource: 'things', namespaced: false };
const reference: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o', blockOwnerDeletion: true };

function node(change: Partial<NodeFacts> = {}): NodeFacts {
  return {
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
    ...change,
  };
}

function owner(change: Partial<OwnerFacts> = {}): OwnerFacts {
  return { reference, knownAbsent: false, mapping: pods, graph: 'unproven', live: 'unasked', ...change };
}

function facts(change: Partial<Facts> = {}): Facts {
  return {
    queuedAs: 'observed',
    node: node(),
    latest: { state: 'unasked' },
    owners: [owner()],
    graph: 'trusted',
    shortcut: 'allowed',
    ...change,
  };
}

function live(change: Partial<LiveObject> = {}): LiveObject {
  return {
    uid: 'n',
    name: 'n',
    namespace: 'ns',
    resourceVersion: '12',
    ownerReferences: [reference],
    finalizers: [],
    deleting: false,
    ...change,
  };
}

const target = targetOf(node().identity, pods);
const found = (change: Partial<LiveObject> = {}) => ({ state: 'found', target, object: live(change) }) as const;

it.each([
  { graph: 'trusted' },
  { graph: 'trusted', node: node({ dependents: 'some' }) },
  { graph: 'untrusted', latest: found({ ownerReferences: [] }) },
] as const)('LIFE-020 an object without owners is kept (%#)', (known) => {
  const kept = { verdict: 'forget', reason: 'noOwners', actions: [] };
  expect(attemptToDelete(facts({ ...known, owners: [] }))).toEqual(kept);
});

describe('what is asked for', () => {
  it('COL-170 the item is read at its own coordinates', () => {
    expect(attemptToDelete(facts({ graph: 'untrusted' }))).toEqual({
      need: 'latest',
      target: { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'n', uid: 'n' },
    });
  });

  it('COL-172, COL-071 the namespace a virtual node took over is left out for a cluster-scoped kind', () => {
    const virtual = node({ state: 'virtual', mapping: clusterThings, resourceVersion: undefined });
    expect(attemptToDelete(facts({ node: virtual }))).toMatchObject({ need: 'latest', target: { namespace: '' } });
  });

  it('COL-114 owners are read by name in the dependent’s namespace, each coordinate once', () => {
    const elsewhere = { ...reference, name: 'p' };
    const owners = [owner(), owner({ reference: { ...reference, controller: true } }), owner({ reference: elsewhere })];
    const step = attemptToDelete(facts({ owners }));
    expect(step).toEqual({
      need: 'owners',
      lookups: [reference, elsewhere].map((asked) => {
        const at = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: asked.name, uid: 'o' };
        return { key: ownerKey(asked, at), reference: expect.objectContaining(asked) as unknown, target: at };
      }),
    });
  });

  it.each([
    ['nothing is', { state: 'absent', target }],
    ['another object is', found({ uid: 'other' })],
  ] as const)(
    'COL-116 where %s in the one resource asked for an object whose kind has several, nothing is proven',
    (_, latest) => {
      const virtual = node({ state: 'virtual', mapping: { ...pods, alsoElsewhere: true }, resourceVersion: undefined });
      const requeued = { verdict: 'requeue', reason: 'objectUnreadable', actions: [] };
      expect(attemptToDelete(facts({ node: virtual, latest, owners: [] }))).toEqual(requeued);
    },
  );

  it('COL-117 an owner is read in exactly the version that the reference names', () => {
    const beta = { ...reference, apiVersion: 'v1beta1' };
    const step = attemptToDelete(
      facts({ owners: [owner({ reference: beta, mapping: { ...pods, apiVersion: 'v1beta1' } })] }),
    );
    expect(step).toMatchObject({ lookups: [{ target: { apiVersion: 'v1beta1', name: 'o' } }] });
  });

  it('COL-112 no owner is read while the kind of another is unknown', () => {
    const owners = [owner(), owner({ mapping: undefined })];
    expect(attemptToDelete(facts({ owners }))).toMatchObject({ verdict: 'requeue', reason: 'ownerKindUnknown' });
  });

  it('BETTER-14 an owner that was seen alive is read, whatever the absent-owner cache says', () => {
    const owners = [owner({ graph: 'solid', knownAbsent: true })];
    const untrusted = facts({ graph: 'untrusted', latest: found(), owners });
    expect(attemptToDelete(untrusted)).toMatchObject({ need: 'owners' });
    expect(attemptToDelete(facts({ owners }))).toMatchObject({ reason: 'solidOwner' });
  });

  it('COL-116 an answer about coordinates the node has left is asked for again', () => {
    const moved = { ...target, namespace: 'ns2' };
    for (const latest of [
      { state: 'absent', target: moved },
      { state: 'error', target: moved },
    ] as const) {
      expect(attemptToDelete(facts({ latest }))).toEqual({ need: 'latest', target });
    }
  });
});

describe('verdicts', () => {
  it('COL-090.5, COL-090.7 the virtual delete event carries the identity as recorded', () => {
    const virtual = node({ state: 'virtual', mapping: clusterThings, resourceVersion: undefined });
    const asked = targetOf(virtual.identity, clusterThings);
    for (const latest of [
      { state: 'absent', target: asked },
      { state: 'found', target: asked, object: live({ uid: 'other' }) },
    ] as const) {
      expect(attemptToDelete(facts({ queuedAs: 'virtual', node: virtual, latest }))).toMatchObject({
        verdict: 'forget',
        actions: [{ action: 'emitVirtualDelete', identity: { namespace: 'ns', uid: 'n' } }],
      });
    }
  });

  it('COL-095 an object that is found terminating is not deleted again', () => {
    const step = attemptToDelete(facts({ latest: found({ deleting: true }), owners: [owner({ live: 'absent' })] }));
    expect(step).toEqual({ verdict: 'forget', reason: 'alreadyTerminating', actions: [] });
  });

  it('COL-150, COL-171 a delete read live carries uid, version, policy, and the references it rests on', () => {
    const step = attemptToDelete(facts({ latest: found(), owners: [owner({ live: 'absent' })] }));
    expect(step).toEqual({
      verdict: 'forget',
      reason: 'ownersAbsent',
      actions: [
        {
          action: 'noteAbsentOwner',
          identity: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'o', uid: 'o' },
        },
        {
          action: 'delete',
          target,
          identity: node().identity,
          policy: 'Background',
          preconditions: { uid: 'n', resourceVersion: '12' },
          classified: [reference],
          basis: 'live',
        },
      ],
    });
  });

  it('BETTER-9 one call: a delete that rests on the graph carries the recorded version', () => {
    expect(attemptToDelete(facts({ owners: [owner({ knownAbsent: true })] }))).toMatchObject({
      actions: [{ action: 'delete', basis: 'graph', preconditions: { uid: 'n', resourceVersion: '11' } }],
    });
  });

  it.each([
    ['a virtual node', { node: node({ state: 'virtual', resourceVersion: undefined }), queuedAs: 'virtual' }],
    ['a node without a usable version', { node: node({ resourceVersion: undefined }) }],
    ['monitors that are not synced', { graph: 'untrusted' }],
    ['a conflict before', { shortcut: 'spent' }],
  ] as const)('BETTER-9 with %s the item is read', (_, change) => {
    expect(attemptToDelete(facts({ ...change, owners: [owner({ knownAbsent: true })] }))).toMatchObject({
      need: 'latest',
    });
  });

  it.each([
    ['unproven', { graph: 'unproven' }, 'trusted'],
    ['proven by a graph that is not trusted', { graph: 'waiting' }, 'untrusted'],
  ] as const)('BETTER-9 an owner that is %s is read', (_, change, trust) => {
    expect(attemptToDelete(facts({ latest: found(), owners: [owner(change)], graph: trust }))).toMatchObject({
      need: 'owners',
    });
  });

  it('COL-160 row 12 removes every reference that is not solid, in one patch', () => {
    const owners = [
      owner({ live: 'solid' }),
      owner({ reference: { ...reference, uid: 'w' }, graph: 'waiting' }),
      owner({ reference: { ...reference, uid: 'd' }, knownAbsent: true }),
    ];
    expect(attemptToDelete(facts({ latest: found(), owners }))).toMatchObject({
      verdict: 'forget',
      reason: 'solidOwnerReferencesRemoved',
      actions: [{ action: 'removeReferences', owners: ['w', 'd'], target: { uid: 'n' } }],
    });
  });

  it('COL-24H two references to one living uid, one with a wrong name: both are removed', () => {
    const owners = [owner({ graph: 'solid' }), owner({ reference: { ...reference, name: 'x' }, knownAbsent: true })];
    expect(attemptToDelete(facts({ latest: found(), owners }))).toMatchObject({
      actions: [{ action: 'removeReferences', owners: ['o'], known: { resourceVersion: '12' }, only: '12' }],
    });
  });

  it.each([
    ['seen to go', owner({ reference: { ...reference, uid: 'd' }, knownAbsent: true, uidGone: true }), false],
    ['waiting', owner({ reference: { ...reference, uid: 'w' }, graph: 'waiting' }), false],
    ['not at these coordinates', owner({ reference: { ...reference, uid: 'x' }, live: 'absent' }), true],
    ['known not to be there', owner({ reference: { ...reference, uid: 'x' }, knownAbsent: true }), true],
  ])(
    'COL-002 COL-160 row 12 names the version where a reference may be put right before the patch: %s',
    (_, other, named) => {
      const step = attemptToDelete(facts({ latest: found(), owners: [owner({ graph: 'solid' }), other] }));
      const action = 'actions' in step ? step.actions.find((each) => each.action === 'removeReferences') : undefined;
      expect(action).toBeDefined();
      expect(action).toHaveProperty('owners', [other.reference.uid]);
      if (named) expect(action).toHaveProperty('only', '12');
      else expect(action).not.toHaveProperty('only');
    },
  );

  it('COL-090.12 rests on a fresh read even if the graph knows the answer', () => {
    const owners = [owner({ graph: 'solid' }), owner({ reference: { ...reference, uid: 'd' }, knownAbsent: true })];
    expect(attemptToDelete(facts({ owners }))).toMatchObject({ need: 'latest' });
  });

  it('COL-10C, COL-162 row 13 turns off what blocks and deletes the object as patched', () => {
    const other: OwnerReference = { ...reference, uid: 'p', blockOwnerDeletion: false, controller: true };
    const owners = [owner({ graph: 'waiting' }), owner({ reference: other, graph: 'waiting' })];
    const step = attemptToDelete(
      facts({
        node: node({ dependents: 'someDeletingDependents' }),
        latest: found({ ownerReferences: [reference, other] }),
        owners,
      }),
    );
    const off = { ...reference, blockOwnerDeletion: false };
    expect(step).toMatchObject({
      reason: 'ownerWaitsCycle',
      actions: [
        { action: 'unblockReferences', references: [off], all: [off, other] },
        {
          action: 'delete',
          policy: 'Foreground',
          preconditions: { uid: 'n', resourceVersion: 'fromPatch' },
          classified: [off, other],
        },
      ],
    });
  });

  it('COL-113, COL-141 a cluster-scoped object with a namespaced owner is dropped even if the owner is known absent', () => {
    const clusterNode = node({
      identity: { ...node().identity, namespace: '' },
      mapping: clusterThings,
    });
    expect(attemptToDelete(facts({ node: clusterNode, owners: [owner({ knownAbsent: true })] }))).toEqual({
      verdict: 'forget',
      reason: 'namespacedOwnerOfClusterScoped',
      actions: [],
    });
  });

  it('COL-11A, COL-24I a cluster-scoped child known only through a dependent in a namespace is dropped, not deleted', () => {
    const virtual = node({ state: 'virtual', mapping: clusterThings, resourceVersion: undefined });
    const asked = targetOf(virtual.identity, clusterThings);
    const step = attemptToDelete(
      facts({
        queuedAs: 'virtual',
        node: virtual,
        latest: { state: 'found', target: asked, object: live({ namespace: '' }) },
        owners: [owner({ live: 'absent' })],
      }),
    );
    expect(step).toMatchObject({ verdict: 'forget', reason: 'namespacedOwnerOfClusterScoped' });
  });

  it('COL-131 an absent cluster-scoped owner is noted without namespace', () => {
    const owners = [owner({ mapping: clusterThings, live: 'absent' })];
    expect(attemptToDelete(facts({ latest: found(), owners }))).toMatchObject({
      actions: [{ action: 'noteAbsentOwner', identity: { namespace: '' } }, { action: 'delete' }],
    });
  });

  it('COL-114 a proven absence is noted even if another owner keeps the object undecided', () => {
    const owners = [owner({ live: 'absent' }), owner({ reference: { ...reference, uid: 'p' }, live: 'error' })];
    expect(attemptToDelete(facts({ latest: found(), owners }))).toMatchObject({
      verdict: 'requeue',
      reason: 'ownerUnreadable',
      actions: [{ action: 'noteAbsentOwner' }],
    });
  });

  it('COL-092 a virtual node that lives is processed again', () => {
    const virtual = node({ state: 'virtual', resourceVersion: undefined });
    for (const owners of [[], [owner({ live: 'solid' })]]) {
      const step = attemptToDelete(facts({ queuedAs: 'virtual', node: virtual, latest: found(), owners }));
      expect(step).toMatchObject({ verdict: 'requeue', actions: [] });
    }
  });
});

describe('foreground processing', () => {
  const waiting = (change: Partial<NodeFacts> = {}) =>
    facts({ node: node({ beingDeleted: true, deletingDependents: true, foregroundFinalizer: true, ...change }) });

  it('COL-101 without blocking dependents the finalizer goes, without a read when nothing else is there', () => {
    expect(attemptToDelete(waiting())).toEqual({
      verdict: 'forget',
      reason: 'noBlockingDependents',
      actions: [
        {
          action: 'removeFinalizer',
          target,
          finalizer: 'foregroundDeletion',
          known: { resourceVersion: '11', otherFinalizers: [] },
          only: '11',
        },
      ],
    });
  });

  it('COL-101 the finalizer is taken off the version that the graph shows, with the dependents of then, or none', () => {
    const newer = { ...waiting(), latest: found({ deleting: true, finalizers: ['x/y', 'foregroundDeletion'] }) };
    expect(attemptToDelete(newer)).toMatchObject({ actions: [{ known: undefined, only: '11' }] });
    const never = waiting({ resourceVersion: undefined });
    expect(attemptToDelete({ ...never, latest: newer.latest })).toMatchObject({
      actions: [{ known: { resourceVersion: '12', otherFinalizers: ['x/y'] } }],
    });
  });

  it('COL-101 while the graph is not to be trusted, off the version that has been read: its own watch may show nothing', () => {
    const finalizers = ['x/y', 'foregroundDeletion'];
    const read = { ...waiting(), graph: 'untrusted', latest: found({ deleting: true, finalizers }) } as const;
    expect(attemptToDelete(read)).toMatchObject({
      actions: [{ known: { resourceVersion: '12', otherFinalizers: ['x/y'] }, only: '12' }],
    });
    // A conflict says nothing about the watch.
    const spent = { ...read, graph: 'trusted', shortcut: 'spent' } as const;
    expect(attemptToDelete(spent)).toMatchObject({ actions: [{ known: undefined, only: '11' }] });
  });

  it('COL-108, COL-164 the graph does not know which other finalizers stay, a live object does', () => {
    expect(attemptToDelete(waiting({ otherFinalizers: true }))).toMatchObject({ actions: [{ known: undefined }] });
    expect(attemptToDelete(waiting({ orphanFinalizer: true }))).toMatchObject({ actions: [{ known: undefined }] });
    const finalizers = ['x/y', 'foregroundDeletion'];
    const read = { ...waiting(), latest: found({ deleting: true, resourceVersion: '11', finalizers }) };
    expect(attemptToDelete(read)).toMatchObject({
      actions: [{ known: { resourceVersion: '11', otherFinalizers: ['x/y'] } }],
    });
  });

  it('COL-10G a finalizer removed by hand is not removed again', () => {
    expect(attemptToDelete(waiting({ foregroundFinalizer: false }))).toEqual({
      verdict: 'forget',
      reason: 'finalizerAlreadyRemoved',
      actions: [],
    });
  });

  it.each([
    ['never before', { count: 8, lastAddition: 0 }, undefined, true],
    ['again without change', { count: 8, lastAddition: 0 }, { count: 8, lastAddition: 0 }, false],
    ['with more than half left', { count: 5, lastAddition: 0 }, { count: 8, lastAddition: 0 }, false],
    ['with half of them gone', { count: 4, lastAddition: 0 }, { count: 8, lastAddition: 0 }, true],
    ['with one added (COL-109, COL-10A)', { count: 8, lastAddition: 1 }, { count: 8, lastAddition: 0 }, true],
    ['with the last of two left', { count: 1, lastAddition: 0 }, { count: 2, lastAddition: 0 }, true],
  ])('COL-102 blocking dependents are queued when looked at %s', (_, blocking, blockingWhenQueued, queued) => {
    expect(attemptToDelete(waiting({ blocking, blockingWhenQueued }))).toEqual({
      verdict: 'forget',
      reason: 'blockedByDependents',
      actions: queued ? [{ action: 'enqueueBlockingDependents', owner: 'n' }] : [],
    });
  });

  it('COL-10C members of a cycle that were deleted at the same time stop blocking each other', () => {
    const cycle = { blocking: { count: 1, lastAddition: 0 }, inWaitingCycle: true };
    expect(attemptToDelete(waiting(cycle))).toEqual({ need: 'latest', target });
    const other: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p' };
    const read = found({ deleting: true, finalizers: ['foregroundDeletion'], ownerReferences: [other, reference] });
    const off = { ...reference, blockOwnerDeletion: false };
    expect(attemptToDelete({ ...waiting(cycle), latest: read })).toMatchObject({
      verdict: 'forget',
      reason: 'waitingCycle',
      actions: [
        { action: 'enqueueBlockingDependents' },
        { action: 'unblockReferences', target, references: [off], all: [other, off] },
      ],
    });
  });

  it('BETTER-9 nothing is done twice before the watch has shown that it was done', () => {
    const nothing = { verdict: 'forget', reason: 'endNotShownYet', actions: [] };
    expect(attemptToDelete(waiting({ endAccepted: true }))).toEqual(nothing);
  });

  it('COL-102, COL-103 the sum of queued dependents is at most twice their number, and the last is reached', () => {
    let blockingWhenQueued: { count: number; lastAddition: number } | undefined;
    let queued = 0;
    const total = 1000;
    for (let count = total; count > 0; count--) {
      const blocking = { count, lastAddition: 0 };
      const step = attemptToDelete(waiting({ blocking, blockingWhenQueued }));
      if (!('verdict' in step) || step.actions.length === 0) continue;
      queued += count;
      blockingWhenQueued = blocking;
    }
    expect(queued).toBeLessThanOrEqual(2 * total);
    expect(blockingWhenQueued).toEqual({ count: 1, lastAddition: 0 });
  });
});
