import { expect, it } from 'vitest';
import { snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import { ObjectNumbers } from './object-numbers.ts';
import { Trails } from './trail.ts';

const NAMES = ['a', 'b', 'c'];
const [A, B, C] = NAMES.map(uidOf) as [string, string, string];
/** A uid that no object of the snapshot has. */
const STRANGER = 'a uid of a form of its own';

function trails({ isLarge }: { readonly isLarge: boolean }): Trails {
  const objects = NAMES.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } }));
  return new Trails(new ObjectNumbers(snapshotOf(objects).graph, { isLarge }));
}

it.each([{ isLarge: false }, { isLarge: true }])('keeps each part of a trail apart from the others, %o', (size) => {
  const all = trails(size);
  const trail = all.of(A, 'volume');
  trail.cause = 'volumeReleased';
  trail.decided = 'ownerWaits';
  trail.noteWaited();
  trail.sequence = 3;
  all.of(STRANGER).decided = 'ownersAbsent';
  expect(all.find(A)).toMatchObject({ uid: A, via: 'volume', cause: 'volumeReleased', decided: 'ownerWaits' });
  expect(all.find(A)).toMatchObject({ waited: true, orphaned: false, sequence: 3, isCommon: true });
  trail.via = 'request';
  trail.decided = 'noOwners';
  trail.noteOrphaned();
  trail.graceSeconds = 30;
  expect(all.find(A)).toMatchObject({ via: 'request', cause: 'volumeReleased', decided: 'noOwners' });
  expect(all.find(A)).toMatchObject({ waited: true, orphaned: true, sequence: 3, isCommon: false });
  expect(all.find(STRANGER)).toMatchObject({ uid: STRANGER, via: 'ownerReference', cause: undefined, node: -1 });
  expect(all.find(STRANGER)).toMatchObject({ decided: 'ownersAbsent', sequence: undefined });
  expect([...all.values()].map(({ uid }) => uid)).toEqual([A, STRANGER]);
  expect(all.find(B)).toBeUndefined();
});

it('keeps sets of any size in their order, and changes none of another trail', () => {
  const all = trails({ isLarge: false });
  const first = all.of(A);
  const second = all.of(B);
  for (const each of [C, C, STRANGER, B]) all.add(first, 'waitsFor', each);
  all.add(second, 'waitsFor', C);
  expect([...first.waitsFor]).toEqual([C, STRANGER, B]);
  expect(first.waitsForOnly).toBeUndefined();
  expect([...second.waitsFor]).toEqual([C]);
  all.waitsNoMore(first, STRANGER);
  all.waitsNoMore(second, STRANGER);
  expect([[...first.waitsFor], [...second.waitsFor]]).toEqual([[C, B], [C]]);
  for (const each of [C, B]) all.waitsNoMore(first, each);
  all.waitsNoMore(second, C);
  expect([first.waitsFor.size, second.waitsFor.size]).toEqual([0, 0]);
  all.add(first, 'loses', B);
  expect([first.loses.size, second.loses.size, first.waitsFor.size]).toEqual([1, 0, 0]);
});
