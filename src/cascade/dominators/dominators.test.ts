import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import { Dies } from './dies.ts';

/** Objects named by their index. `owners` has the indexes of each object's owners; an index without an object is an absent owner. */
function objectsOf(owners: readonly (readonly number[])[]): KubeObject[] {
  return owners.map((of, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `c${i}`,
      namespace: 'ns',
      ownerReferences: of.map((owner) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `c${owner}`,
        uid: uidOf(`c${owner}`),
      })),
    },
  }));
}

function diesOf(objects: readonly KubeObject[]): number[] {
  const dies = new Dies(snapshotOf(objects));
  return objects.map(({ metadata }) => dies.of(uidOf(metadata?.name ?? '')));
}

describe('dies with it', () => {
  it('CAS-025 counts an object and what only it holds', () => {
    // 0 owns 1 and 2; 3 is owned by both of these, so that neither alone takes it.
    expect(diesOf(objectsOf([[], [0], [0], [1, 2]]))).toEqual([4, 1, 1, 1]);
  });

  it('CAS-025 counts what an owner beside it holds for nobody', () => {
    expect(diesOf(objectsOf([[], [], [0, 1], [2]]))).toEqual([1, 1, 2, 1]);
  });

  it('CAS-025 members of a cycle hold each other, and only a simulation says what goes with each', () => {
    // 1 and 2 own each other; 3 is below.
    expect(diesOf(objectsOf([[], [0, 2], [1], [2]]))).toEqual([1, 3, 2, 1]);
  });
});
