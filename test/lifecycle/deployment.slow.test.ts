import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newForbidden } from '../../src/api/status-error.ts';
import { DeploymentController } from '../../src/lifecycle/deployment/deployment-controller.ts';
import { ReplicaSetController } from '../../src/lifecycle/replicaset/replicaset-controller.ts';
import { answer, EmbeddedCluster, pods } from './embedded-cluster.ts';
import { deployments, merge, replicaSets, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared(
    (context) => new DeploymentController(context),
    (context) => new ReplicaSetController(context),
  );
});
afterEach(() => cluster.stop());

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}
interface Deployment extends KubeObject {
  spec: { replicas: number; template: object };
  status: {
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    collisionCount?: number;
    conditions: Condition[];
  };
}
interface ReplicaSet extends KubeObject {
  spec: { replicas: number; template: { spec: { containers: { image: string }[] } } };
  status: { replicas: number };
}

const deploy = (replicas: number, more: object = {}) =>
  work.create(deployments, 'web', {
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template({ app: 'web' }), ...more },
  });
const get = async () => (await work.get<Deployment>(deployments, 'web'))!;
const condition = async (type: string) => {
  const found = (await get()).status.conditions?.find((each) => each.type === type);
  return found && `${found.status} ${found.reason} ${found.message}`;
};
const sets = () => work.list<ReplicaSet>(replicaSets);
const imageOf = (set: ReplicaSet) => set.spec.template.spec.containers[0]!.image;
const sizes = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await sets()).map((set) => [imageOf(set), set.spec.replicas]));
const setImage = (image: string) =>
  work.patch(deployments, 'web', { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } });
const complete = async () => {
  const { spec, status, metadata } = await get();
  return (
    status.updatedReplicas === spec.replicas &&
    status.replicas === spec.replicas &&
    status.availableReplicas === spec.replicas &&
    status.observedGeneration === metadata!.generation
  );
};
const rolledOut = () => work.until(complete, { ready: true });

describe('a Deployment', () => {
  it('LIFE-303 LIFE-314 makes a ReplicaSet with its template, and is available once its pods are', async () => {
    const made = await deploy(2, { template: template({ app: 'web' }) });
    await work.until(async () => (await work.pods()).length === 2);
    await cluster.clock.advanceAsync(1000);
    const [set] = await sets();
    const hash = set!.metadata!.labels!['pod-template-hash']!;
    expect(set).toMatchObject({
      metadata: {
        name: `web-${hash}`,
        labels: { app: 'web', 'pod-template-hash': hash },
        annotations: {
          'deployment.kubernetes.io/revision': '1',
          'deployment.kubernetes.io/desired-replicas': '2',
          'deployment.kubernetes.io/max-replicas': '3',
        },
        ownerReferences: [{ name: 'web', uid: made.metadata!.uid, controller: true, blockOwnerDeletion: true }],
      },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } } },
    });
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/);
    expect(await condition('Available')).toBe(
      'False MinimumReplicasUnavailable Deployment does not have minimum availability.',
    );
    expect(await condition('Progressing')).toBe(`True ReplicaSetUpdated ReplicaSet "web-${hash}" is progressing.`);
    expect((await get()).metadata?.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '1' });
    await rolledOut();
    expect(await condition('Available')).toBe('True MinimumReplicasAvailable Deployment has minimum availability.');
    expect(await condition('Progressing')).toBe(
      `True NewReplicaSetAvailable ReplicaSet "web-${hash}" has successfully progressed.`,
    );
    expect(await work.eventsOf('web')).toEqual([
      `Normal ScalingReplicaSet Scaled up replica set web-${hash} from 0 to 2`,
    ]);
  });

  it('LIFE-307 rolls within maxSurge and maxUnavailable, and says each step', async () => {
    await deploy(4, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    await rolledOut();
    let most = 0;
    let least = 4;
    await setImage('two');
    await work.until(async () => {
      const all = await sets();
      most = Math.max(
        most,
        all.reduce((sum, { spec }) => sum + spec.replicas, 0),
      );
      least = Math.min(least, (await get()).status.availableReplicas ?? 0);
      const [pending] = (await work.pods()).filter((pod) => (pod['status'] as { phase: string }).phase === 'Pending');
      if (pending !== undefined)
        await work.ready(`pod-template-hash=${pending.metadata!.labels!['pod-template-hash']}`);
      return complete();
    });
    expect(most).toBe(5);
    expect(least).toBeGreaterThanOrEqual(3);
    expect(await sizes()).toEqual({ one: 0, two: 4 });
    expect((await work.eventsOf('web')).filter((event) => event.includes('Scaled down')).length).toBeGreaterThan(1);
    const two = (await sets()).find((set) => imageOf(set) === 'two');
    expect(two?.metadata?.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' });
  });

  it('LIFE-306 gives an old template that comes back the next revision, and remembers the former', async () => {
    await deploy(1);
    await rolledOut();
    await setImage('two');
    await rolledOut();
    await setImage('one');
    await rolledOut();
    const [one] = (await sets()).filter((set) => imageOf(set) === 'one');
    expect(one?.metadata?.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/revision-history': '1',
    });
    expect((await get()).metadata?.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '3' });
    expect(await sets()).toHaveLength(2);
  });

  it('LIFE-308 with strategy Recreate makes no new pod while an old one is there', async () => {
    await deploy(2, { strategy: { type: 'Recreate' } });
    await rolledOut();
    const [held] = await work.pods();
    await work.patch(pods, held!.metadata!.name!, { metadata: { finalizers: ['example.com/hold'] } });
    await setImage('two');
    await work.until(async () => (await work.pods()).length === 1);
    await cluster.clock.advanceAsync(60_000);
    expect(await sizes()).toEqual({ one: 0 });
    await work.patch(pods, held!.metadata!.name!, { metadata: { finalizers: null } }, merge);
    await rolledOut();
    expect(await sizes()).toEqual({ one: 0, two: 2 });
  });

  it('LIFE-309 keeps as many old ReplicaSets as the limit says, the latest', async () => {
    await deploy(1, { revisionHistoryLimit: 1 });
    await rolledOut();
    for (const image of ['two', 'three', 'four']) {
      await setImage(image);
      await rolledOut();
    }
    await work.until(async () => (await sets()).length === 2);
    expect(await sizes()).toEqual({ four: 1, three: 0 });
  });

  it('LIFE-300 LIFE-313 while paused it scales what is there, and rolls when resumed', async () => {
    await deploy(2);
    await rolledOut();
    await work.patch(deployments, 'web', { spec: { paused: true } });
    await work.until(async () => (await condition('Progressing')) === 'Unknown DeploymentPaused Deployment is paused');
    await setImage('two');
    await work.patch(deployments, 'web', { spec: { replicas: 3 } });
    await work.until(async () => (await sizes())['one'] === 3, { ready: true });
    expect(await sizes()).toEqual({ one: 3 });
    await work.patch(deployments, 'web', { spec: { paused: false } });
    await rolledOut();
    expect(await sizes()).toEqual({ one: 0, two: 3 });
  });

  it('LIFE-313 shares a change of size among the ReplicaSets of a rollout', async () => {
    await deploy(10, { strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
    await rolledOut();
    await setImage('two');
    await work.until(async () => (await sizes())['two'] === 5 && (await sizes())['one'] === 8);
    await work.patch(deployments, 'web', { spec: { replicas: 30 } });
    await work.until(async () => Object.values(await sizes()).reduce((sum, size) => sum + size, 0) === 33);
    expect(await sizes()).toEqual({ one: 20, two: 13 });
  });

  it('LIFE-305 takes another name when somebody has the one of its hash', async () => {
    await deploy(1);
    await work.until(async () => (await sets()).length === 1);
    const [set] = await sets();
    const { name, labels } = set!.metadata!;
    await work.delete(deployments, 'web', { propagationPolicy: 'Orphan' });
    await work.patch(deployments, 'web', { metadata: { finalizers: null } }, merge);
    await work.delete(replicaSets, name!);
    await work.create(replicaSets, name!, {
      metadata: { labels: { other: 'yes' } },
      spec: { replicas: 0, selector: { matchLabels: { other: 'yes' } }, template: template({ other: 'yes' }) },
    });
    await deploy(1);
    await work.until(async () => (await sets()).length === 2);
    expect((await get()).status.collisionCount).toBe(1);
    expect(
      (await sets()).every((each) => each.metadata?.labels?.['pod-template-hash'] !== labels!['pod-template-hash']),
    ).toBe(true);
  });

  it('LIFE-302 makes the ReplicaSet again that was deleted by hand, and it takes back the pods', async () => {
    await deploy(2);
    await rolledOut();
    const [set] = await sets();
    const before = (await work.pods()).map(({ metadata }) => metadata?.uid).toSorted();
    await work.delete(replicaSets, set!.metadata!.name!, { propagationPolicy: 'Orphan' });
    for (const pod of await work.pods()) {
      await work.patch(pods, pod.metadata!.name!, { metadata: { ownerReferences: null } }, merge);
    }
    await work.patch(replicaSets, set!.metadata!.name!, { metadata: { finalizers: null } }, merge);
    await work.until(async () => {
      const [again] = await sets();
      return again !== undefined && again.metadata?.uid !== set!.metadata?.uid && again.status.replicas === 2;
    });
    expect((await sets())[0]?.metadata?.name).toBe(set!.metadata?.name);
    expect((await work.pods()).map(({ metadata }) => metadata?.uid).toSorted()).toEqual(before);
  });

  it('LIFE-311 releases a ReplicaSet whose labels no longer match, and takes it back with them', async () => {
    await deploy(1);
    await rolledOut();
    const [set] = await sets();
    const name = set!.metadata!.name!;
    await work.patch(replicaSets, name, { metadata: { labels: { app: 'other' } } });
    await work.until(async () => (await work.get(replicaSets, name))?.metadata?.ownerReferences === undefined);
    await work.until(async () => (await sets()).length === 2 || (await get()).status.collisionCount === 1);
    await work.until(async () => (await sets()).length === 2);
    await work.patch(replicaSets, name, { metadata: { labels: { app: 'web' } } });
    await work.until(async () => (await work.get(replicaSets, name))?.metadata?.ownerReferences?.length === 1);
  });

  it('LIFE-301 a terminating Deployment makes nothing, and says which generation it has seen', async () => {
    await deploy(1);
    await rolledOut();
    await work.delete(deployments, 'web', { propagationPolicy: 'Foreground' });
    await work.until(async () => (await get()).status.observedGeneration === 2);
    await work.delete(replicaSets, (await sets())[0]!.metadata!.name!);
    await cluster.clock.advanceAsync(10_000);
    expect(await sets()).toEqual([]);
  });

  it('reports that the progress deadline has passed, a second after it has', async () => {
    await deploy(1, { progressDeadlineSeconds: 60 });
    await work.until(async () => (await condition('Progressing'))?.includes('is progressing') ?? false);
    const [set] = await sets();
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(58_000);
    expect(cluster.requests).toEqual([]);
    await cluster.clock.advanceAsync(4000);
    expect(await condition('Progressing')).toBe(
      `False ProgressDeadlineExceeded ReplicaSet "${set!.metadata!.name}" has timed out progressing.`,
    );
    await rolledOut();
    expect(await condition('Progressing')).toContain('True NewReplicaSetAvailable');
  });

  it('reports why it cannot make a ReplicaSet, and gives up after fifteen failures until something changes', async () => {
    const refusal = newForbidden({ group: 'apps', resource: 'replicasets' }, 'web', 'no room');
    let calls = 0;
    cluster.fault = (request, next) => {
      if (request.method !== 'POST' || !request.target.includes('/replicasets')) return next(request);
      calls++;
      return Promise.resolve(answer(403, refusal.status));
    };
    await deploy(1);
    await cluster.clock.advanceAsync(7_200_000);
    expect(calls).toBeGreaterThan(10);
    expect(calls).toBeLessThan(25);
    expect(await condition('Progressing')).toMatch(
      /^False ReplicaSetCreateError Failed to create new replica set "web-\w+": replicasets.apps "web" is forbidden: no room$/,
    );
    cluster.fault = (request, next) => next(request);
    await work.patch(deployments, 'web', { spec: { replicas: 2 } });
    await rolledOut();
  });

  it('makes no request while all is as it should be', async () => {
    await deploy(2);
    await rolledOut();
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });
});
