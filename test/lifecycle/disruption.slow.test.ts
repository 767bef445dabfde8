import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { StatusError } from '../../src/api/status-error.ts';
import { DeploymentController } from '../../src/lifecycle/deployment/deployment-controller.ts';
import { DisruptionController } from '../../src/lifecycle/disruption/disruption-controller.ts';
import { ReplicaSetController } from '../../src/lifecycle/replicaset/replicaset-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import { deployments, NAMESPACE, strategic, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;
const budgets = gvrOf('poddisruptionbudgets', 'policy');

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared(
    (context) => new DeploymentController(context),
    (context) => new ReplicaSetController(context),
    (context) => new DisruptionController(context),
  );
  const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: template({ app: 'web' }) };
  await work.create(deployments, 'web', { spec });
  await work.until(async () => (await work.pods()).length === 3);
  await work.ready();
});
afterEach(() => cluster.stop());

interface Budget extends KubeObject {
  status: { disruptionsAllowed: number; currentHealthy: number; desiredHealthy: number; expectedPods: number };
}
const budget = (spec: object) =>
  work.create(budgets, 'web', { spec: { selector: { matchLabels: { app: 'web' } }, ...spec } });
const statusOf = async () => (await work.get<Budget>(budgets, 'web'))!.status;

/** The code that the server answers. */
async function evict(name: string): Promise<number> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } };
  const ref = { gvr: pods, namespace: NAMESPACE, name, subresource: 'eviction' };
  try {
    await cluster.wait(cluster.client.create(ref, eviction));
    return 201;
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
}

describe('a PodDisruptionBudget', () => {
  it.each([
    [{ maxUnavailable: 1 }, { disruptionsAllowed: 1, desiredHealthy: 2 }],
    [{ maxUnavailable: '50%' }, { disruptionsAllowed: 2, desiredHealthy: 1 }],
    [{ minAvailable: 2 }, { disruptionsAllowed: 1, desiredHealthy: 2 }],
    [{ minAvailable: '100%' }, { disruptionsAllowed: 0, desiredHealthy: 3 }],
  ])('%o of three ready pods allows as many evictions as that', async (spec, status) => {
    await budget(spec);
    await work.until(async () => (await statusOf()).currentHealthy === 3);
    expect(await statusOf()).toMatchObject({
      ...status,
      expectedPods: 3,
      observedGeneration: 1,
      conditions: [
        status.disruptionsAllowed > 0
          ? { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }
          : { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
      ],
    });
  });

  it('LIFE-824 allows no more evictions by a status that was decided before an eviction', async () => {
    await budget({ minAvailable: 1 });
    await work.until(async () => (await statusOf()).disruptionsAllowed === 2);
    const [one, two] = (await work.pods()).map(({ metadata }) => metadata!.name!);
    const metadata = { name: two!, namespace: NAMESPACE };
    const allowed: number[] = [];
    let evicted = false;
    cluster.fault = async (request, next) => {
      if (request.method !== 'PUT' || !request.target.endsWith('/poddisruptionbudgets/web/status'))
        return next(request);
      if (!evicted) {
        evicted = true;
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
        await cluster.client.create({ gvr: pods, ...metadata, subresource: 'eviction' }, eviction);
      }
      const response = await next(request);
      if (response.status !== 200) return response;
      const { status } = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as Budget;
      allowed.push(status.disruptionsAllowed);
      return response;
    };
    const ref = { gvr: pods, namespace: NAMESPACE, name: one!, subresource: 'status' };
    const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    await cluster.wait(cluster.client.patch(ref, { type: strategic, body }));
    await cluster.clock.advanceAsync(10_000);
    expect(new Set(allowed)).toEqual(new Set([0]));
  });

  it('lets a drain finish: a pod is refused until the one before is ready again', async () => {
    await budget({ maxUnavailable: 1 });
    await work.until(async () => (await statusOf()).disruptionsAllowed === 1);
    const [one, two, three] = (await work.pods()).map(({ metadata }) => metadata!.name!);
    expect(await evict(one!)).toBe(201);
    expect(await evict(two!)).toBe(429);
    await cluster.clock.advanceAsync(1000);
    expect(await evict(two!)).toBe(429);
    for (const name of [two!, three!]) {
      await work.until(async () => (await statusOf()).disruptionsAllowed === 1, { ready: true });
      expect(await evict(name)).toBe(201);
    }
    await work.until(async () => (await statusOf()).currentHealthy === 3, { ready: true });
    const left = (await work.pods()).map(({ metadata }) => metadata!.name!);
    expect(left).toHaveLength(3);
    expect(left.some((name) => [one, two, three].includes(name))).toBe(false);
  });

  it("allows nothing while the size of the pods' controller is not known, and says so", async () => {
    await work.create(pods, 'strange', {
      metadata: {
        labels: { app: 'web' },
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'w', controller: true }],
      },
      spec: template({}).spec,
    });
    await budget({ maxUnavailable: 1 });
    await work.until(async () =>
      (await work.eventsOf('web')).some((event) => event.includes('CalculateExpectedPodCountFailed')),
    );
    expect(await statusOf()).toMatchObject({ disruptionsAllowed: 0, conditions: [{ reason: 'SyncFailed' }] });
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(600_000);
    expect(cluster.requests.length).toBeLessThan(40);
  });

  it('makes no request while all is as it should be', async () => {
    await budget({ maxUnavailable: 1 });
    await work.until(async () => (await statusOf()).currentHealthy === 3);
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });
});
