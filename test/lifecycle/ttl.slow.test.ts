import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../src/api/meta/time.ts';
import { TtlController } from '../../src/lifecycle/ttl-after-finished/ttl-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const jobs = gvrOf('jobs', 'batch');
const namespace = 'default';
const ref = { gvr: jobs, namespace, name: 'j' };
const merge = 'application/merge-patch+json';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const run = () => cluster.runShared((context) => new TtlController({ ...context, of: 'jobs' }));

async function finishedJob(ttlSecondsAfterFinished: number): Promise<void> {
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
  const spec = { suspend: true, ttlSecondsAfterFinished, template: { spec: podSpec } };
  await cluster.create({ gvr: jobs, namespace }, { metadata: { name: 'j' }, spec });
  const at = formatTime(cluster.clock.now());
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: at, lastProbeTime: at });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const body = { status: { startTime: at, completionTime: at, succeeded: 1, conditions } };
  await cluster.wait(cluster.client.patch({ ...ref, subresource: 'status' }, { type: merge, body }));
}

describe('a finished Job', () => {
  it('LIFE-088 that expired while no controller ran is deleted by the first sync', async () => {
    await finishedJob(100);
    await cluster.clock.advanceAsync(500_000);
    await run();
    // The API server keeps it until its dependents are gone, because the deletion is in the foreground.
    expect(await cluster.until(async () => (await cluster.get(ref))?.metadata?.deletionTimestamp !== undefined)).toBe(
      0,
    );
  });

  it('LIFE-089 whose time is raised between the live read and the deletion stays', async () => {
    await finishedJob(100);
    const raised: string[] = [];
    cluster.fault = async (request, next) => {
      if (request.method === 'DELETE' && raised.length === 0) {
        raised.push(request.target);
        const body = { spec: { ttlSecondsAfterFinished: 1000 } };
        await cluster.client.patch(ref, { type: merge, body });
      }
      return next(request);
    };
    await run();
    await cluster.until(() => Promise.resolve(raised.length === 1), { withinMs: 120_000, stepMs: 1000 });
    await cluster.clock.advanceAsync(60_000);
    expect((await cluster.get(ref))?.metadata?.deletionTimestamp).toBeUndefined();
    await cluster.until(async () => (await cluster.get(ref))?.metadata?.deletionTimestamp !== undefined, {
      withinMs: 1_000_000,
      stepMs: 10_000,
    });
  });
});
