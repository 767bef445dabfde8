import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';

/**
 * The workloads that the documentation of Kubernetes shows, as manifests of our own (test/fixtures/workloads): applied, scaled, rolled out, and
 * deleted with each policy, on three simulated nodes with the controllers of `kubegc up`.
 */
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startCluster({ simulate: { pods: 'run', nodes: 3 } });
  await cluster.settled({ advanceMs: 10_000 });
});
afterEach(() => cluster.stop());

type Policy = 'Background' | 'Foreground' | 'Orphan';
const policies = ['Background', 'Foreground', 'Orphan'] as const satisfies readonly Policy[];
interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: { readonly phase: string };
}
interface WithStatus extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] };
}
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

const apiVersionOf = (kind: string): string => {
  if (['Job', 'CronJob'].includes(kind)) return 'batch/v1';
  if (['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'ControllerRevision'].includes(kind)) return 'apps/v1';
  return 'v1';
};
const ref = (kind: string, name: string, namespace = 'default') => ({
  apiVersion: apiVersionOf(kind),
  kind,
  name,
  namespace,
});
const load = (...files: readonly string[]) =>
  cluster.load(files.map((file) => new URL(`../fixtures/workloads/${file}.yaml`, import.meta.url)));
/** Applies the files, and lets time pass until nothing is left to do. */
const apply = async (...files: readonly string[]) => {
  await load(...files);
  await rest();
};
const rest = (advanceMs = 120_000) => cluster.settled({ advanceMs, timeoutMs: 20_000 });
const get = <T extends KubeObject = WithStatus>(kind: string, name: string, namespace?: string) =>
  cluster.client.get<T>(ref(kind, name, namespace));
const list = <T extends KubeObject = WithStatus>(kind: string, namespace = 'default') =>
  cluster.client.list<T>({ apiVersion: apiVersionOf(kind), kind, namespace });
const pods = (namespace?: string) => list<Pod>('Pod', namespace);
const names = async (kind: string, namespace?: string) =>
  (await list(kind, namespace)).map(({ metadata }) => metadata!.name!).toSorted();
const uids = async (kind: string, namespace?: string) =>
  (await list(kind, namespace)).map(({ metadata }) => metadata!.uid!).toSorted();
const images = async (namespace?: string) => [
  ...new Set((await pods(namespace)).map(({ spec }) => spec.containers[0]!.image)),
];
const owners = (objects: readonly KubeObject[]) => [
  ...new Set(
    objects.map(
      ({ metadata }) => metadata!.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join() ?? 'nobody',
    ),
  ),
];
const scale = async (kind: string, name: string, replicas: number) => {
  const merge = 'application/merge-patch+json';
  await cluster.client.patch(ref(kind, name), { spec: { replicas } }, merge, { subresource: 'scale' });
  await rest();
};
const rollOut = async (kind: string, name: string, image: string, namespace?: string) => {
  const container = (await get<KubeObject>(kind, name, namespace)) as unknown as {
    spec: { template: { spec: { containers: { name: string }[] } } };
  };
  const containers = [{ name: container.spec.template.spec.containers[0]!.name, image }];
  const strategic = 'application/strategic-merge-patch+json';
  await cluster.client.patch(ref(kind, name, namespace), { spec: { template: { spec: { containers } } } }, strategic);
  await rest();
};
const remove = async (kind: string, name: string, propagationPolicy: Policy, namespace?: string) => {
  await cluster.client.delete(ref(kind, name, namespace), { propagationPolicy });
  await rest();
  expect(await cluster.client.find(ref(kind, name, namespace))).toBeUndefined();
};
/** `type: status reason`, a line each. */
const conditions = async (kind: string, name: string) =>
  ((await get(kind, name)).status.conditions ?? []).map(
    ({ type, status, reason = '' }) => `${type}: ${status} ${reason}`,
  );

describe('the examples of the documentation', () => {
  it.each(policies)('LIFE-307 LIFE-313 a Deployment, deleted with policy %s', async (policy) => {
    await apply('deployment');
    expect((await get('Deployment', 'storefront')).status).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    });
    await scale('Deployment', 'storefront', 5);
    expect(await pods()).toHaveLength(5);
    expect(await list('ReplicaSet')).toHaveLength(1);
    await rollOut('Deployment', 'storefront', 'storefront:1.1');
    expect(await images()).toEqual(['storefront:1.1']);
    expect((await list('ReplicaSet')).map(({ spec }) => spec.replicas).toSorted()).toEqual([0, 5]);
    expect(await conditions('Deployment', 'storefront')).toEqual([
      'Available: True MinimumReplicasAvailable',
      'Progressing: True NewReplicaSetAvailable',
    ]);
    expect((await get('Deployment', 'storefront')).metadata!.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '2',
    });
    const before = await uids('Pod');
    await remove('Deployment', 'storefront', policy);
    expect(await list('ReplicaSet')).toHaveLength(policy === 'Orphan' ? 2 : 0);
    expect(await uids('Pod')).toEqual(policy === 'Orphan' ? before : []);
    expect(owners(await list('ReplicaSet'))).toEqual(policy === 'Orphan' ? ['nobody'] : []);
  });

  it.each(policies)('LIFE-261 LIFE-265 a ReplicaSet, deleted with policy %s', async (policy) => {
    await apply('replicaset');
    await scale('ReplicaSet', 'frontend', 1);
    expect((await get('ReplicaSet', 'frontend')).status).toMatchObject({ replicas: 1, readyReplicas: 1 });
    await scale('ReplicaSet', 'frontend', 4);
    // A new template is for new pods only.
    await rollOut('ReplicaSet', 'frontend', 'frontend:6');
    expect(await images()).toEqual(['frontend:5']);
    await remove('ReplicaSet', 'frontend', policy);
    expect(owners(await pods())).toEqual(policy === 'Orphan' ? ['nobody'] : []);
    expect(await pods()).toHaveLength(policy === 'Orphan' ? 4 : 0);
  });

  it.each(policies)('LIFE-260 LIFE-270 a ReplicationController, deleted with policy %s', async (policy) => {
    await apply('replicationcontroller');
    await scale('ReplicationController', 'relay', 2);
    expect((await get('ReplicationController', 'relay')).status).toMatchObject({ replicas: 2, readyReplicas: 2 });
    await remove('ReplicationController', 'relay', policy);
    expect(owners(await pods())).toEqual(policy === 'Orphan' ? ['nobody'] : []);
  });

  it.each(policies)('LIFE-612 LIFE-615 a StatefulSet with claims, deleted with policy %s', async (policy) => {
    await apply('statefulset');
    expect(await names('Pod')).toEqual(['store-0', 'store-1', 'store-2']);
    expect((await get('StatefulSet', 'store')).status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    const claims = ['data-store-0', 'data-store-1', 'data-store-2'];
    expect(await names('PersistentVolumeClaim')).toEqual(claims);
    expect((await list('PersistentVolumeClaim')).map(({ status }) => status['phase'])).toEqual(Array(3).fill('Bound'));
    const claimUids = await uids('PersistentVolumeClaim');

    const from = cluster.trace().entries.length;
    await scale('StatefulSet', 'store', 1);
    const removals = cluster
      .trace()
      .entries.slice(from)
      .filter(({ kind, what, object }) => kind === 'write' && object?.kind === 'Pod' && what.startsWith('removed'));
    expect(removals.map(({ object }) => object!.name)).toEqual(['store-2', 'store-1']);
    expect(await uids('PersistentVolumeClaim')).toEqual(claimUids);
    await scale('StatefulSet', 'store', 3);
    expect(await uids('PersistentVolumeClaim')).toEqual(claimUids);

    await rollOut('StatefulSet', 'store', 'store:2');
    expect(await images()).toEqual(['store:2']);
    const { currentRevision, updateRevision } = (await get('StatefulSet', 'store')).status;
    expect(currentRevision).toBe(updateRevision);
    expect(await list('ControllerRevision')).toHaveLength(2);

    const before = await uids('Pod');
    await remove('StatefulSet', 'store', policy);
    expect(await uids('Pod')).toEqual(policy === 'Orphan' ? before : []);
    expect(await list('ControllerRevision')).toHaveLength(policy === 'Orphan' ? 2 : 0);
    // The claims stay with every policy, unless the set says otherwise.
    expect(await uids('PersistentVolumeClaim')).toEqual(claimUids);
  });

  it.each(policies)('LIFE-641 a DaemonSet, deleted with policy %s', async (policy) => {
    const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
    await cluster.client.patch(ref('Node', 'kubegc-0'), { spec: { taints } });
    await apply('daemonset');
    const nodes = async () => (await pods('kube-system')).map(({ spec }) => spec.nodeName).toSorted();
    expect(await nodes()).toEqual(['kubegc-0', 'kubegc-1', 'kubegc-2']);
    const set = () => get('DaemonSet', 'log-shipper', 'kube-system');
    expect((await set()).status).toMatchObject({ desiredNumberScheduled: 3, numberReady: 3, numberAvailable: 3 });
    // A DaemonSet is scaled by its nodes.
    const nodeSelector = { disk: 'ssd' };
    await cluster.client.patch(ref('Node', 'kubegc-1'), { metadata: { labels: nodeSelector } });
    await cluster.client.patch(ref('DaemonSet', 'log-shipper', 'kube-system'), {
      spec: { template: { spec: { nodeSelector } } },
    });
    await rest();
    expect(await nodes()).toEqual(['kubegc-1']);
    await cluster.client.patch(ref('Node', 'kubegc-2'), { metadata: { labels: nodeSelector } });
    await rest();
    expect(await nodes()).toEqual(['kubegc-1', 'kubegc-2']);
    await rollOut('DaemonSet', 'log-shipper', 'log-shipper:2', 'kube-system');
    expect(await images('kube-system')).toEqual(['log-shipper:2']);
    expect((await set()).status).toMatchObject({ updatedNumberScheduled: 2, numberAvailable: 2 });
    await remove('DaemonSet', 'log-shipper', policy, 'kube-system');
    expect(await nodes()).toEqual(policy === 'Orphan' ? ['kubegc-1', 'kubegc-2'] : []);
    expect(owners(await list('ControllerRevision', 'kube-system'))).toEqual(policy === 'Orphan' ? ['nobody'] : []);
  });

  it.each(policies)('LIFE-357 LIFE-354 a Job, deleted with policy %s', async (policy) => {
    await load('job');
    await cluster.clock.advance(1500);
    // A Job is scaled by its parallelism.
    await cluster.client.patch(ref('Job', 'digits'), { spec: { parallelism: 4 } });
    await cluster.settled();
    expect((await get('Job', 'digits')).status).toMatchObject({ active: 4 });
    await rest();
    expect((await get('Job', 'digits')).status).toMatchObject({ succeeded: 6, ready: 0 });
    expect(await conditions('Job', 'digits')).toEqual([
      'SuccessCriteriaMet: True CompletionsReached',
      'Complete: True CompletionsReached',
    ]);
    await remove('Job', 'digits', policy);
    expect(await pods()).toHaveLength(policy === 'Orphan' ? 6 : 0);
    expect((await pods()).filter(({ metadata }) => metadata!.finalizers !== undefined)).toEqual([]);
  });

  it.each(policies)('LIFE-355 a Job at work, deleted with policy %s', async (policy) => {
    await load('job');
    await cluster.settled();
    await remove('Job', 'digits', policy);
    expect(owners(await pods())).toEqual(policy === 'Orphan' ? ['nobody'] : []);
    expect((await pods()).filter(({ metadata }) => metadata!.finalizers !== undefined)).toEqual([]);
  });

  it('LIFE-351 LIFE-357 an indexed Job', async () => {
    await apply('job-indexed');
    expect((await get('Job', 'chunks')).status).toMatchObject({ succeeded: 5, completedIndexes: '0-4' });
    const indexes = (await pods()).map(
      ({ metadata }) => metadata!.annotations!['batch.kubernetes.io/job-completion-index'],
    );
    expect(indexes.toSorted()).toEqual(['0', '1', '2', '3', '4']);
    expect((await names('Pod')).every((name) => /^chunks-[0-4]-\w{5}$/.test(name))).toBe(true);
  });

  it('LIFE-357 LIFE-361 a suspended Job begins when it is resumed', async () => {
    await load('job-indexed');
    await cluster.settled();
    await cluster.client.patch(ref('Job', 'chunks'), { spec: { suspend: true } });
    await rest();
    expect(await pods()).toEqual([]);
    expect(await conditions('Job', 'chunks')).toContain('Suspended: True JobSuspended');
    await cluster.client.patch(ref('Job', 'chunks'), { spec: { suspend: false } });
    await rest();
    expect(await conditions('Job', 'chunks')).toEqual([
      'Suspended: False JobResumed',
      'SuccessCriteriaMet: True CompletionsReached',
      'Complete: True CompletionsReached',
    ]);
  });

  it('LIFE-357 a Job that a pod failure policy ends', async () => {
    await apply('job-pod-failure-policy');
    expect(await conditions('Job', 'stops-at-a-bug')).toEqual([
      'FailureTarget: True PodFailurePolicy',
      'Failed: True PodFailurePolicy',
    ]);
    expect((await get('Job', 'stops-at-a-bug')).status).toMatchObject({ failed: 2 });
    // None is made again after the exit code that stands for a bug.
    expect(await pods()).toHaveLength(2);
  });

  it('LIFE-357 a Job that a success policy ends', async () => {
    await apply('job-success-policy');
    expect(await conditions('Job', 'leader-and-workers')).toEqual([
      'SuccessCriteriaMet: True SuccessPolicy',
      'Complete: True SuccessPolicy',
    ]);
    expect(Number((await get('Job', 'leader-and-workers')).status['succeeded'])).toBeLessThan(10);
  });

  it.each(policies)('LIFE-401 LIFE-410 a CronJob, deleted with policy %s', async (policy) => {
    await load('cronjob');
    await cluster.clock.advance(5 * 60_000 + 30_000);
    await cluster.settled();
    const jobs = await list('Job');
    expect(jobs.filter(({ status }) => Number(status['succeeded']) === 1)).toHaveLength(3);
    await remove('CronJob', 'greeting', policy);
    expect(await names('Job')).toEqual(
      policy === 'Orphan' ? jobs.map(({ metadata }) => metadata!.name!).toSorted() : [],
    );
    expect(await pods()).toHaveLength(policy === 'Orphan' ? jobs.length : 0);
  });

  it('LIFE-824 a PodDisruptionBudget lets one pod go at a time', async () => {
    await apply('deployment', 'disruption-budget');
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', name: 'storefront', namespace: 'default' };
    const status = async () => (await cluster.client.get<WithStatus>(budget)).status;
    expect(await status()).toMatchObject({
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
    });
    const [one, two] = await pods();
    const evict = ({ metadata }: Pod) =>
      cluster.client.rest.create(
        {
          gvr: { group: '', version: 'v1', resource: 'pods' },
          namespace: 'default',
          name: metadata!.name!,
          subresource: 'eviction',
        },
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata!.name! } },
      );
    await evict(one!);
    await expect(evict(two!)).rejects.toMatchObject({ code: 429 });
    await rest();
    expect(await status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    await evict(two!);
    await rest();
    expect(await pods()).toHaveLength(3);
    await cluster.client.delete(budget);
    await rest();
    expect(await pods()).toHaveLength(3);
  });

  it('LIFE-266 a ResourceQuota keeps a Deployment below its limits, and counts what it deletes', async () => {
    await load('quota');
    await apply('deployment');
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', name: 'object-counts', namespace: 'default' };
    const used = async () => (await cluster.client.get<WithStatus>(quota)).status['used'];
    expect(await used()).toEqual({ pods: '3', 'count/deployments.apps': '1', services: '1' });
    await scale('Deployment', 'storefront', 6);
    expect(await pods()).toHaveLength(4);
    expect(await conditions('Deployment', 'storefront')).toContain('ReplicaFailure: True FailedCreate');
    await remove('Deployment', 'storefront', 'Foreground');
    await rest();
    expect(await used()).toEqual({ pods: '0', 'count/deployments.apps': '0', services: '1' });
  });

  it('a HorizontalPodAutoscaler is stored, and scales nothing', async () => {
    await apply('deployment', 'autoscaler');
    const autoscaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      name: 'storefront',
      namespace: 'default',
    };
    expect(await cluster.client.get<WithStatus>(autoscaler)).toMatchObject({
      spec: { minReplicas: 1, maxReplicas: 10 },
    });
    await cluster.clock.advance(600_000);
    expect(await pods()).toHaveLength(3);
    await remove('Deployment', 'storefront', 'Background');
    // It names its target and is not owned by it.
    expect(await cluster.client.find(autoscaler)).toBeDefined();
  });
});
