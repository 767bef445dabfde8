import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import type { ReplicaSet } from './replica-set.ts';
import { decideReplicas, nextReplicaSetStatus } from './replicaset-reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const set = (replicas: number, over: Partial<ReplicaSet> = {}): ReplicaSet => ({
  metadata: { name: 'web', namespace: 'n', uid: 'rs', generation: 3 },
  spec: { replicas, template: { metadata: { labels: { app: 'web' } } } },
  ...over,
});
const pod = (name: string, over: { ready?: boolean; labels?: Record<string, string>; since?: number } = {}): Pod => ({
  metadata: { name, uid: name, labels: over.labels ?? { app: 'web' } },
  status: {
    phase: 'Running',
    ...(over.ready === false
      ? {}
      : { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(over.since ?? NOW) }] }),
  },
});
const decide = (owner: ReplicaSet, pods: readonly Pod[]) =>
  decideReplicas(owner, pods, { related: () => pods, now: NOW });

describe('the number of pods of a ReplicaSet', () => {
  it.each([
    [3, 1, { verdict: 'create', count: 2, reason: 'too few replicas' }],
    [1, 1, { verdict: 'nothing', reason: 'as many as asked for' }],
  ])('LIFE-261 asks for %i, has %i', (asked, present, want) => {
    const pods = Array.from({ length: present }, (_, index) => pod(`p${index}`));
    expect(decide(set(asked), pods)).toEqual(want);
  });

  it('LIFE-261 deletes what is too much', () => {
    const pods = [pod('a'), pod('b', { ready: false }), pod('c')];
    expect(decide(set(2), pods)).toMatchObject({ verdict: 'delete', pods: [{ metadata: { name: 'b' } }] });
  });

  it('LIFE-261 is one where the field is absent', () => {
    expect(decide({ metadata: {}, spec: {} }, [])).toMatchObject({ verdict: 'create', count: 1 });
  });

  it('LIFE-010 changes by 500 at most in one sync', () => {
    expect(decide(set(700), [])).toMatchObject({ count: 500 });
    const many = Array.from({ length: 700 }, (_, index) => pod(`p${index}`));
    expect(decide(set(0), many)).toMatchObject({ pods: { length: 500 } });
  });

  it('LIFE-262 stays while the owner is being deleted', () => {
    const leaving = set(3, { metadata: { name: 'web', deletionTimestamp: formatTime(NOW) } });
    expect(decide(leaving, [])).toEqual({ verdict: 'nothing', reason: 'owner terminating' });
  });
});

describe('the status of a ReplicaSet', () => {
  const observed = { terminating: [] as Pod[], failure: undefined, now: NOW };

  it('LIFE-266 counts pods, labels, readiness and availability', () => {
    const owner = set(3, {
      spec: { replicas: 3, minReadySeconds: 10, template: { metadata: { labels: { app: 'web' } } } },
    });
    const active = [pod('a', { since: NOW - 10_000 }), pod('b'), pod('c', { ready: false, labels: { other: 'x' } })];
    expect(nextReplicaSetStatus(owner, { ...observed, active, terminating: [pod('d')] })).toMatchObject({
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      observedGeneration: owner.metadata?.generation ?? 0,
    });
  });

  it('LIFE-266 is written only when something changed', () => {
    const first = nextReplicaSetStatus(set(1), { ...observed, active: [pod('a')] });
    expect(first).toBeDefined();
    const present = set(1, { status: first! });
    expect(nextReplicaSetStatus(present, { ...observed, active: [pod('a')] })).toBeUndefined();
    const newer = { ...present, metadata: { ...present.metadata, generation: 4 } };
    expect(nextReplicaSetStatus(newer, { ...observed, active: [pod('a')] })).toMatchObject({ observedGeneration: 4 });
  });

  it('LIFE-266 says why pods could not be made, until a sync succeeds', () => {
    const failed = nextReplicaSetStatus(set(2), { ...observed, active: [], failure: 'exceeded quota' });
    const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' };
    expect(failed?.conditions).toMatchObject([condition]);
    const present = set(2, { status: failed! });
    const other = nextReplicaSetStatus(present, { ...observed, active: [pod('a')], failure: 'another' });
    expect(other?.conditions).toMatchObject([condition]);
    expect(nextReplicaSetStatus(present, { ...observed, active: [pod('a')] })?.conditions).toEqual([]);
    const surplus = nextReplicaSetStatus(set(0), { ...observed, active: [pod('a')], failure: 'refused' });
    expect(surplus?.conditions).toMatchObject([{ reason: 'FailedDelete' }]);
  });
});
