import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { type ControllerRevision, REVISION_LABEL } from '../revisions/controller-revision.ts';
import type { StatefulSet } from './stateful-set.ts';
import { planStatefulSet, type StatefulFacts } from './statefulset-reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const revision = (name: string): ControllerRevision =>
  ({ metadata: { name }, data: { spec: { template: { metadata: { labels: { app: 'db' } }, spec: {} } } } }) as never;
const set = (replicas: number, spec: object = {}, over: object = {}): StatefulSet => ({
  metadata: { name: 'db', namespace: 'n', uid: 's', generation: 5 },
  spec: { replicas, template: { metadata: { labels: { app: 'db' } } }, ...spec },
  ...over,
});
interface Shape {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly of?: string;
}
const pod = (
  ordinal: number,
  { phase = 'Running', ready = true, terminating = false, of = 'new' }: Shape = {},
): Pod => ({
  metadata: {
    name: `db-${ordinal}`,
    uid: `u${ordinal}`,
    labels: {
      app: 'db',
      [REVISION_LABEL]: of,
      'statefulset.kubernetes.io/pod-name': `db-${ordinal}`,
      'apps.kubernetes.io/pod-index': String(ordinal),
    },
    ...(terminating ? { deletionTimestamp: formatTime(NOW) } : {}),
  },
  status: {
    phase,
    conditions: ready ? [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(NOW) }] : [],
  },
});
const plan = (subject: StatefulSet, pods: readonly Pod[], over: Partial<StatefulFacts> = {}) =>
  planStatefulSet({
    set: subject,
    pods,
    current: revision('old'),
    update: revision('new'),
    collisionCount: undefined,
    claimIsStale: () => false,
    now: NOW,
    ...over,
  });
const lines = ({ actions }: ReturnType<typeof plan>) =>
  actions.map(({ verb, pod: { metadata } }) => `${verb} ${metadata?.name ?? ''}`);

describe('a StatefulSet in order', () => {
  it('LIFE-615 makes one pod after the other, each when the one before is ready', () => {
    expect(lines(plan(set(3), []))).toEqual(['create db-0']);
    expect(lines(plan(set(3), [pod(0, { ready: false })]))).toEqual([]);
    expect(plan(set(3), [pod(0, { ready: false })]).reason).toBe('waits for a pod');
    expect(lines(plan(set(3), [pod(0)]))).toEqual(['create db-1']);
  });

  it('LIFE-615 waits for a pod on its way out, and replaces one that has ended', () => {
    expect(lines(plan(set(2), [pod(0, { terminating: true })]))).toEqual([]);
    expect(plan(set(2), [pod(0, { phase: 'Failed' })]).actions).toMatchObject([
      { verb: 'delete', reason: 'RecreatingFailedPod' },
    ]);
    expect(plan(set(2), [pod(0, { phase: 'Succeeded' })]).actions).toMatchObject([
      { verb: 'delete', reason: 'RecreatingTerminatedPod' },
    ]);
  });

  it('LIFE-615 takes the highest ordinal away first, one at a time', () => {
    const pods = [pod(0), pod(1), pod(2)];
    expect(lines(plan(set(1), pods))).toEqual(['delete db-2']);
    expect(lines(plan(set(1), [pod(0), pod(1), pod(2, { terminating: true })]))).toEqual([]);
    expect(lines(plan(set(1), [pod(0), pod(1, { ready: false }), pod(2)]))).toEqual(['delete db-2']);
    expect(lines(plan(set(1), [pod(0), pod(1, { ready: false }), pod(2, { ready: false })]))).toEqual([]);
  });

  it('LIFE-610 leaves a pod alone that is not called after the set', () => {
    const stranger = { ...pod(9), metadata: { ...pod(9).metadata, name: 'other-9' } };
    expect(plan(set(1), [pod(0), stranger])).toMatchObject({ actions: [], condemned: [] });
  });

  it('LIFE-610 counts from the first ordinal that is asked for', () => {
    const from5 = set(2, { ordinals: { start: 5 } });
    expect(lines(plan(from5, [pod(5)]))).toEqual(['create db-6']);
    expect(lines(plan(from5, [pod(4), pod(5), pod(6)]))).toEqual(['delete db-4']);
  });

  it('LIFE-614 makes no pod while its claim belongs to an earlier one', () => {
    expect(lines(plan(set(1), [], { claimIsStale: () => true }))).toEqual([]);
  });

  it('LIFE-611 does nothing while it is being deleted', () => {
    const leaving = set(3, {}, { metadata: { name: 'db', deletionTimestamp: formatTime(NOW) } });
    expect(plan(leaving, [])).toMatchObject({ reason: 'terminating', actions: [] });
  });

  it('LIFE-615 puts the labels of a pod back', () => {
    const { metadata, ...rest } = pod(0);
    const bare = { ...rest, metadata: { ...metadata, labels: { app: 'db', [REVISION_LABEL]: 'new' } } };
    expect(plan(set(1), [bare]).actions).toMatchObject([
      { verb: 'relabel', pod: { metadata: { labels: { 'apps.kubernetes.io/pod-index': '0' } } } },
    ]);
  });
});

describe('a parallel StatefulSet', () => {
  const parallel = { podManagementPolicy: 'Parallel' };

  it('LIFE-615 makes and deletes all at once', () => {
    expect(lines(plan(set(3, parallel), [pod(0, { ready: false })]))).toEqual(['create db-1', 'create db-2']);
    expect(lines(plan(set(1, parallel), [pod(0), pod(1), pod(2)]))).toEqual(['delete db-2', 'delete db-1']);
  });
});

describe('an update of a StatefulSet', () => {
  const old = { of: 'old' };

  it('LIFE-615 replaces the highest old pod, when those above are healthy', () => {
    expect(lines(plan(set(3), [pod(0, old), pod(1, old), pod(2, old)]))).toEqual(['delete db-2']);
    expect(lines(plan(set(3), [pod(0, old), pod(1, old), pod(2)]))).toEqual(['delete db-1']);
    expect(plan(set(3), [pod(0), pod(1), pod(2)]).reason).toBe('as it should be');
    const parallel = set(3, { podManagementPolicy: 'Parallel' });
    expect(plan(parallel, [pod(0, old), pod(1, old), pod(2, { ready: false })])).toMatchObject({
      reason: 'waits for a pod',
      actions: [],
    });
  });

  it('LIFE-615 leaves pods below the partition, and all with OnDelete', () => {
    const partition = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } };
    expect(lines(plan(set(3, partition), [pod(0, old), pod(1, old), pod(2)]))).toEqual([]);
    const manual = { updateStrategy: { type: 'OnDelete' } };
    expect(lines(plan(set(2, manual), [pod(0, old), pod(1, old)]))).toEqual([]);
  });

  it('LIFE-615 makes a missing pod below the partition of the current revision', () => {
    const partition = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } };
    const made = (subject: StatefulSet, pods: readonly Pod[]) =>
      plan(subject, pods).actions[0]?.pod.metadata?.labels?.[REVISION_LABEL];
    expect(made(set(2, partition), [])).toBe('old');
    expect(made(set(2, partition), [pod(0, old)])).toBe('new');
  });

  it('LIFE-615 is done when all are of the update revision', () => {
    const { status } = plan(set(2), [pod(0), pod(1)]);
    expect(status).toMatchObject({
      currentRevision: 'new',
      updateRevision: 'new',
      currentReplicas: 2,
      updatedReplicas: 2,
      observedGeneration: 5,
    });
    expect(plan(set(2), [pod(0, old), pod(1)]).status).toMatchObject({ currentRevision: 'old', updatedReplicas: 1 });
  });
});
