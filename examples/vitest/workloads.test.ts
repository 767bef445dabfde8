import { expect } from 'vitest';
import { clusterTest } from 'kubegc/testing/vitest';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface WithStatus {
  readonly status?: {
    readonly succeeded?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}
/** Scheduler and kubelet are simulated: pods become ready, and those of a Job succeed after a second. */
const test = clusterTest.extend({ clusterOptions: { simulate: { pods: 'run' } } });
const namespace = 'default';
const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'report' }] };

test('a Job completes, and is deleted with its pod ten minutes later', async ({ cluster }) => {
  const job = await cluster.client.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'report', namespace },
    spec: { ttlSecondsAfterFinished: 600, template: { spec: podSpec } },
  });
  await cluster.clock.advance(MINUTE);
  expect((await cluster.client.get<WithStatus & typeof job>(job)).status?.succeeded).toBe(1);

  await cluster.clock.advance(10 * MINUTE);
  await expect(job).toBeCollected();
  expect(await cluster.client.list({ apiVersion: 'v1', kind: 'Pod', namespace })).toEqual([]);
});

test('a CronJob starts a Job every six hours, and keeps the last three', async ({ cluster }) => {
  await cluster.client.create({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly', namespace },
    spec: { schedule: '0 */6 * * *', jobTemplate: { spec: { template: { spec: podSpec } } } },
  });
  await cluster.clock.advance(DAY);
  const jobs = await cluster.client.list({ apiVersion: 'batch/v1', kind: 'Job', namespace });
  // The name of a Job ends with the minute for which it was scheduled.
  const minutes = jobs.map(({ metadata }) => Number(metadata?.name?.split('-')[1])).toSorted((a, b) => a - b);
  expect(minutes).toHaveLength(3);
  expect(minutes.map((minute) => minute - minutes[0]!)).toEqual([0, 360, 720]);
});

test('a rolling update that makes no progress says so after its deadline, and goes on when it can', async ({
  cluster,
}) => {
  const labels = { app: 'web' };
  const template = (annotations: Record<string, string> = {}) => ({
    metadata: { labels, annotations },
    spec: { containers: [{ name: 'c', image: 'web' }] },
  });
  const web = await cluster.client.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas: 3, progressDeadlineSeconds: 120, selector: { matchLabels: labels }, template: template() },
  });
  const status = async () => (await cluster.client.get<WithStatus & typeof web>(web)).status;
  await cluster.settled();
  expect(await status()).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 });

  await cluster.client.patch(web, { spec: { template: template({ 'kubegc.io/sim-ready-after': 'never' }) } });
  await cluster.clock.advance(3 * MINUTE);
  // One pod of the new template is there and is not ready; none of the old ones was taken away.
  expect(await status()).toMatchObject({ updatedReplicas: 1, availableReplicas: 3 });
  const progressing = (await status())?.conditions?.find(({ type }) => type === 'Progressing');
  expect(progressing).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' });

  await cluster.client.patch(web, { spec: { template: template({ 'kubegc.io/sim-ready-after': '5s' }) } });
  await cluster.clock.advance(2 * MINUTE);
  expect(await status()).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 });
});
