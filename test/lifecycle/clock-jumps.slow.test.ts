import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Clock } from '../../src/base/time/clock.ts';
import { selectOnDemand } from '../../src/lifecycle/assembly/on-demand-controllers.ts';
import { OnFirstUse } from '../../src/lifecycle/kit/on-first-use.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';
import { deployments, NAMESPACE as namespace, template } from './workloads.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const jobs = gvrOf('jobs', 'batch');
const cronJobs = gvrOf('cronjobs', 'batch');
let cluster: EmbeddedCluster;
/** The difference between the clock of the controllers and that of the server, ms. */
let offset: number;

beforeEach(async () => {
  offset = 0;
  cluster = await EmbeddedCluster.start();
  const { clock, random, logger, metrics } = cluster;
  const shifted: Clock = {
    now: () => clock.now() + offset,
    monotonic: () => clock.monotonic(),
    setTimer: (delayMs, fn) => clock.setTimer(delayMs, fn),
    defer: (fn) => clock.defer(fn),
  };
  const names = ['cronjob', 'job', 'deployment', 'replicaset', 'ttl-after-finished'];
  const controllers = selectOnDemand(new Set(names.map((name) => `${name}-controller`)), {
    simulate: { pods: 'run', nodes: 1 },
  });
  await cluster.run(({ client }) => {
    const environment = { client, clock: shifted, random, logger, metrics };
    return new OnFirstUse({ ...environment, controllers, contextOf: () => environment, loading: cluster.loading });
  });
  const never = { restartPolicy: 'Never' };
  const jobTemplate = { spec: { template: template({}, 'i', never) } };
  const make = (gvr: typeof jobs, name: string, spec: object) =>
    cluster.create({ gvr, namespace }, { metadata: { name }, spec });
  await make(cronJobs, 'tick', { schedule: '*/5 * * * *', successfulJobsHistoryLimit: 2, jobTemplate });
  await make(jobs, 'once', { template: template({}, 'i', never), ttlSecondsAfterFinished: 3600 });
  const app = { app: 'web' };
  await make(deployments, 'web', { replicas: 2, selector: { matchLabels: app }, template: template(app) });
  await cluster.until(async () => (await started()).length === 2, { withinMs: 20 * MINUTE, stepMs: 1000 });
  cluster.requests.length = 0;
});
afterEach(() => cluster.stop());

/** The Jobs of the CronJob that are there. */
const started = async () =>
  (await cluster.names({ gvr: jobs, namespace })).filter((name) => name.startsWith('tick-')).toSorted();
const writes = () => cluster.requests.filter((request) => !request.startsWith('GET') && !request.includes('/events'));

it.each([
  ['forward by three days', 3 * DAY],
  ['back by three days', -3 * DAY],
])('LIFE-015 LIFE-407 a clock that jumps %s makes no hot loop, and the schedule goes on', async (_, jump) => {
  const before = await started();
  offset = jump;
  await cluster.clock.advanceAsync(15 * MINUTE);
  // Three runs, each with a Job, its pod, their statuses and the deletion of an old one.
  expect(writes().length).toBeLessThan(120);
  // A clock that was set back shows a time for which the Jobs exist already, as in Kubernetes.
  if (jump > 0) expect(await started()).not.toEqual(before);
  offset = 0;
  cluster.requests.length = 0;
  for (let minutes = 0; minutes < 30; minutes++) await cluster.clock.advanceAsync(MINUTE);
  expect(writes().length).toBeLessThan(240);
  const last = Number((await started()).at(-1)?.split('-')[1]) * MINUTE;
  expect(last).toBeGreaterThanOrEqual(cluster.clock.now() - 10 * MINUTE);
});
