import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { simulate } from '../simulate/simulation.ts';
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

describe('dies with it', () => {
  it('CAS-025 agrees with a preview of every object, on random graphs', () => {
    const graphs = fc
      .integer({ min: 1, max: 12 })
      .chain((size) =>
        fc.array(fc.array(fc.integer({ min: 0, max: size }), { maxLength: 3 }), { minLength: size, maxLength: size }),
      );
    fc.assert(
      fc.property(graphs, (owners) => {
        const objects = objectsOf(owners);
        const snapshot = snapshotOf(objects);
        const dies = new Dies(snapshot);
        for (const { metadata } of objects) {
          const uid = uidOf(metadata?.name ?? '');
          const { server } = simulate(snapshot, {
            roots: [{ uid, policy: 'Background' }],
            assumeFinalizers: 'removed',
          });
          // Counted from the top by dominators alone, except on cycles.
          expect(dies.of(uid)).toBe(server.removed.size);
          if (!dies.needsSimulation(uid)) expect(dies.atLeast(uid)).toBe(server.removed.size);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('CAS-005 CAS-025 counts a chain of 100,000 owners without a stack of its own', () => {
    const owners = Array.from({ length: 100_000 }, (_, i) => (i === 0 ? [] : [i - 1]));
    const snapshot = snapshotOf(objectsOf(owners));
    expect(new Dies(snapshot).of(uidOf('c0'))).toBe(100_000);
  });
});
