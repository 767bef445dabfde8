import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import { type Deployment, fenceposts } from './deployment.ts';
import { newReplicaSetSize, rescale, shrinkOld } from './scaling.ts';

const deployment = (replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment => ({
  metadata: { name: 'web' },
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } },
});
const set = (name: string, size: number, available = size, most?: number): ReplicaSet => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-01T00:00:0${name.length}Z`,
    annotations: most === undefined ? {} : { 'deployment.kubernetes.io/max-replicas': String(most) },
  },
  spec: { replicas: size },
  status: { availableReplicas: available },
});
const sizes = (resizes: ReturnType<typeof rescale>) =>
  Object.fromEntries(resizes.map(({ replicaSet, replicas }) => [replicaSet.metadata?.name, replicas]));

describe('LIFE-307 the bounds of a rollout', () => {
  it.each<[number, number | string, number | string, number, number]>([
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [4, 0, '10%', 0, 1],
    [0, 0, 0, 0, 0],
    [3, 2, 5, 2, 3],
  ])('%i pods with surge %s and unavailable %s', (replicas, surge, unavailable, maxSurge, maxUnavailable) => {
    expect(fenceposts(deployment(replicas, surge, unavailable))).toEqual({ maxSurge, maxUnavailable });
  });

  it('the new ReplicaSet grows into the room that is left, and no further than asked for', () => {
    expect(newReplicaSetSize(deployment(4, 2, 0), 1, 5)).toBe(2);
    expect(newReplicaSetSize(deployment(4, 2, 0), 3, 3)).toBe(4);
    expect(newReplicaSetSize(deployment(4, 2, 0), 1, 6)).toBe(1);
  });

  it('unhealthy pods of old ReplicaSets go first, the oldest ReplicaSet before the others', () => {
    const healthy = set('a', 3);
    const broken = set('bb', 2, 0);
    expect(sizes(shrinkOld(deployment(4, 1, 1), set('new', 0), [broken, healthy]))).toEqual({ bb: 0 });
    expect(sizes(shrinkOld(deployment(4, 1, 2), set('new', 2), [set('bb', 2), set('a', 2)]))).toEqual({ a: 0, bb: 0 });
    expect(sizes(shrinkOld(deployment(4, 1, 1), set('new', 1), [set('bb', 2), set('a', 2)]))).toEqual({ a: 0 });
  });

  it('pods that are not available yet are not counted on', () => {
    expect(shrinkOld(deployment(4, 1, 0), set('new', 1, 0), [set('a', 4)])).toEqual([]);
    expect(shrinkOld(deployment(4, 1, 1), set('new', 2, 0), [set('a', 3, 2)])).toEqual([]);
    expect(sizes(shrinkOld(deployment(4, 1, 0), set('new', 1), [set('a', 4)]))).toEqual({ a: 3 });
  });
});

describe('LIFE-313 a change of the number of replicas', () => {
  it('goes to the one ReplicaSet that runs', () => {
    expect(sizes(rescale(deployment(7, 1, 1), set('new', 3), [set('a', 0)]))).toEqual({ new: 7 });
    expect(rescale(deployment(3, 1, 1), set('new', 3), [])).toEqual([]);
  });

  it('is shared in proportion, and the largest takes what is left over', () => {
    expect(sizes(rescale(deployment(10, 2, 0), set('new', 2, 0, 7), [set('a', 5, 5, 7)]))).toEqual({ a: 9, new: 3 });
    const equal = [set('a', 3, 3, 10), set('bb', 3, 3, 10)];
    expect(sizes(rescale(deployment(10, 1, 0), set('new', 3, 0, 10), equal))).toEqual({ new: 5, bb: 3, a: 3 });
    expect(sizes(rescale(deployment(0, 2, 0), set('new', 2, 0, 7), [set('a', 5, 5, 7)]))).toEqual({ a: 0, new: 0 });
  });
});
