import { afterEach, describe, expect, it } from 'vitest';
import { type KubeObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster;
afterEach(() => cluster.stop());

const MINUTE = 60_000;
const cronJob = (spec: object = {}, annotations: Record<string, string> = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c', namespace: 'default' },
  spec: {
    schedule: '*/10 * * * *',
    jobTemplate: {
      spec: {
        template: {
          metadata: { annotations },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
        },
      },
    },
    ...spec,
  },
});
const ref = { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name: 'c' };
const JOBS = { apiVersion: 'batch/v1', kind: 'Job' };
const jobs = () => cluster.client.list<KubeObject & { status: { startTime?: string } }>(JOBS);
const events = async () =>
  (
    await cluster.client.list<
      KubeObject & { reason: string; message: string; count: number; source: { component: string } }
    >({ apiVersion: 'v1', kind: 'Event' })
  ).filter(({ source }) => source.component === 'cronjob-controller');

describe('cronjob-controller', () => {
  it('LIFE-400 LIFE-401 LIFE-409 LIFE-410 runs for hours, keeps its history, and takes everything along', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [cronJob()] });
    await cluster.clock.advance(2 * 60 * MINUTE + 5 * MINUTE);
    const made = cluster
      .trace()
      .entries.filter(({ what, object }) => what.startsWith('created') && object?.kind === 'Job');
    expect(made.length).toBe(12);
    expect((await jobs()).length).toBe(3);
    expect(await cluster.client.get(ref)).toMatchObject({
      status: {
        lastScheduleTime: '2026-01-01T02:00:00Z',
        lastSuccessfulTime: expect.stringContaining('T02:00:0') as string,
      },
    });
    expect((await events()).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Saw completed job: c-\d+, condition: Complete$/),
    );
    await cluster.client.delete(ref, { propagationPolicy: 'Background' });
    await cluster.settled({ advanceMs: 5000 });
    expect(await jobs()).toEqual([]);
    expect(await cluster.client.list({ apiVersion: 'v1', kind: 'Pod' })).toEqual([]);
  });

  it('LIFE-400 runs every hour of a day, and keeps the history of three', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [cronJob({ schedule: '0 * * * *' })] });
    await cluster.clock.advance(24 * 60 * MINUTE + 5 * MINUTE);
    const made = cluster
      .trace()
      .entries.filter(({ what, object }) => what.startsWith('created') && object?.kind === 'Job');
    expect(made.length).toBe(24);
    expect((await jobs()).length).toBe(3);
  });

  it.each([
    ['Forbid', 1],
    ['Replace', 1],
    ['Allow', 2],
  ])('LIFE-408 with concurrencyPolicy %s has %d Jobs at work', async (concurrencyPolicy, want) => {
    cluster = await startCluster({
      simulate: { pods: 'run' },
      objects: [cronJob({ concurrencyPolicy }, { 'kubegc.io/sim-succeed-after': 'never' })],
    });
    await cluster.clock.advance(10 * MINUTE + 1000);
    const [first] = await jobs();
    await cluster.clock.advance(10 * MINUTE);
    const left = await jobs();
    expect(left.length).toBe(want);
    expect(left.some(({ metadata }) => metadata?.uid === first?.metadata?.uid)).toBe(concurrencyPolicy !== 'Replace');
    expect(await cluster.client.get(ref)).toMatchObject({
      status: { active: left.map(({ metadata }) => ({ uid: metadata?.uid })) },
    });
  });

  it('LIFE-403 LIFE-404 touches no Job of another owner or of none', async () => {
    cluster = await startCluster({
      objects: [cronJob({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, suspend: true })],
    });
    const { spec } = cronJob().spec.jobTemplate;
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'an-earlier-one', controller: true };
    const at = '2026-01-01T00:00:00Z';
    for (const [name, ownerReferences] of [
      ['bare', []],
      ['other', [{ ...owner, kind: 'Other', apiVersion: 'example.com/v1' }]],
    ] as const) {
      await cluster.client.create({
        ...JOBS,
        metadata: { name, namespace: 'default', ownerReferences: [...ownerReferences] },
        spec: { ...spec, suspend: true },
      });
      await cluster.client.patchStatus(
        { ...JOBS, namespace: 'default', name },
        {
          status: {
            startTime: at,
            conditions: [
              { type: 'FailureTarget', status: 'True' },
              { type: 'Failed', status: 'True' },
            ],
          },
        },
      );
    }
    await cluster.clock.advance(MINUTE);
    expect((await jobs()).map(({ metadata }) => metadata?.name)).toEqual(['bare', 'other']);
  });

  it('LIFE-406 writes nothing between two runs', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [cronJob({ schedule: '0 * * * *' })] });
    const before = cluster.trace().entries.length;
    await cluster.clock.advance(59 * MINUTE);
    expect(cluster.trace().entries.length).toBe(before);
  });

  it('LIFE-003 tries a template that admission refuses more and more slowly, and says so', async () => {
    cluster = await startCluster({ objects: [cronJob()] });
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { 'count/jobs.batch': '0' } },
    };
    await cluster.client.create(quota);
    await cluster.settled();
    await cluster.clock.advance(15 * MINUTE);
    const refused = cluster
      .trace()
      .entries.filter(({ kind, who }) => kind === 'refused' && who === 'cronjob-controller');
    expect(refused.length).toBeGreaterThan(2);
    expect(refused.length).toBeLessThan(25);
    expect((await events()).map(({ reason }) => reason)).toContain('FailedCreate');
  });
});
