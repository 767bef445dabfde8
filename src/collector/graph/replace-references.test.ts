import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { applied } from './apply.ts';
import { OwnershipGraph } from './ownership-graph.ts';
import { deleted, observed, pods, ref } from './testing/events.ts';

/** Returns the nodes that were queued by the change of `d`'s references, and the owners of `d` afterwards. */
function change(before: readonly OwnerReference[], after: readonly OwnerReference[]) {
  const graph = new OwnershipGraph();
  for (const uid of ['a', 'b', 'c']) applied(graph, observed(pods, { uid }));
  applied(graph, observed(pods, { uid: 'd', owners: before }));
  const { outcome, effects } = applied(graph, observed(pods, { uid: 'd', owners: after, resourceVersion: '2' }));
  const queued = effects.map((effect) =>
    effect.effect === 'enqueue' ? `${effect.uid} ${effect.reason}` : effect.effect,
  );
  const owners = ['a', 'b', 'c', 'new'].filter((uid) => graph.dependents(uid).includes('d'));
  return { outcome, queued, owners };
}

const blocks = { blockOwnerDeletion: true };

describe('COL-053 the difference between the references of a known object before and after, by uid', () => {
  it.each<[string, OwnerReference[], OwnerReference[], { queued: string[]; owners: string[] }]>([
    ['none', [ref('a')], [ref('a')], { queued: [], owners: ['a'] }],
    ['none, in another order', [ref('a'), ref('b')], [ref('b'), ref('a')], { queued: [], owners: ['a', 'b'] }],
    ['added', [ref('a')], [ref('a'), ref('b')], { queued: [], owners: ['a', 'b'] }],
    ['added, never seen', [ref('a')], [ref('a'), ref('new')], { queued: ['new virtualOwner'], owners: ['a', 'new'] }],
    ['removed', [ref('a'), ref('b')], [ref('a')], { queued: [], owners: ['a'] }],
    [
      'COL-054 removed, blocking',
      [ref('a', blocks), ref('b')],
      [ref('b')],
      { queued: ['a dependentReleased'], owners: ['b'] },
    ],
    [
      'COL-054 changed to not blocking',
      [ref('a', blocks)],
      [ref('a')],
      { queued: ['a dependentReleased'], owners: ['a'] },
    ],
    ['changed to blocking', [ref('a')], [ref('a', blocks)], { queued: [], owners: ['a'] }],
    [
      'changed in the controller flag alone',
      [ref('a')],
      [ref('a', { controller: true })],
      { queued: [], owners: ['a'] },
    ],
    [
      'BETTER-5 changed in the name',
      [ref('a')],
      [ref('a', { name: 'x' })],
      { queued: ['d potentiallyInvalid'], owners: ['a'] },
    ],
    [
      'BETTER-5 changed in the kind',
      [ref('a')],
      [ref('a', { kind: 'X' })],
      { queued: ['d potentiallyInvalid'], owners: ['a'] },
    ],
    [
      'COL-055 one of each: added, removed, changed',
      [ref('a', blocks), ref('b')],
      [ref('b', { name: 'x' }), ref('c')],
      { queued: ['a dependentReleased', 'd potentiallyInvalid'], owners: ['b', 'c'] },
    ],
    [
      'COL-24G two to one uid, of which one keeps blocking',
      [ref('a', blocks), ref('a', { ...blocks, controller: true })],
      [ref('a', blocks)],
      { queued: [], owners: ['a'] },
    ],
  ])('COL-053 %s', (_, before, after, expected) => {
    expect(change(before, after)).toMatchObject(expected);
  });
});

describe('COL-113 an object that lost a reference is queued again', () => {
  const waits = { deleting: true, finalizers: ['foregroundDeletion'] };

  function queuedAfter(
    owner: 'waits' | 'is gone' | 'lives',
    before: OwnerReference[],
    after: OwnerReference[],
  ): string[] {
    const graph = new OwnershipGraph();
    for (const uid of ['left', 'lost', 'other']) applied(graph, observed(pods, { uid }));
    applied(graph, observed(pods, { uid: 'd', owners: before }));
    if (owner === 'waits') applied(graph, observed(pods, { uid: 'left', ...waits }));
    if (owner === 'is gone') applied(graph, deleted(pods, 'left'));
    const { effects } = applied(graph, observed(pods, { uid: 'd', owners: after, resourceVersion: '2' }));
    return effects.flatMap((effect) => (effect.effect === 'enqueue' ? [`${effect.uid} ${effect.reason}`] : []));
  }

  it.each([
    ['an owner that is left waits', 'waits', [ref('left'), ref('lost')], [ref('left')], ['d referenceDropped']],
    ['an owner that is left is gone', 'is gone', [ref('left'), ref('lost')], [ref('left')], ['d referenceDropped']],
    [
      'what kept it out of reach was how it called an owner that waits',
      'waits',
      [ref('left', { kind: 'X' })],
      [ref('left')],
      ['d referenceDropped'],
    ],
    [
      'one of two references to an owner that waits',
      'waits',
      [ref('left', { kind: 'X' }), ref('left')],
      [ref('left')],
      ['d referenceDropped'],
    ],
    [
      'not when only a flag is another',
      'waits',
      [ref('left')],
      [ref('left', { controller: true, blockOwnerDeletion: true })],
      [],
    ],
    ['not when all that are left live', 'lives', [ref('left'), ref('lost')], [ref('left')], []],
    ['not when it lost nothing', 'waits', [ref('left')], [ref('left'), ref('other')], []],
    ['not when the one it lost waits', 'waits', [ref('left'), ref('other')], [ref('other')], []],
    [
      'once, whatever else is wrong',
      'waits',
      [ref('left'), ref('lost')],
      [ref('left', { name: 'x' })],
      ['d potentiallyInvalid'],
    ],
  ] as const)('%s', (_, owner, before, after, queued) => {
    expect(queuedAfter(owner, [...before], [...after])).toEqual(queued);
  });
});
