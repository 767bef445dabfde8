import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildControllers } from '../../src/assembly/build-controllers.ts';
import { controllerNames } from '../../src/assembly/controller-names.ts';
import { formatMicroTime } from '../../src/api/meta/time.ts';
import type { LifecycleSettings } from '../../src/lifecycle/assembly/lifecycle-settings.ts';
import { configMaps, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';
import {
  daemonSets,
  deployments,
  merge,
  NAMESPACE as namespace,
  replicaSets,
  replicationControllers,
  statefulSets,
  template,
} from './workloads.ts';

const HOUR = 3_600_000;
const COLLECTOR = 'garbage-collector-controller';
/** All controllers but the collector, for which `kubegc collect --mode observe` does the same. */
const all = controllerNames.filter((name) => name !== COLLECTOR);
const jobs = gvrOf('jobs', 'batch');
const cronJobs = gvrOf('cronjobs', 'batch');
const nodes = gvrOf('nodes');
const services = gvrOf('services');
const secrets = gvrOf('secrets');
const accounts = gvrOf('serviceaccounts');
const leases = gvrOf('leases', 'coordination.k8s.io');
const claims = gvrOf('persistentvolumeclaims');
const definitions = gvrOf('customresourcedefinitions', 'apiextensions.k8s.io');
const signingRequests = gvrOf('certificatesigningrequests', 'certificates.k8s.io');

/** Each controller that deletes, and the rule of a deletion that it reports. */
const WORKLOADS = [
  'deployment-controller LIFE-309',
  'replicaset-controller LIFE-261',
  'replicationcontroller-controller LIFE-261',
  'statefulset-controller LIFE-615',
  'daemonset-controller LIFE-641',
  'job-controller LIFE-361',
  'ttl-after-finished-controller LIFE-081',
  'cronjob-controller LIFE-401',
  'endpoints-controller LIFE-720',
  'endpointslice-controller LIFE-720',
  'resourceclaim-controller LIFE-701',
  'pod-garbage-collector-controller LIFE-051',
  'taint-eviction-controller LIFE-182',
];
const CLEAN_UP = [
  'namespace-controller LIFE-450',
  'certificatesigningrequest-cleaner-controller LIFE-100',
  'podcertificaterequest-cleaner-controller LIFE-106',
  'storageversion-garbage-collector-controller LIFE-730',
  'cloud-node-lifecycle-controller LIFE-171',
  'node-lease-cleaner-controller LIFE-202',
  'serviceaccount-token-controller LIFE-680',
  'token-cleaner-controller LIFE-682',
  'persistentvolume-binder-controller LIFE-138',
  'persistentvolumeclaim-protection-controller LIFE-823',
];
const TOKENS = 'legacy-serviceaccount-token-cleaner-controller LIFE-681';

let cluster: EmbeddedCluster;
/** The writes of controllers that run dry. */
let writes: string[];

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  writes = [];
});
afterEach(() => cluster.stop());

/** Runs these controllers until the answer is called. */
async function run(selected: readonly string[], lifecycle: LifecycleSettings): Promise<() => void> {
  const { clock, random, logger, metrics } = cluster;
  const client = cluster.clientWith([
    (request, next) => {
      if (request.method !== 'GET' && lifecycle.dryRun !== undefined)
        writes.push(`${request.method} ${request.target}`);
      return next(request);
    },
  ]);
  const { services: running } = await buildControllers({
    selected: new Set(controllerNames.filter((name) => selected.includes(name))),
    client,
    clock,
    randomOf: () => random,
    logger,
    metrics,
    collector: {},
    lifecycle,
    rootCaPem: 'pem',
    issueSecretToken: () => 'token',
    mount: () => {},
    loading: cluster.loading,
  });
  const stop = new AbortController();
  await cluster.run(() => ({
    run: async (signal) => {
      signal.addEventListener('abort', () => stop.abort(), { once: true });
      await Promise.all(running.map((service) => service.run(stop.signal)));
    },
  }));
  return () => stop.abort();
}
const create = (gvr: ReturnType<typeof gvrOf>, name: string, object: object = {}, metadata: object = {}) =>
  cluster.create({ gvr, namespace }, { ...object, metadata: { name, ...metadata } });
const createClusterScoped = (gvr: ReturnType<typeof gvrOf>, name: string, object: object = {}, metadata: object = {}) =>
  cluster.create({ gvr }, { ...object, metadata: { name, ...metadata } });
const patch = (target: Parameters<typeof cluster.client.patch>[0], body: object) =>
  cluster.wait(cluster.client.patch(target, { type: merge, body }));
const remove = (gvr: ReturnType<typeof gvrOf>, name: string, options = {}) =>
  cluster.wait(cluster.client.delete({ gvr, namespace, name }, options));
const readyReplicas = async (gvr: ReturnType<typeof gvrOf>, name: string) => {
  const { status } = ((await cluster.get({ gvr, namespace, name })) ?? {}) as {
    status?: { readyReplicas?: number; numberReady?: number };
  };
  return status?.readyReplicas ?? status?.numberReady ?? 0;
};
const reported = (): string[] => {
  const lines = cluster.logger.lines.filter(({ message }) => message === 'would delete');
  return [...new Set(lines.map(({ fields }) => `${String(fields?.['controller'])} ${String(fields?.['rule'])}`))];
};
const untilReported = (expected: readonly string[], stepMs: number) =>
  cluster
    .until(async () => expected.every((each) => reported().includes(each)), { withinMs: 4 * HOUR, stepMs })
    .catch(() => expect(reported()).toEqual(expect.arrayContaining([...expected])));

async function serve(group: string, version: string, kind: string, scope: 'Cluster' | 'Namespaced'): Promise<void> {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await createClusterScoped(
    definitions,
    `${plural}.${group}`,
    {
      spec: {
        group,
        scope,
        names: { plural, singular, kind, listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
      },
    },
    { annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test only' } },
  );
  const isServed = () => cluster.names({ gvr: gvrOf(plural, group, version) }).then(Boolean, () => false);
  await cluster.until(isServed);
}

it('LIFE-018 the tables here name every controller that deletes', () => {
  const source = readFileSync('src/lifecycle/kit/deletion-rules.ts', 'utf8');
  const deleting = [...source.matchAll(/^ {2}'([a-z-]+-controller)': /gm)].map(([, name]) => name);
  const here = [...WORKLOADS, ...CLEAN_UP, TOKENS].map((entry) => entry.split(' ')[0]);
  expect(here.toSorted()).toEqual(deleting.toSorted());
  expect(deleting).toHaveLength(24);
});

describe('LIFE-018 LIFE-019 every controller that runs dry reports its deletions, and writes nothing', () => {
  it('when it keeps workloads', async () => {
    const stop = await run(all, { simulate: { pods: 'run', nodes: 1 } });
    const app = (name: string) => ({ app: name });
    const selected = (name: string, more: object = {}) => ({
      spec: { replicas: 1, selector: { matchLabels: app(name) }, template: template(app(name)), ...more },
    });
    await create(deployments, 'd', selected('d'));
    await create(replicaSets, 'r', selected('r'));
    await create(statefulSets, 's', selected('s', { serviceName: 's' }));
    await create(replicationControllers, 'c', { spec: { replicas: 1, template: template(app('c')) } });
    await create(daemonSets, 'a', { spec: { selector: { matchLabels: app('a') }, template: template(app('a')) } });
    const endless = { metadata: { annotations: { 'kubegc.io/sim-succeed-after': 'never' } } };
    const never = { restartPolicy: 'Never' };
    await create(jobs, 'long', { spec: { template: { ...template({}, 'i', never), ...endless } } });
    await create(jobs, 'short', { spec: { template: template({}, 'i', never) } });
    const jobTemplate = { spec: { template: template({}, 'i', never) } };
    await create(cronJobs, 'each', { spec: { schedule: '*/1 * * * *', jobTemplate } });
    const ports = [{ port: 80 }];
    await create(services, 'gone', { spec: { selector: app('r'), ports } });
    await create(services, 'kept', { spec: { selector: app('r'), ports } });
    await create(gvrOf('resourceclaimtemplates', 'resource.k8s.io'), 't', {
      spec: { spec: { devices: { requests: [{ name: 'g', exactly: { deviceClassName: 'x' } }] } } },
    });
    const resourceClaims = [{ name: 'g', resourceClaimTemplateName: 't' }];
    await create(pods, 'claimant', { spec: { containers: [{ name: 'c', image: 'i' }], resourceClaims } });

    const made = gvrOf('resourceclaims', 'resource.k8s.io');
    await cluster.until(async () => (await cluster.names({ gvr: made, namespace })).length === 1);
    for (const [gvr, name] of [
      [deployments, 'd'],
      [replicaSets, 'r'],
      [statefulSets, 's'],
      [replicationControllers, 'c'],
      [daemonSets, 'a'],
    ] as const) {
      await cluster.until(async () => (await readyReplicas(gvr, name)) === 1, { withinMs: 120_000 });
    }
    await patch({ gvr: deployments, namespace, name: 'd' }, { spec: { template: template(app('d'), 'two') } });
    await cluster.until(async () => (await cluster.names({ gvr: replicaSets, namespace })).length === 3);
    await cluster.clock.advanceAsync(90_000);
    stop();
    await cluster.clock.settle();

    // Now something is too much everywhere. A Deployment that is not paused cleans up only after it has written its status.
    await patch({ gvr: deployments, namespace, name: 'd' }, { spec: { revisionHistoryLimit: 0, paused: true } });
    for (const gvr of [replicaSets, statefulSets, replicationControllers]) {
      const name = gvr === replicaSets ? 'r' : gvr === statefulSets ? 's' : 'c';
      await patch({ gvr, namespace, name }, { spec: { replicas: 0 } });
    }
    const elsewhere = { template: { spec: { nodeSelector: { no: 'where' } } } };
    await patch({ gvr: daemonSets, namespace, name: 'a' }, { spec: elsewhere });
    await patch({ gvr: jobs, namespace, name: 'long' }, { spec: { suspend: true } });
    await patch({ gvr: jobs, namespace, name: 'short' }, { spec: { ttlSecondsAfterFinished: 0 } });
    await patch({ gvr: cronJobs, namespace, name: 'each' }, { spec: { successfulJobsHistoryLimit: 0, suspend: true } });
    await remove(services, 'gone');
    await create(
      gvrOf('endpointslices', 'discovery.k8s.io'),
      'surplus',
      { addressType: 'IPv6', endpoints: [], ports: [] },
      {
        labels: {
          'kubernetes.io/service-name': 'kept',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
    );
    await patch({ gvr: pods, namespace, name: 'claimant', subresource: 'status' }, { status: { phase: 'Succeeded' } });
    const taints = [{ key: 'k', value: 'v', effect: 'NoExecute' }];
    await patch({ gvr: nodes, name: 'kubegc-0' }, { spec: { taints } });

    const before = await cluster.names({ gvr: pods, namespace });
    await run(all, { dryRun: new Set(all), terminatedPodThreshold: 1 });
    await untilReported(WORKLOADS, 1000);
    expect(writes).toEqual([]);
    expect(await cluster.names({ gvr: pods, namespace })).toEqual(before);
  });

  it('when it cleans up', async () => {
    await serve('certificates.k8s.io', 'v1beta1', 'PodCertificateRequest', 'Namespaced');
    await serve('internal.apiserver.k8s.io', 'v1alpha1', 'StorageVersion', 'Cluster');
    await createClusterScoped(namespaces, 'leaving');
    await cluster.create({ gvr: configMaps, namespace: 'leaving' }, { metadata: { name: 'content' } });
    await cluster.wait(cluster.client.delete({ gvr: namespaces, name: 'leaving' }));
    await createClusterScoped(signingRequests, 'denied', {
      spec: { request: REQUEST, signerName: 'example.com/none', usages: ['client auth'] },
    });
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: 'denied' }];
    await patch({ gvr: signingRequests, name: 'denied', subresource: 'approval' }, { status: { conditions } });
    const podCertificates = gvrOf('podcertificaterequests', 'certificates.k8s.io', 'v1beta1');
    const kinds = { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'PodCertificateRequest' };
    await create(podCertificates, 'p', { ...kinds, spec: {} });
    const storageVersions = gvrOf('storageversions', 'internal.apiserver.k8s.io', 'v1alpha1');
    await createClusterScoped(storageVersions, 'core.pods', {
      apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
      kind: 'StorageVersion',
    });
    const storage = { storageVersions: [{ apiServerID: 'gone', encodingVersion: 'v1' }] };
    await patch({ gvr: storageVersions, name: 'core.pods', subresource: 'status' }, { status: storage });
    const renewed = { leaseDurationSeconds: 40, renewTime: formatMicroTime(cluster.clock.now()) };
    for (const name of ['lost', 'leaked']) {
      const spec = { holderIdentity: name, ...renewed };
      await cluster.create({ gvr: leases, namespace: 'kube-node-lease' }, { metadata: { name }, spec });
    }
    await createClusterScoped(nodes, 'lost');
    const silent = { conditions: [{ type: 'Ready', status: 'False' }] };
    await patch({ gvr: nodes, name: 'lost', subresource: 'status' }, { status: silent });
    await create(accounts, 'robot');
    await create(
      secrets,
      'of-robot',
      { type: 'kubernetes.io/service-account-token' },
      { annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    );
    await remove(accounts, 'robot');
    await cluster.create({ gvr: secrets, namespace: 'kube-system' }, {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', expiration: '2000-01-01T00:00:00Z' },
    } as never);
    const volumes = gvrOf('persistentvolumes');
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'gone', uid: 'gone' };
    await createClusterScoped(volumes, 'v', {
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/tmp/kubegc-dry-run-keeps-this' },
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef,
      },
    });
    await patch({ gvr: volumes, name: 'v', subresource: 'status' }, { status: { phase: 'Released' } });
    await create(
      claims,
      'unused',
      { spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      { annotations: { 'kubegc.io/delete-unused-after': '1h' } },
    );
    const lastTransitionTime = '2020-01-01T00:00:00Z';
    const unused = { type: 'Unused', status: 'True', reason: 'NoPodsUsingPVC', message: 'unused', lastTransitionTime };
    await patch(
      { gvr: claims, namespace, name: 'unused', subresource: 'status' },
      { status: { conditions: [unused] } },
    );

    await run(all, {
      dryRun: new Set(all),
      hostPathDeleter: true,
      unusedClaims: 'delete',
      nodeExistence: { source: { kind: 'lease', absentAfterMs: 600_000 } },
    });
    await untilReported(CLEAN_UP, 30_000);
    expect(writes).toEqual([]);
  });

  it('when it cleans up tokens that nobody uses', async () => {
    await create(accounts, 'robot', { secrets: [{ name: 'old' }] });
    await create(
      secrets,
      'old',
      { type: 'kubernetes.io/service-account-token' },
      {
        annotations: { 'kubernetes.io/service-account.name': 'robot' },
        labels: { 'kubernetes.io/legacy-token-invalid-since': '2000-01-01' },
      },
    );
    await cluster.create(
      { gvr: configMaps, namespace: 'kube-system' },
      {
        metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
        data: { since: '2000-01-01' },
      },
    );
    const name = 'legacy-serviceaccount-token-cleaner-controller';
    await run([name], { dryRun: new Set([name]), legacyTokenCleanUpPeriodMs: HOUR });
    for (let hours = 0; hours < 72; hours++) await cluster.clock.advanceAsync(HOUR);
    expect(reported()).toEqual([TOKENS]);
    expect(writes).toEqual([]);
  });
});

/** A request for the subject CN=x, in base64. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTVZZNy9GVWZUcFJ6b2thdTNwWVpYQ051S1paZFlMS2JoUmhkem9EOEQ4cVA2UVZKYk4vZ0x1Q3JVWlJ5SC9RCjI1eFo3ZDZyWE1vbVkwNzVaRVFDeXJ1Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUFwdjl0Z1VFL3hsSmkKckppUG1PdEFyWHpHcUxGajhqR09qOGN1SkttN1BUQUNJUUMyTzBOL3kzaEV2UlRzTVVTQ1JUVTAwcVBFRFMvaApFYkw2NG9rVzR3TDFEZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
