import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { ReplicaSet } from '../replicaset/replica-set.ts';
import type { Deployment } from './deployment.ts';
import { type DeploymentPlan, planDeployment } from './deployment-reconcile.ts';
import { deadlineIn } from './deployment-status.ts';
import { REVISION, TEMPLATE_HASH } from './revisions.ts';

const NOW = Date.UTC(2026, 0, 1);
const templateOf = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});
const deployment = (spec: object = {}, over: object = {}): Deployment => ({
  metadata: { name: 'web', namespace: 'n', uid: 'd', generation: 2 },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: templateOf('new'),
    revisionHistoryLimit: 1,
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    ...spec,
  },
  ...over,
});
interface Shape {
  readonly image?: string;
  readonly size?: number;
  readonly available?: number;
  readonly revision?: number;
  readonly age?: number;
  readonly desired?: number;
  readonly over?: object;
}
const replicaSet = (
  name: string,
  { image = name, size = 0, available = size, revision = 1, age = 0, desired = 4, over = {} }: Shape = {},
): ReplicaSet => ({
  metadata: {
    name,
    uid: name,
    generation: 1,
    creationTimestamp: formatTime(NOW - age * 1000),
    annotations: {
      [REVISION]: String(revision),
      'deployment.kubernetes.io/desired-replicas': String(desired),
      'deployment.kubernetes.io/max-replicas': String(desired + 1),
    },
    ...over,
  },
  spec: {
    replicas: size,
    template: { ...templateOf(image), metadata: { labels: { app: 'web', [TEMPLATE_HASH]: name } } },
  },
  status: { replicas: size, availableReplicas: available, readyReplicas: available, observedGeneration: 1 },
});
const plan = (
  subject: Deployment,
  all: readonly ReplicaSet[],
  podsRemain: boolean | ((old: readonly ReplicaSet[]) => boolean) = false,
  cleanUpDuringRollout = false,
): DeploymentPlan =>
  planDeployment({
    deployment: subject,
    all,
    podsRemain: typeof podsRemain === 'boolean' ? () => podsRemain : podsRemain,
    cleanUpDuringRollout,
    now: NOW,
  });
/** `create web-… 2`, `update old 3`. */
const lines = ({ actions }: DeploymentPlan): string[] =>
  actions.map(({ verb, replicaSet: { metadata, spec } }) =>
    verb === 'create' ? `create ${spec?.replicas ?? 0}` : `${verb} ${metadata?.name ?? ''} ${spec?.replicas ?? 0}`,
  );
const conditionOf = ({ status }: DeploymentPlan, type: string) => status.conditions?.find((each) => each.type === type);

describe('a rolling update', () => {
  it('LIFE-307 makes the new ReplicaSet within the surge', () => {
    const status = { replicas: 4, readyReplicas: 4, availableReplicas: 4 };
    const decided = plan(deployment({}, { status }), [replicaSet('old', { size: 4 })]);
    expect([decided.reason, lines(decided)]).toEqual(['new ReplicaSet', ['create 1']]);
    expect(decided.revision).toBe('2');
    expect(conditionOf(decided, 'Progressing')).toMatchObject({ reason: 'NewReplicaSetCreated', status: 'True' });
  });

  it('LIFE-307 scales up before it scales down, and down within what may be unavailable', () => {
    const up = [replicaSet('old', { size: 3 }), replicaSet('new', { size: 1, revision: 2 })];
    expect([plan(deployment(), up).reason, lines(plan(deployment(), up))]).toEqual(['scale up', ['update new 2']]);
    const down = [replicaSet('old', { size: 4 }), replicaSet('new', { size: 1, revision: 2 })];
    expect([plan(deployment(), down).reason, lines(plan(deployment(), down))]).toEqual([
      'scale down',
      ['update old 2'],
    ]);
    const waiting = [replicaSet('old', { size: 3 }), replicaSet('new', { size: 2, available: 0, revision: 2 })];
    expect(plan(deployment(), waiting)).toMatchObject({ reason: 'as it should be', actions: [] });
  });

  it('LIFE-302 takes the oldest ReplicaSet of its template, whatever its hash says', () => {
    const all = [replicaSet('young', { image: 'new', age: 1 }), replicaSet('first', { image: 'new', age: 9, size: 4 })];
    expect(plan(deployment(), all).actions.filter(({ verb }) => verb === 'create')).toEqual([]);
    expect(plan(deployment(), all).status.updatedReplicas).toBe(4);
  });

  it('LIFE-304 names the new ReplicaSet by a hash of the template and the collisions, in letters that are safe in a name', () => {
    const nameOf = (template: object, collisionCount?: number): string => {
      const [action] = plan(deployment({ template }, { status: { collisionCount } }), []).actions;
      return action?.replicaSet.metadata?.name ?? '';
    };
    const { metadata, spec } = templateOf('one');
    const name = nameOf({ metadata, spec });
    expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    expect(nameOf({ spec: { volumes: [], ...spec }, metadata })).toBe(name);
    expect(nameOf({ metadata, spec }, 0)).toBe(name);
    const others = [nameOf(templateOf('two')), nameOf({ metadata, spec }, 1), nameOf({ metadata, spec }, 2)];
    expect(new Set([name, ...others]).size).toBe(4);
  });

  it('LIFE-306 raises the revision, and keeps the one before in the history', () => {
    const all = [replicaSet('old', { size: 1, revision: 7 }), replicaSet('new', { size: 3, revision: 3 })];
    const update = plan(deployment(), all).actions.find((action) => action.replicaSet.metadata?.name === 'new');
    expect(update?.replicaSet.metadata?.annotations).toMatchObject({
      [REVISION]: '8',
      'deployment.kubernetes.io/revision-history': '3',
    });
  });

  it('LIFE-301 does nothing but its status while it is being deleted', () => {
    const leaving = deployment({}, { metadata: { name: 'web', generation: 3, deletionTimestamp: formatTime(NOW) } });
    expect(plan(leaving, [replicaSet('old', { size: 4 })])).toMatchObject({
      reason: 'terminating',
      actions: [],
      status: { observedGeneration: 3, replicas: 4 },
    });
  });

  it('LIFE-300 makes no new ReplicaSet while it is paused, but scales', () => {
    const paused = deployment({ paused: true, replicas: 6 });
    const decided = plan(paused, [replicaSet('old', { size: 4 })]);
    expect([decided.reason, lines(decided)]).toEqual(['paused', ['update old 6']]);
    expect(conditionOf(decided, 'Progressing')).toMatchObject({ reason: 'DeploymentPaused', status: 'Unknown' });
  });

  it('LIFE-313 scales before it goes on, when the number was changed', () => {
    const all = [replicaSet('old', { size: 3 }), replicaSet('new', { size: 2, revision: 2 })];
    const decided = plan(deployment({ replicas: 9 }), all);
    expect([decided.reason, lines(decided)]).toEqual(['scaling', ['update old 6', 'update new 4']]);
  });

  it('LIFE-313 records a changed number also where the size fits by chance, and then rolls on', () => {
    const old = replicaSet('old', { size: 3, desired: 4 });
    const scaled = deployment({ replicas: 3 });
    const decided = plan(scaled, [old]);
    expect([decided.reason, lines(decided)]).toEqual(['scaling', ['update old 3']]);
    const [recorded] = decided.actions.map((action) => action.replicaSet);
    expect(lines(plan(scaled, [recorded!]))).toEqual(['create 1']);
  });
});

describe('strategy Recreate', () => {
  const recreate = deployment({ strategy: { type: 'Recreate' } });

  it('LIFE-308 scales the old ones down, waits for their pods, then makes the new one', () => {
    const running = plan(recreate, [replicaSet('old', { size: 4 })]);
    expect([running.reason, lines(running)]).toEqual(['scale down', ['update old 0']]);
    expect(plan(recreate, [replicaSet('old')], true)).toMatchObject({ reason: 'wait for old pods', actions: [] });
    const counting = { ...replicaSet('old'), status: { replicas: 1, observedGeneration: 1 } };
    expect(plan(recreate, [counting])).toMatchObject({ reason: 'wait for old pods', actions: [] });
    const done = plan(recreate, [replicaSet('old')]);
    expect([done.reason, lines(done)]).toEqual(['new ReplicaSet', ['create 4']]);
  });

  it('LIFE-308 LIFE-313 scales old ones down also when the number was changed, and the new one alone afterwards', () => {
    const scaled = deployment({ strategy: { type: 'Recreate' }, replicas: 5 });
    const all = (size: number) => [replicaSet('old', { size }), replicaSet('new', { size: 2, revision: 2 })];
    const both = plan(scaled, all(2));
    expect([both.reason, lines(both)]).toEqual(['scale down', ['update old 0']]);
    const alone = plan(scaled, all(0));
    expect([alone.reason, lines(alone)]).toEqual(['scaling', ['update new 5']]);
  });
});

describe('the history of revisions', () => {
  const complete = { status: { updatedReplicas: 4, replicas: 4, availableReplicas: 4, observedGeneration: 2 } };
  const current = replicaSet('new', { size: 4, revision: 9 });

  it('LIFE-309 keeps the newest, and deletes none that has or says pods', () => {
    const old = [1, 2, 3].map((revision) => replicaSet(`old${revision}`, { revision }));
    expect(lines(plan(deployment({}, complete), [...old, current]))).toEqual(['delete old1 0', 'delete old2 0']);
    const busy = { ...old[0]!, status: { replicas: 1, observedGeneration: 1 } };
    const unobserved = { ...old[1]!, status: { replicas: 0, observedGeneration: 0 } };
    expect(lines(plan(deployment({}, complete), [busy, unobserved, old[2]!, current]))).toEqual([]);
  });

  it('LIFE-309 stays while the rollout goes on, and where the limit is none', () => {
    const old = [1, 2, 3].map((revision) => replicaSet(`old${revision}`, { revision }));
    const slow = { ...current, status: { replicas: 4, availableReplicas: 3, observedGeneration: 1 } };
    expect(lines(plan(deployment(), [...old, slow]))).toEqual([]);
    const unlimited = deployment({ revisionHistoryLimit: 2 ** 31 - 1 }, complete);
    expect(lines(plan(unlimited, [...old, current]))).toEqual([]);
  });

  it('LIFE-315 LIFE-308 is also cleaned while the rollout is stuck, by option, but for what still has pods', () => {
    const old = [1, 2, 3, 4].map((revision) => replicaSet(`old${revision}`, { revision }));
    const busy = { ...old[0]!, status: { replicas: 1, observedGeneration: 1 } };
    const sets = [busy, ...old.slice(1), { ...current, status: { replicas: 4, observedGeneration: 1 } }];
    expect(lines(plan(deployment(), sets, false, true))).toEqual(['delete old2 0', 'delete old3 0']);
    expect(lines(plan(deployment(), sets))).toEqual([]);
    const recreate = deployment({ strategy: { type: 'Recreate' } });
    // The pods of old2 terminate.
    const podsRemain = (each: readonly ReplicaSet[]) => each.some(({ metadata }) => metadata?.name === 'old2');
    expect(lines(plan(recreate, sets.slice(1), podsRemain, true))).toEqual(['delete old3 0']);
    expect(lines(plan(recreate, sets.slice(1), podsRemain))).toEqual([]);
  });

  it('LIFE-309 leaves a ReplicaSet alone that is being deleted', () => {
    const leaving = replicaSet('old1', { over: { deletionTimestamp: formatTime(NOW) } });
    const all = [leaving, replicaSet('old2', { revision: 2 }), current];
    expect(lines(plan(deployment({}, complete), all))).toEqual([]);
  });
});

describe('the status of a Deployment', () => {
  it('LIFE-314 is available while no more are missing than may', () => {
    const available = (count: number) =>
      conditionOf(plan(deployment(), [replicaSet('new', { size: 4, available: count })]), 'Available')?.status;
    expect([available(4), available(3), available(2)]).toEqual(['True', 'True', 'False']);
  });

  it('LIFE-314 says that its deadline has passed, and when to look', () => {
    const since = (seconds: number) => ({
      status: {
        replicas: 4,
        updatedReplicas: 4,
        readyReplicas: 3,
        availableReplicas: 3,
        observedGeneration: 2,
        conditions: [
          {
            type: 'Progressing',
            status: 'True' as const,
            reason: 'ReplicaSetUpdated',
            lastUpdateTime: formatTime(NOW - seconds * 1000),
          },
        ],
      },
    });
    const stuck = [replicaSet('new', { size: 4, available: 3 })];
    expect(conditionOf(plan(deployment({}, since(599)), stuck), 'Progressing')?.reason).toBe('ReplicaSetUpdated');
    expect(conditionOf(plan(deployment({}, since(601)), stuck), 'Progressing')).toMatchObject({
      reason: 'ProgressDeadlineExceeded',
      status: 'False',
      message: 'ReplicaSet "new" has timed out progressing.',
    });
    const subject = deployment({}, since(500));
    expect(deadlineIn(subject, subject.status ?? {}, NOW)).toBe(101_000);
  });

  it('LIFE-314 is complete when every pod is new and available', () => {
    const all = [replicaSet('new', { size: 4 })];
    expect(conditionOf(plan(deployment(), all), 'Progressing')).toMatchObject({
      reason: 'NewReplicaSetAvailable',
      message: 'ReplicaSet "new" has successfully progressed.',
    });
    const old = [...all, replicaSet('old', { size: 1, available: 0 })];
    expect(conditionOf(plan(deployment(), old), 'Progressing')?.reason).not.toBe('NewReplicaSetAvailable');
  });
});
