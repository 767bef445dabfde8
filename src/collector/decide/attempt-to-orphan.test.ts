import { describe, expect, it } from 'vitest';
import { attemptToOrphan } from './attempt-to-orphan.ts';
import type { LiveObject } from './live-object.ts';
import type { OrphanFacts, OrphanStep, Released } from './orphan-step.ts';

const node = {
  identity: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'o', uid: 'o' },
  mapping: { apiVersion: 'v1', resource: 'configmaps', namespaced: true },
  resourceVersion: '7',
  beingDeleted: true,
  orphanFinalizer: true,
  otherFinalizers: false,
};
const stray = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'x', uid: 'x' };

function facts(change: Partial<OrphanFacts> = {}): OrphanFacts {
  return {
    node,
    version: '7',
    doubtful: false,
    latest: { state: 'unasked' },
    dependents: [],
    released: 'unasked',
    barrier: 'unasked',
    foundReleased: 'unasked',
    ...change,
  };
}

/** The needs in order, then the verdict with its actions. */
function transcript(steps: readonly OrphanStep[]): string[] {
  return steps.map((step) =>
    'need' in step ? step.need : [step.verdict, ...step.actions.map(({ action }) => action)].join(' '),
  );
}

function play(world: {
  dependents: readonly string[];
  released: Released;
  barrier: OrphanFacts['barrier'];
  foundReleased: Released;
}): OrphanStep[] {
  const steps: OrphanStep[] = [];
  let known = facts({ dependents: world.dependents });
  for (;;) {
    const step = attemptToOrphan(known);
    steps.push(step);
    if ('verdict' in step) return steps;
    if (step.need === 'latest') throw new Error('nothing is in doubt');
    known = { ...known, [step.need]: world[step.need] };
  }
}

describe('attemptToOrphan', () => {
  const DONE = 'forget removeFinalizer';

  it.each([
    ['COL-122 all released', ['a', 'b'], 'all', 'clear', 'all', ['released', 'barrier', DONE]],
    ['COL-121 one failed', ['a', 'b'], 'failed', 'clear', 'all', ['released', 'requeue']],
    ['COL-126 no dependents', [], 'all', 'clear', 'all', ['barrier', DONE]],
    ['BETTER-13 the barrier gave up', ['a'], 'all', 'gaveUp', 'all', ['released', 'barrier', DONE]],
    [
      'BETTER-13, COL-127 the barrier found another',
      ['a'],
      'all',
      { found: [stray] },
      'all',
      ['released', 'barrier', 'foundReleased', DONE],
    ],
    [
      'BETTER-13 what it found could not be released',
      [],
      'all',
      { found: [stray] },
      'failed',
      ['barrier', 'foundReleased', 'requeue'],
    ],
    ['BETTER-13 it found nothing in the end', [], 'all', { found: [] }, 'all', ['barrier', DONE]],
  ] as const)('%s', (_, dependents, released, barrier, foundReleased, expected) => {
    expect(transcript(play({ dependents, released, barrier, foundReleased }))).toEqual(expected);
  });

  it('COL-122, COL-125 over all answers the finalizer goes only after everything known was released', () => {
    for (const released of ['all', 'failed'] as const)
      for (const foundReleased of ['all', 'failed'] as const)
        for (const barrier of ['clear', 'gaveUp', { found: [stray] }] as const)
          for (const dependents of [[], ['a'], ['a', 'b']]) {
            const steps = play({ dependents, released, barrier, foundReleased });
            const removed = transcript(steps).at(-1) === DONE;
            const failed =
              (dependents.length > 0 && released === 'failed') ||
              (typeof barrier === 'object' && foundReleased === 'failed');
            expect(removed).toBe(!failed);
          }
  });

  it('COL-164, COL-165 the finalizer is removed by uid and version, without a read when it is the only one', () => {
    const last = facts({ barrier: 'clear' });
    const target = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: 'ns',
      name: 'o',
      uid: 'o',
    };
    expect(attemptToOrphan(last)).toEqual({
      verdict: 'forget',
      reason: 'dependentsReleased',
      actions: [
        {
          action: 'removeFinalizer',
          target,
          finalizer: 'orphan',
          known: { resourceVersion: '7', otherFinalizers: [] },
          only: '7',
        },
      ],
    });
    const others = { ...last, node: { ...node, otherFinalizers: true } };
    expect(attemptToOrphan(others)).toMatchObject({ actions: [{ known: undefined, only: '7' }] });
    expect(attemptToOrphan({ ...last, version: undefined })).toMatchObject({ actions: [{ known: undefined }] });
  });

  it('COL-122 COL-125 it is that of the version with which the round began, whatever has come since', () => {
    const later = facts({ barrier: 'clear', node: { ...node, resourceVersion: '9' } });
    expect(attemptToOrphan(later)).toMatchObject({ actions: [{ known: { resourceVersion: '7' }, only: '7' }] });
  });

  it.each([
    ['COL-058 gone meanwhile', undefined, 'forget', 'goneFromGraph'],
    [
      'COL-10F another delete took the finalizer away',
      { ...node, orphanFinalizer: false },
      'forget',
      'finalizerAlreadyRemoved',
    ],
    [
      'COL-055 a restored server knows nothing of its deletion',
      { ...node, beingDeleted: false },
      'forget',
      'notBeingDeleted',
    ],
    ['COL-090.3 its kind is not served', { ...node, mapping: undefined }, 'requeue', 'kindUnknown'],
  ] as const)('%s', (_, changed, verdict, reason) => {
    expect(attemptToOrphan(facts({ node: changed, dependents: ['a'] }))).toEqual({ verdict, reason, actions: [] });
  });

  const doubtful = (latest: OrphanFacts['latest'], change: Partial<OrphanFacts['node']> = {}): OrphanStep =>
    attemptToOrphan(facts({ doubtful: true, latest, dependents: ['a'], node: { ...node, ...change } }));
  const target = { ...node.identity, resource: 'configmaps' };
  const found = (change: Partial<LiveObject> = {}): OrphanFacts['latest'] => ({
    state: 'found',
    target,
    object: {
      uid: 'o',
      name: 'o',
      namespace: 'ns',
      resourceVersion: '7',
      ownerReferences: [],
      finalizers: ['orphan'],
      deleting: true,
      ...change,
    },
  });

  it('COL-122 COL-002 reads the owner first where the state in the graph is not trusted', () => {
    expect(doubtful({ state: 'unasked' })).toEqual({ need: 'latest', target });
    expect(doubtful(found())).toMatchObject({ need: 'released' });
    // The owner has other coordinates by now, so this answer about the old ones does not count.
    expect(doubtful({ state: 'absent', target: { ...target, name: 'x' } })).toEqual({ need: 'latest', target });
  });

  it('COL-164 the finalizers that stay are those that were read, if the removal rests on that version', () => {
    const read = found({ finalizers: ['x/y', 'orphan'], resourceVersion: '9' });
    const last = facts({ doubtful: true, latest: read, barrier: 'clear' });
    expect(attemptToOrphan({ ...last, version: '9' })).toMatchObject({
      actions: [{ known: { resourceVersion: '9', otherFinalizers: ['x/y'] }, only: '9' }],
    });
    // Finalizers of another version do not count; the graph knows that this version has no others.
    const known = { resourceVersion: '7', otherFinalizers: [] };
    expect(attemptToOrphan(last)).toMatchObject({ actions: [{ known, only: '7' }] });
  });

  it.each<[string, OrphanFacts['latest'], string, string]>([
    ['it is not being deleted', found({ deleting: false }), 'forget', 'notBeingDeleted'],
    ['its finalizer is gone', found({ finalizers: [] }), 'forget', 'finalizerAlreadyRemoved'],
    ['it is gone', { state: 'absent', target }, 'forget', 'objectAbsent'],
    ['another one has its name', found({ uid: 'x' }), 'forget', 'objectReplaced'],
    ['it cannot be read', { state: 'error', target }, 'requeue', 'objectUnreadable'],
  ])('COL-122 COL-156 lets nobody go when %s', (_, latest, verdict, reason) => {
    expect(doubtful(latest)).toEqual({ verdict, reason, actions: [] });
  });

  it('COL-116 a read of one of several resources does not prove that it is gone', () => {
    const mapping = { ...node.mapping, alsoElsewhere: true } as const;
    for (const latest of [{ state: 'absent', target } as const, found({ uid: 'x' })]) {
      expect(doubtful(latest, { mapping })).toMatchObject({ verdict: 'requeue', reason: 'objectUnreadable' });
    }
  });
});
