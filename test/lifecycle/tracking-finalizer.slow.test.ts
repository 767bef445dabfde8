import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JobController } from '../../src/lifecycle/job/job-controller.ts';
import { answer, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import { merge, NAMESPACE, Workloads } from './workloads.ts';

const jobs = gvrOf('jobs', 'batch');
const TRACKING = 'batch.kubernetes.io/job-tracking';
const MINUTE = 60_000;
let cluster: EmbeddedCluster;
let work: Workloads;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared((context) => new JobController(context));
});
afterEach(() => cluster.stop());

const tracked = async () => (await work.pods()).filter(({ metadata }) => metadata?.finalizers?.includes(TRACKING));
/** A Job with a pod. */
const start = async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  await work.create(jobs, 'j', { spec: { template } });
  await work.until(async () => (await tracked()).length === 1);
  return (await tracked())[0]!.metadata!.name!;
};
/** Answers the removals of the finalizer in the server's place. */
const refuseRemovals = (times: number, code: number, body: object) => {
  const removals = { count: 0 };
  cluster.fault = async (request, next) => {
    if (request.method !== 'PATCH' || !request.target.includes('/pods/')) return next(request);
    removals.count++;
    return removals.count > times ? next(request) : answer(code, body);
  };
  return removals;
};
const status = (code: number, reason: string, causes: object[] = []) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: 'not now',
  details: { causes },
});
const failures: [string, number, object][] = [
  ['the server fails', 500, status(500, 'InternalError')],
  ['a webhook refuses the pod', 422, status(422, 'Invalid', [{ reason: 'FieldValueInvalid', field: 'spec' }])],
];
const repaired = () => cluster.metrics.value('kubegc_job_tracking_repaired_total') ?? 0;

describe('the tracking finalizer of a pod', () => {
  it.each(failures)('LIFE-820 of a Job that runs is removed at last, when %s for a while', async (_, code, body) => {
    const name = await start();
    const removals = refuseRemovals(12, code, body);
    const succeeded = { gvr: pods, namespace: NAMESPACE, name, subresource: 'status' };
    await cluster.wait(cluster.client.patch(succeeded, { type: merge, body: { status: { phase: 'Succeeded' } } }));
    await cluster.clock.advanceAsync(15 * MINUTE);
    expect(await tracked()).toEqual([]);
    expect(removals.count).toBe(13);
    expect((await work.get(jobs, 'j'))?.['status']).toMatchObject({ succeeded: 1 });
  });

  it.each(failures)('LIFE-820 of a deleted Job is removed at last, when %s for a while', async (_, code, body) => {
    await start();
    const removals = refuseRemovals(12, code, body);
    await work.delete(jobs, 'j', { propagationPolicy: 'Background' });
    await cluster.clock.advanceAsync(15 * MINUTE);
    expect(await tracked()).toEqual([]);
    expect(removals.count).toBe(13);
  });

  it('LIFE-820 is left alone when the pod that was meant is gone, and another has its name', async () => {
    await start();
    const removals = refuseRemovals(100, 422, status(422, 'Invalid', [{ field: 'metadata.uid' }]));
    await work.delete(jobs, 'j', { propagationPolicy: 'Background' });
    await cluster.clock.advanceAsync(15 * MINUTE);
    expect(removals.count).toBe(1);
  });

  it('LIFE-362 is removed again five minutes later when it alone still holds the pod, and counted', async () => {
    const name = await start();
    // The server says twice that it has removed the finalizer, and has not: after the deletion of the Job, and of the pod.
    const removals = refuseRemovals(2, 200, (await work.get(pods, name))!);
    await work.delete(jobs, 'j', { propagationPolicy: 'Background' });
    await work.delete(pods, name);
    await cluster.clock.advanceAsync(4 * MINUTE);
    expect([(await tracked()).length, repaired()]).toEqual([1, 0]);
    await cluster.clock.advanceAsync(7 * MINUTE);
    expect(await work.pods()).toEqual([]);
    expect(repaired()).toBe(1);
    expect(removals.count).toBe(3);
  });

  it('LIFE-362 is removed without being counted when another finalizer holds the pod too', async () => {
    const name = await start();
    await work.patch(pods, name, { metadata: { finalizers: ['example.com/x'] } });
    refuseRemovals(2, 200, (await work.get(pods, name))!);
    await work.delete(jobs, 'j', { propagationPolicy: 'Background' });
    await work.delete(pods, name);
    await cluster.clock.advanceAsync(12 * MINUTE);
    expect((await work.get(pods, name))?.metadata?.finalizers).toEqual(['example.com/x']);
    expect(repaired()).toBe(0);
  });
});
