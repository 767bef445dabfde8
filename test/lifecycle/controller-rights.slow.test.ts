import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { Authenticator } from '../../src/apiserver/authentication/authenticator.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import type { LifecycleSettings } from '../../src/lifecycle/assembly/lifecycle-settings.ts';
import { selectOnDemand } from '../../src/lifecycle/assembly/on-demand-controllers.ts';
import { OnFirstUse } from '../../src/lifecycle/kit/on-first-use.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { ClaimProtectionController } from '../../src/lifecycle/volume-protection/claim-protection-controller.ts';
import { VolumeProtectionController } from '../../src/lifecycle/volume-protection/volume-protection-controller.ts';
import { type ControllerEnvironment, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';
import {
  daemonSets,
  deployments,
  merge,
  NAMESPACE,
  replicaSets,
  replicationControllers,
  statefulSets,
} from './workloads.ts';

/** The controller, and the ServiceAccount of kube-controller-manager whose ClusterRole it gets along with. */
const accounts: Readonly<Record<string, string>> = {
  'deployment-controller': 'deployment-controller',
  'replicaset-controller': 'replicaset-controller',
  'replicationcontroller-controller': 'replication-controller',
  'statefulset-controller': 'statefulset-controller',
  'daemonset-controller': 'daemon-set-controller',
  'job-controller': 'job-controller',
  'cronjob-controller': 'cronjob-controller',
  'pod-garbage-collector-controller': 'pod-garbage-collector',
  'ttl-after-finished-controller': 'ttl-after-finished-controller',
  'certificatesigningrequest-cleaner-controller': 'certificate-controller',
  'persistentvolume-binder-controller': 'persistent-volume-binder',
  'disruption-controller': 'disruption-controller',
  'endpointslice-controller': 'endpointslice-controller',
  'endpoints-controller': 'endpoint-controller',
  'ephemeral-volume-controller': 'ephemeral-volume-controller',
  'taint-eviction-controller': 'node-controller',
};

/** A header names the user; only `root` may do everything. */
const byHeader: Authenticator = {
  authenticate: ({ headers }) => {
    const username = String(headers['x-user']);
    return {
      username,
      groups: username === 'root' ? ['system:masters'] : ['system:serviceaccounts', 'system:authenticated'],
    };
  },
};
const as =
  (username: string): Interceptor =>
  (request, next) =>
    next({ ...request, headers: { ...request.headers, 'x-user': username } });

let cluster: EmbeddedCluster;
/** `account METHOD path` of what was refused with 403. */
let refused: Set<string>;
/** Accounts that have written something. */
let writers: Set<string>;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start({ authenticator: byHeader, authorizationMode: 'RBAC' }, [as('root')]);
  refused = new Set();
  writers = new Set();
  // kube-controller-manager reads pods for its disruption controller by caches that several controllers share, under another account.
  const rbac = (resource: string) => ({ gvr: gvrOf(resource, 'rbac.authorization.k8s.io') });
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
  await cluster.create(rbac('clusterroles'), { metadata: { name: 'pods' }, rules });
  await cluster.create(rbac('clusterrolebindings'), {
    metadata: { name: 'pods' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'pods' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name: 'disruption-controller' }],
  });
});
afterEach(() => cluster.stop());

/** The environment of a controller that is nobody but this account. */
function environmentOf(account: string): ControllerEnvironment {
  const { clock, random, logger, metrics } = cluster;
  const watching: Interceptor = async (request, next) => {
    const response = await next(request);
    if (response.status === 403) refused.add(`${account} ${request.method} ${request.target.split('?')[0]!}`);
    else if (request.method !== 'GET' && !/\/events\b/.test(request.target)) writers.add(account);
    return response;
  };
  const client = cluster.clientWith([watching, as(`system:serviceaccount:kube-system:${account}`)]);
  return { client, clock, random, logger, metrics };
}

/** Every controller in caches of its own, so that its reads need its own rights too. */
async function runControllers(settings: LifecycleSettings): Promise<void> {
  for (const [name, account] of Object.entries(accounts)) {
    const environment = environmentOf(account);
    const controllers = selectOnDemand(new Set([name]), settings);
    expect(controllers.map((controller) => controller.name)).toEqual([name]);
    const contextOf = () => environment;
    await cluster.run(() => new OnFirstUse({ ...environment, controllers, contextOf, loading: cluster.loading }));
  }
  await cluster.run(() => new NamespaceController(environmentOf('namespace-controller')));
  await cluster.run(() => new ClaimProtectionController(environmentOf('pvc-protection-controller')));
  await cluster.run(() => new VolumeProtectionController(environmentOf('pv-protection-controller')));
  await cluster.run(() => new GarbageCollector(environmentOf('generic-garbage-collector')));
  const { client, clock, random, logger, metrics } = cluster;
  const root = { client, clock, random, logger, metrics };
  const controllers = selectOnDemand(new Set(), { simulate: { pods: 'run', nodes: 2 } });
  await cluster.run(() => new OnFirstUse({ ...root, controllers, contextOf: () => root, loading: cluster.loading }));
}

const fixtures = ['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'daemonset', 'job', 'cronjob'];
const groups: Readonly<Record<string, ReturnType<typeof gvrOf>>> = {
  Deployment: deployments,
  ReplicaSet: replicaSets,
  ReplicationController: replicationControllers,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  Job: gvrOf('jobs', 'batch'),
  CronJob: gvrOf('cronjobs', 'batch'),
  Service: gvrOf('services'),
  StorageClass: gvrOf('storageclasses', 'storage.k8s.io'),
  PersistentVolume: gvrOf('persistentvolumes'),
  PodDisruptionBudget: gvrOf('poddisruptionbudgets', 'policy'),
};

async function load(fixture: string, change: (object: KubeObject) => KubeObject = (object) => object): Promise<void> {
  const text = readFileSync(new URL(`../fixtures/workloads/${fixture}.yaml`, import.meta.url), 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object = change(document.toJS() as KubeObject);
    const { namespace } = object.metadata!;
    const gvr = groups[object.kind!]!;
    await cluster.create(
      { gvr, ...(namespace === undefined ? {} : { namespace }) },
      { ...object, metadata: object.metadata! },
    );
  }
}

const patch = (gvr: ReturnType<typeof gvrOf>, name: string, body: object) =>
  cluster.wait(cluster.client.patch({ gvr, namespace: NAMESPACE, name }, { type: merge, body }));
const readyOf = async (gvr: ReturnType<typeof gvrOf>, name: string) =>
  ((await cluster.get({ gvr, namespace: NAMESPACE, name }))?.['status'] as { readyReplicas?: number } | undefined)
    ?.readyReplicas ?? 0;
const none = async (gvr: ReturnType<typeof gvrOf>, namespace = NAMESPACE) =>
  (await cluster.names({ gvr, namespace })).length === 0;

describe('the rights of controllers', () => {
  it('LIFE-016 suffice as kube-controller-manager gives them, for all that each controller does', async () => {
    await runControllers({ terminatedPodThreshold: 2 });
    for (const fixture of [...fixtures, 'disruption-budget']) {
      // A Job that goes by itself, for the controller that takes it away.
      await load(fixture, (object) =>
        object.kind === 'Job'
          ? { ...object, spec: { ...(object['spec'] as object), ttlSecondsAfterFinished: 30 } }
          : object,
      );
    }
    const volumes = [
      {
        name: 'scratch',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
    ];
    const containers = [{ name: 'c', image: 'scratch' }];
    // The taint of a node below must not evict it: its claim goes after it, at the end.
    const tolerations = [{ operator: 'Exists' }];
    await cluster.create(
      { gvr: pods, namespace: NAMESPACE },
      { metadata: { name: 'scratch' }, spec: { containers, volumes, tolerations } },
    );
    await cluster.until(async () => (await readyOf(statefulSets, 'store')) === 3, { withinMs: 120_000 });
    await cluster.until(async () => (await readyOf(deployments, 'storefront')) === 3);
    await cluster.until(
      async () => (await cluster.get({ gvr: groups['Job']!, namespace: NAMESPACE, name: 'digits' })) === undefined,
      { withinMs: 120_000 },
    );

    // Releases, adopts, scales, rolls out.
    const [orphan] = await cluster.names({ gvr: pods, namespace: NAMESPACE });
    await patch(pods, orphan!, { metadata: { ownerReferences: null } });
    await patch(deployments, 'storefront', { spec: { replicas: 5 } });
    for (const [gvr, name] of [
      [deployments, 'storefront'],
      [statefulSets, 'store'],
    ] as const) {
      const spec = { template: { metadata: { annotations: { version: 'two' } } } };
      await patch(gvr, name, { spec });
    }
    await cluster.until(async () => (await readyOf(deployments, 'storefront')) === 5, { withinMs: 120_000 });
    await cluster.until(async () => (await readyOf(statefulSets, 'store')) === 3, { withinMs: 120_000 });
    const taints = [{ key: 'a', value: 'b', effect: 'NoExecute' }];
    await cluster.wait(
      cluster.client.patch({ gvr: gvrOf('nodes'), name: 'kubegc-1' }, { type: merge, body: { spec: { taints } } }),
    );
    await cluster.clock.advanceAsync(70_000);

    for (const [kind, name] of [
      ['Deployment', 'storefront'],
      ['StatefulSet', 'store'],
      ['ReplicaSet', 'frontend'],
      ['ReplicationController', 'relay'],
      ['CronJob', 'greeting'],
    ] as const) {
      const foreground = { propagationPolicy: 'Foreground' } as const;
      await cluster.wait(cluster.client.delete({ gvr: groups[kind]!, namespace: NAMESPACE, name }, foreground));
    }
    await cluster.until(async () => (await none(replicaSets)) && (await none(statefulSets)), { withinMs: 120_000 });
    const claims = gvrOf('persistentvolumeclaims');
    for (const name of await cluster.names({ gvr: claims, namespace: NAMESPACE })) {
      await cluster.wait(cluster.client.delete({ gvr: claims, namespace: NAMESPACE, name }));
    }
    await cluster.wait(cluster.client.delete({ gvr: pods, namespace: NAMESPACE, name: 'scratch' }));
    await cluster.until(() => none(claims), { withinMs: 120_000 });
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'leaving' } });
    await cluster.create({ gvr: gvrOf('configmaps'), namespace: 'leaving' }, { metadata: { name: 'c' } });
    await cluster.wait(cluster.client.delete({ gvr: namespaces, name: 'leaving' }));
    await cluster.until(async () => (await cluster.get({ gvr: namespaces, name: 'leaving' })) === undefined);

    // A request for a certificate that was denied long ago.
    const csrs = gvrOf('certificatesigningrequests', 'certificates.k8s.io');
    await cluster.create(
      { gvr: csrs },
      {
        metadata: { name: 'old' },
        spec: { request: REQUEST, signerName: 'example.com/none', usages: ['client auth'] },
      },
    );
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: 'denied' }];
    const approval = { gvr: csrs, name: 'old', subresource: 'approval' };
    await cluster.wait(cluster.client.patch(approval, { type: merge, body: { status: { conditions } } }));
    // Two hours in a few steps: nothing else is due meanwhile.
    await cluster.until(async () => (await cluster.get({ gvr: csrs, name: 'old' })) === undefined, {
      withinMs: 7_200_000,
      stepMs: 600_000,
    });

    expect([...refused]).toEqual([]);
    const expected = [
      ...Object.values(accounts),
      'namespace-controller',
      'pvc-protection-controller',
      'generic-garbage-collector',
    ];
    expect(expected.filter((account) => !writers.has(account))).toEqual([]);
  }, 300_000);

  it('LIFE-016 are in force: a ReplicaSet without the right to create pods has none, and says why', async () => {
    const role = {
      gvr: gvrOf('clusterroles', 'rbac.authorization.k8s.io'),
      name: 'system:controller:replicaset-controller',
    };
    const { rules } = (await cluster.get(role)) as unknown as { rules: { resources: string[]; verbs: string[] }[] };
    const fewer = rules.map((rule) =>
      rule.resources.includes('pods') ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'create') } : rule,
    );
    await cluster.wait(cluster.client.patch(role, { type: merge, body: { rules: fewer } }));
    await runControllers({});
    await load('replicaset');
    await cluster.until(async () => {
      const { items } = await cluster.client.list({ gvr: gvrOf('events'), namespace: NAMESPACE });
      return items.some(
        (event) => event['reason'] === 'FailedCreate' && String(event['message']).includes('is forbidden'),
      );
    });
    expect(await cluster.names({ gvr: pods, namespace: NAMESPACE })).toEqual([]);
    expect([...refused]).toEqual([`replicaset-controller POST /api/v1/namespaces/${NAMESPACE}/pods`]);
  });
});

/** A request for the subject CN=x, in base64. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTVZZNy9GVWZUcFJ6b2thdTNwWVpYQ051S1paZFlMS2JoUmhkem9EOEQ4cVA2UVZKYk4vZ0x1Q3JVWlJ5SC9RCjI1eFo3ZDZyWE1vbVkwNzVaRVFDeXJ1Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUFwdjl0Z1VFL3hsSmkKckppUG1PdEFyWHpHcUxGajhqR09qOGN1SkttN1BUQUNJUUMyTzBOL3kzaEV2UlRzTVVTQ1JUVTAwcVBFRFMvaApFYkw2NG9rVzR3TDFEZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
