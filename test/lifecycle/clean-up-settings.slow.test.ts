import { afterEach, beforeEach, expect, it } from 'vitest';
import { formatMicroTime, formatTime } from '../../src/api/meta/time.ts';
import { lifecycleSettingsOf } from '../../src/cli/flags/lifecycle-flags.ts';
import { selectOnDemand } from '../../src/lifecycle/assembly/on-demand-controllers.ts';
import { OnFirstUse } from '../../src/lifecycle/kit/on-first-use.ts';
import { answer, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const jobs = gvrOf('jobs', 'batch');
const leases = gvrOf('leases', 'coordination.k8s.io');
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

async function run(name: string, flags: Parameters<typeof lifecycleSettingsOf>[0]): Promise<void> {
  const controllers = selectOnDemand(new Set([name]), lifecycleSettingsOf(flags));
  await cluster.run(
    (environment) =>
      new OnFirstUse({ ...environment, controllers, contextOf: () => environment, loading: cluster.loading }),
  );
}

it('LIFE-057 the quarantine of a missing node and the interval of passes are those of the flags', async () => {
  await run('pod-garbage-collector-controller', { podGcQuarantine: '5m', podGcCheckPeriod: '1m' });
  const spec = { nodeName: 'gone', containers: [{ name: 'c', image: 'i' }] };
  await cluster.create({ gvr: pods, namespace: 'default' }, { metadata: { name: 'p' }, spec });
  const isGone = async () => (await cluster.names({ gvr: pods, namespace: 'default' })).length === 0;
  const waited = await cluster.until(isGone, { withinMs: 900_000, stepMs: 1000 });
  expect(waited).toBeGreaterThanOrEqual(300_000);
  expect(waited).toBeLessThanOrEqual(422_000);
});

/** Creates a pod that failed at this moment. */
async function failedPod(name: string, metadata: object = {}, namespace = 'default'): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await cluster.create({ gvr: pods, namespace }, { metadata: { name, ...metadata }, spec });
  const target = { gvr: pods, namespace, name, subresource: 'status' };
  await patch(target, { status: { phase: 'Failed' } });
}
const patch = (target: Parameters<typeof cluster.client.patch>[0], body: object) =>
  cluster.wait(cluster.client.patch(target, { type: 'application/merge-patch+json', body }));
const podNames = () => cluster.names({ gvr: pods, namespace: 'default' });

it('LIFE-066 the terminated pods of a namespace that may stay are as many as the flag says', async () => {
  await run('pod-garbage-collector-controller', { podGcMaxTerminatedPerNamespace: '1' });
  await failedPod('first');
  await failedPod('elsewhere', {}, 'kube-system');
  await cluster.clock.advanceAsync(60_000);
  expect(await podNames()).toEqual(['first']);
  await failedPod('second');
  await cluster.until(async () => (await podNames()).length === 1, { withinMs: 60_000, stepMs: 1000 });
  expect(await podNames()).toEqual(['second']);
  expect(await cluster.names({ gvr: pods, namespace: 'kube-system' })).toEqual(['elsewhere']);
});

it('LIFE-066 a terminated pod stays for the time of the flag, and at least until its Job is finished', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const { metadata } = await cluster.create(
    { gvr: jobs, namespace: 'default' },
    { metadata: { name: 'j' }, spec: { template } },
  );
  await run('pod-garbage-collector-controller', { podGcTerminatedTtl: '10m' });
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: metadata?.uid, controller: true }];
  await failedPod('of-job', { ownerReferences });
  await failedPod('bare');
  const waited = await cluster.until(async () => (await podNames()).length === 1, {
    withinMs: 1_200_000,
    stepMs: 1000,
  });
  expect(waited).toBeGreaterThanOrEqual(598_000);
  expect(waited).toBeLessThanOrEqual(622_000);
  await cluster.clock.advanceAsync(1_200_000);
  expect(await podNames()).toEqual(['of-job']);
  const at = formatTime(cluster.clock.now());
  const finished = (type: string) => ({ type, status: 'True', lastProbeTime: at, lastTransitionTime: at });
  const status = { startTime: at, conditions: [finished('FailureTarget'), finished('Failed')] };
  await patch({ gvr: jobs, namespace: 'default', name: 'j', subresource: 'status' }, { status });
  await cluster.until(async () => (await podNames()).length === 0, { withinMs: 60_000, stepMs: 1000 });
});

it('LIFE-066 a terminated pod goes when the cache first shows its Job as finished', async () => {
  const outage = new AbortController();
  let isOver = false;
  cluster.fault = async (request, next) => {
    if (!request.target.startsWith('/apis/batch/v1/jobs')) return next(request);
    const isList = request.target.includes('sendInitialEvents=true');
    // After the outage the watch cannot be resumed, so a new list shows the Job as it is then.
    if (isOver && !isList) return answer(410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
    if (outage.signal.aborted && !isOver) {
      return answer(503, { kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'not now' });
    }
    const response = await next(request);
    const { body } = response;
    return body instanceof Uint8Array || isOver ? response : { ...response, body: endingWith(outage.signal, body) };
  };
  await run('pod-garbage-collector-controller', { podGcTerminatedTtl: '1m' });
  await failedPod('bare');
  await cluster.until(async () => (await podNames()).length === 0, { withinMs: 120_000, stepMs: 1000 });
  outage.abort();
  await cluster.clock.settle();
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const job = { metadata: { name: 'j' }, spec: { template } };
  const { metadata } = await cluster.create({ gvr: jobs, namespace: 'default' }, job);
  const at = formatTime(cluster.clock.now());
  const condition = (type: string) => ({ type, status: 'True', lastProbeTime: at, lastTransitionTime: at });
  const status = { startTime: at, conditions: [condition('FailureTarget'), condition('Failed')] };
  await patch({ gvr: jobs, namespace: 'default', name: 'j', subresource: 'status' }, { status });
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: metadata?.uid, controller: true }];
  await failedPod('of-job', { ownerReferences });
  await cluster.clock.advanceAsync(600_000);
  expect(await podNames()).toEqual(['of-job']);
  isOver = true;
  await cluster.until(async () => (await podNames()).length === 0, { withinMs: 120_000, stepMs: 1000 });
});

/** The chunks until the signal. */
async function* endingWith(signal: AbortSignal, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const end = new Promise<IteratorResult<Uint8Array>>((resolve) => {
    signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true });
  });
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await Promise.race([iterator.next(), end]);
    if (done === true) break;
    yield value;
  }
  await iterator.return?.();
}

it('LIFE-202 the age of a lease that may be deleted is that of the flag', async () => {
  await run('node-lease-cleaner-controller', { nodeLeaseMinAge: '10m' });
  const spec = { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: formatMicroTime(cluster.clock.now()) };
  await cluster.create({ gvr: leases, namespace: 'kube-node-lease' }, { metadata: { name: 'n' }, spec });
  const isGone = async () => (await cluster.names({ gvr: leases, namespace: 'kube-node-lease' })).length === 0;
  const waited = await cluster.until(isGone, { withinMs: 1_200_000, stepMs: 1000 });
  expect(waited).toBeGreaterThanOrEqual(599_000);
  expect(waited).toBeLessThanOrEqual(602_000);
});
