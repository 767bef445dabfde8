import { afterEach, describe, expect, it } from 'vitest';
import { type KubeObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster;
afterEach(() => cluster.stop());

const TRACKING = 'batch.kubernetes.io/job-tracking';
const PODS = { apiVersion: 'v1', kind: 'Pod' };
const job = (spec: object = {}, annotations: Record<string, string> = {}, podSpec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', namespace: 'default' },
  spec: {
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...podSpec },
    },
    ...spec,
  },
});
const ref = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'j' };
const start = async (object: ReturnType<typeof job>, simulate: 'run' | 'schedule' | undefined = 'run') => {
  cluster = await startCluster({ ...(simulate ? { simulate: { pods: simulate } } : {}), objects: [object] });
};
interface JobObject extends KubeObject {
  status: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    [field: string]: unknown;
  };
}
const get = () => cluster.client.get<JobObject>(ref);
const conditions = async () =>
  ((await get()).status.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type);
const pods = () => cluster.client.list(PODS);
const events = async () =>
  (
    await cluster.client.list<
      KubeObject & { reason: string; message: string; type: string; source: { component: string } }
    >({ apiVersion: 'v1', kind: 'Event' })
  )
    .filter(({ source }) => source.component === 'job-controller')
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
const tracked = async () => (await pods()).filter(({ metadata }) => metadata?.finalizers?.includes(TRACKING)).length;

describe('a Job', () => {
  it('LIFE-351 LIFE-352 LIFE-357 runs its pod, counts it and is Complete', async () => {
    await start(job());
    expect(await get()).toMatchObject({ status: { active: 1, ready: 1, startTime: expect.any(String) as string } });
    expect((await pods())[0]?.metadata).toMatchObject({
      generateName: 'j-',
      finalizers: [TRACKING],
      ownerReferences: [{ kind: 'Job', name: 'j', controller: true, blockOwnerDeletion: true }],
      labels: { 'batch.kubernetes.io/job-name': 'j' },
    });
    await cluster.clock.advance(2000);
    const done = await get();
    expect(done.status).toMatchObject({ succeeded: 1, ready: 0, completionTime: expect.any(String) as string });
    expect(done.status['active'] ?? 0).toBe(0);
    expect(done.status.conditions).toMatchObject([
      {
        type: 'SuccessCriteriaMet',
        status: 'True',
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      },
      {
        type: 'Complete',
        status: 'True',
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      },
    ]);
    expect(await tracked()).toBe(0);
    expect(await events()).toEqual([
      expect.stringMatching(/^Normal SuccessfulCreate Created pod: j-/) as string,
      'Normal Completed Job completed',
    ]);
  });

  it('LIFE-261 keeps as many pods at work as its parallelism says until its completions are reached', async () => {
    await start(job({ completions: 5, parallelism: 2 }, { 'kubegc.io/sim-succeed-after': '10s' }));
    expect((await pods()).length).toBe(2);
    await cluster.clock.advance(10_000);
    expect(await get()).toMatchObject({ status: { active: 2, succeeded: 2 } });
    await cluster.clock.advance(20_000);
    expect(await get()).toMatchObject({ status: { succeeded: 5 } });
    expect((await pods()).length).toBe(5);
    expect(await conditions()).toEqual(['SuccessCriteriaMet', 'Complete']);
  });

  it('LIFE-360 makes failed pods anew after 10 s, 20 s, and gives up beyond the limit', async () => {
    await start(job({ backoffLimit: 2 }, { 'kubegc.io/sim-fail-after': '1s' }));
    await cluster.clock.advance(1000);
    expect(await get()).toMatchObject({ status: { failed: 1 } });
    expect((await pods()).length).toBe(1);
    await cluster.clock.advance(9000);
    expect((await pods()).length).toBe(1);
    await cluster.clock.advance(1000);
    expect((await pods()).length).toBe(2);
    await cluster.clock.advance(60_000);
    expect((await pods()).length).toBe(3);
    expect((await get()).status).toMatchObject({
      failed: 3,
      conditions: [
        {
          type: 'FailureTarget',
          reason: 'BackoffLimitExceeded',
          message: 'Job has reached the specified backoff limit',
        },
        { type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' },
      ],
    });
    expect(await events()).toContain('Warning BackoffLimitExceeded Job has reached the specified backoff limit');
    expect(await tracked()).toBe(0);
  });

  it('LIFE-361 LIFE-507 goes on when it is resumed after it had started', async () => {
    await start(job({}, { 'kubegc.io/sim-succeed-after': 'never' }));
    const before = (await get()).status['startTime'];
    await cluster.clock.advance(10_000);
    await cluster.client.patch(ref, { spec: { suspend: true } });
    await cluster.clock.advance(10_000);
    await cluster.client.patch(ref, { spec: { suspend: false } });
    await cluster.clock.advance(10_000);
    const { status } = await get();
    expect(status).toMatchObject({ active: 1, conditions: [{ type: 'Suspended', status: 'False' }] });
    expect(status['startTime']).not.toBe(before);
  });

  it('LIFE-361 is suspended without a pod, and starts anew when it is resumed', async () => {
    await start(job({ suspend: true }));
    expect(await pods()).toEqual([]);
    expect((await get()).status).toMatchObject({
      conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }],
    });
    expect((await get()).status['startTime']).toBeUndefined();
    await cluster.client.patch(ref, { spec: { suspend: false } });
    await cluster.clock.advance(0);
    await cluster.settled();
    expect((await pods()).length).toBe(1);
    expect((await get()).status).toMatchObject({
      conditions: [{ type: 'Suspended', status: 'False', reason: 'JobResumed' }],
    });
    await cluster.client.patch(ref, { spec: { suspend: true } });
    await cluster.settled();
    expect(await pods()).toEqual([]);
    expect((await get()).status['active']).toBeUndefined();
    expect((await get()).status['failed'] ?? 0).toBe(0);
    expect(await events()).toEqual(
      expect.arrayContaining(['Normal Suspended Job suspended', 'Normal Resumed Job resumed']),
    );
  });

  it('LIFE-357 fails when it was active for too long, and deletes its pods', async () => {
    await start(job({ activeDeadlineSeconds: 30 }, { 'kubegc.io/sim-succeed-after': 'never' }));
    await cluster.clock.advance(29_000);
    expect(await conditions()).toEqual([]);
    await cluster.clock.advance(2000);
    expect(await conditions()).toEqual(['FailureTarget', 'Failed']);
    expect(await pods()).toEqual([]);
    expect(await events()).toContain('Warning DeadlineExceeded Job was active longer than specified deadline');
  });

  it('LIFE-352 gives the pods of an indexed Job an index each, and says which are done', async () => {
    await start(
      job({ completionMode: 'Indexed', completions: 4, parallelism: 4 }, { 'kubegc.io/sim-succeed-after': '5s' }),
    );
    const made = await pods();
    expect(
      made.map(({ metadata }) => metadata?.annotations?.['batch.kubernetes.io/job-completion-index']).toSorted(),
    ).toEqual(['0', '1', '2', '3']);
    expect(made.every(({ metadata }) => /^j-\d-\w{5}$/.test(metadata?.name ?? ''))).toBe(true);
    expect(made[0]).toMatchObject({
      spec: {
        hostname: expect.stringMatching(/^j-\d$/) as string,
        containers: [{ env: [{ name: 'JOB_COMPLETION_INDEX' }] }],
      },
    });
    await cluster.clock.advance(6000);
    expect((await get()).status).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
    expect(await conditions()).toEqual(['SuccessCriteriaMet', 'Complete']);
  });

  it('LIFE-357 is Complete early when its success policy is met', async () => {
    const successPolicy = { rules: [{ succeededCount: 1 }] };
    await start(
      job(
        { completionMode: 'Indexed', completions: 3, parallelism: 1, successPolicy },
        { 'kubegc.io/sim-succeed-after': '5s' },
      ),
    );
    await cluster.clock.advance(6000);
    expect((await get()).status).toMatchObject({
      succeeded: 1,
      conditions: [
        { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: 'Matched rules at index 0' },
        { type: 'Complete' },
      ],
    });
  });

  it('LIFE-360 fails at once by its pod failure policy', async () => {
    const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }];
    await start(
      job({ podFailurePolicy: { rules } }, { 'kubegc.io/sim-fail-after': '1s', 'kubegc.io/sim-exit-code': '42' }),
    );
    const [pod] = await pods();
    await cluster.clock.advance(2000);
    expect((await get()).status).toMatchObject({
      failed: 1,
      conditions: [
        {
          type: 'FailureTarget',
          reason: 'PodFailurePolicy',
          message: `Container c for pod default/${pod?.metadata?.name ?? ''} failed with exit code 42 matching FailJob rule at index 0`,
        },
        { type: 'Failed' },
      ],
    });
  });

  it('LIFE-360 gives an index up that failed too often, and completes the others', async () => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 };
    await start(job(spec, { 'kubegc.io/sim-fail-after': '1s' }));
    await cluster.clock.advance(60_000);
    expect((await pods()).length).toBe(4);
    expect((await get()).status).toMatchObject({ failed: 4, failedIndexes: '0,1' });
    expect(await conditions()).toEqual(['FailureTarget', 'Failed']);
    expect(await tracked()).toBe(0);
  });

  it('LIFE-359 adopts pods that match and releases those that do not', async () => {
    await start(job({}, { 'kubegc.io/sim-succeed-after': 'never' }));
    const [pod] = await pods();
    const one = { ...PODS, namespace: 'default', name: pod?.metadata?.name ?? '' };
    await cluster.client.patch(one, { metadata: { ownerReferences: null } });
    await cluster.settled();
    expect(await cluster.client.get(one)).toMatchObject({
      metadata: { finalizers: [TRACKING], ownerReferences: [{ kind: 'Job' }] },
    });
    const labels = Object.fromEntries(Object.keys(pod?.metadata?.labels ?? {}).map((label) => [label, null]));
    await cluster.client.patch(one, { metadata: { labels } });
    await cluster.settled();
    const released = await cluster.client.get(one);
    expect(released.metadata?.ownerReferences ?? []).toEqual([]);
    expect(released.metadata?.finalizers ?? []).toEqual([]);
    expect((await pods()).length).toBe(2);
  });

  it.each(['Background', 'Foreground', 'Orphan'] as const)(
    'LIFE-353 LIFE-354 LIFE-355 leaves no finalizer behind when it is deleted with %s',
    async (propagationPolicy) => {
      await start(job({ parallelism: 3 }, { 'kubegc.io/sim-succeed-after': 'never' }), undefined);
      expect(await tracked()).toBe(3);
      await cluster.client.delete(ref, { propagationPolicy });
      await cluster.settled({ advanceMs: 5000 });
      expect((await pods()).length).toBe(propagationPolicy === 'Orphan' ? 3 : 0);
      expect(await tracked()).toBe(0);
    },
  );

  it('LIFE-356 leaves alone what others manage', async () => {
    await start(job({ managedBy: 'example.com/queue' }));
    expect(await pods()).toEqual([]);
    expect((await get()).status).toEqual({});
  });

  it('LIFE-358 LIFE-532 is not processed again when it has ended', async () => {
    await start(job());
    await cluster.clock.advance(5000);
    const before = cluster.trace().entries.length;
    await cluster.clock.advance(600_000);
    expect(cluster.trace().entries.length).toBe(before);
  });

  it('LIFE-010 LIFE-003 tries a refused pod again more and more slowly', async () => {
    cluster = await startCluster();
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    };
    await cluster.client.create(quota);
    await cluster.settled();
    await cluster.client.create(job({ parallelism: 100 }));
    await cluster.clock.advance(600_000);
    const refused = cluster.trace().entries.filter(({ kind, who }) => kind === 'refused' && who === 'job-controller');
    expect(refused.length).toBeGreaterThan(5);
    expect(refused.length).toBeLessThan(60);
    expect(await pods()).toEqual([]);
    expect((await events()).some((text) => text.startsWith('Warning FailedCreate Error creating: pods "j-'))).toBe(
      true,
    );
  });
});
