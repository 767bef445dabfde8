import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { systemClock } from '../../base/time/clock.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { startCluster, type TestCluster } from '../../testing/testing.ts';
import type { Explanation, Finding } from '../documents/explanation.ts';
import { configMap, ownedBy, widgetDefinition } from '../observed/observation.fixture.ts';
import { type ExplainCode, explainCodes } from './explain-codes.ts';
import { explain } from './explain.ts';
import { until } from '../../../test/program/until.ts';
import { readEvidence } from './read-evidence.ts';

/** Codes that a test of this file has met, and those of them whose object was seen to go once their step was done. */
const met = new Set<string>();
const freed = new Set<string>();
/** Codes whose evidence and step a test has read, of objects that are not gone yet. */
const pending = new Map<TestCluster, ExplainCode[]>();

async function explained({ client, clock }: TestCluster, object: KubeObject): Promise<Explanation> {
  const discovery = await discover(client.rest);
  const { apiVersion = '', kind = '', metadata } = object;
  const { namespace, name = '' } = metadata ?? {};
  const subject = { apiVersion, kind, resource: '', name, uid: '', ...(namespace === undefined ? {} : { namespace }) };
  const now = { ...systemClock, now: () => clock.now() };
  const explanation = explain(await readEvidence(subject, { client: client.rest, clock: now, discovery }));
  for (const { code } of explanation.findings) met.add(code);
  return explanation;
}

/** The finding of a code; fails when there is none. */
async function findingOf(cluster: TestCluster, object: KubeObject, code: ExplainCode): Promise<Finding> {
  const { findings } = await explained(cluster, object);
  const finding = findings.find((each) => each.code === code);
  expect(findings.map((each) => each.code)).toContain(code);
  expect([finding!.evidence, finding!.nextStep]).not.toContain('');
  pending.set(cluster, [...(pending.get(cluster) ?? []), code]);
  return finding!;
}

const gone = async (cluster: TestCluster, object: KubeObject): Promise<void> => {
  await cluster.settled({ advanceMs: 300_000, timeoutMs: 20_000 });
  await absent(cluster, object);
};

/** The object is gone, so the steps that were done have helped. */
async function absent(cluster: TestCluster, object: KubeObject): Promise<void> {
  expect(await cluster.client.find(object)).toBeUndefined();
  for (const code of pending.get(cluster) ?? []) freed.add(code);
  pending.delete(cluster);
}

/** Carries out a `kubectl patch … --type=json -p '…'` or `kubectl delete …` that an explanation gave. */
async function follow({ client }: TestCluster, nextStep: string, object: KubeObject): Promise<void> {
  const patch = /--type=json -p '(.*)'/.exec(nextStep)?.[1];
  if (patch !== undefined) {
    await client.patch(object, JSON.parse(patch), 'application/json-patch+json');
    return;
  }
  expect(nextStep).toContain(`kubectl delete`);
  await client.delete(object);
}

const widget = (name: string, ownerReferences: object[] = [], metadata: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default', ownerReferences: ownerReferences as never, ...metadata },
});

const foreground = { propagationPolicy: 'Foreground' } as const;

describe('why an object is alive', () => {
  it('CAS-030 says what each owner is, with the proof, and what the collector decides', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const owner = await client.create(configMap('owner'));
    const child = await client.create(configMap('child', [ownedBy(owner)]));
    const explanation = await explained(cluster, child);
    expect(explanation).toMatchObject({
      state: 'alive',
      verdict: 'forget',
      reason: 'solidOwner',
      heldBy: [],
      findings: [],
    });
    expect(explanation.owners).toMatchObject([{ class: 'solid', proof: 'configmap/owner exists with this uid' }]);
    expect(await explained(cluster, owner)).toMatchObject({ state: 'alive', reason: 'noOwners' });
    expect(await explained(cluster, configMap('nobody'))).toMatchObject({ state: 'gone', reason: 'objectAbsent' });
  });

  it('CAS-030 says what a collector would delete, and what it waits for', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    const stale = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'u' };
    const orphan = await client.create(configMap('orphan', [stale]));
    const explanation = await explained(cluster, orphan);
    expect(explanation).toMatchObject({ state: 'alive', reason: 'ownersAbsent' });
    expect(explanation.owners).toMatchObject([
      { class: 'dangling', proof: 'nothing is named configmap/nobody, and no object that was read has this uid' },
    ]);
  });

  it('CAS-030 says unknown of an owner whose kind could not be read', async () => {
    await using cluster = await startCluster({ controllers: [], crds: widgetDefinition('example.com') });
    const { client } = cluster;
    const child = await client.create(
      configMap('child', [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' }]),
    );
    cluster.faults.add({ match: { verb: 'list', resource: 'widgets' }, answer: { status: 403, reason: 'Forbidden' } });
    const explanation = await explained(cluster, child);
    expect(explanation).toMatchObject({ verdict: 'requeue', reason: 'ownerUnreadable' });
    expect(explanation.owners).toMatchObject([{ class: 'unresolvable' }]);
    expect(explanation.owners[0]!.proof).toContain('it is not known whether widget/w exists');
    expect(explanation.incomplete).toMatchObject([{ resource: 'widgets.example.com' }]);
  });
});

describe('why a terminating object does not go', () => {
  it('CAS-031, CAS-032 and CAS-033 name the finalizer, who set it, and the first cause below a blocked owner', async () => {
    await using cluster = await startCluster({ crds: widgetDefinition('example.com') });
    const { client } = cluster;
    const root = await client.create(widget('root'));
    const middle = await client.create(configMap('middle', [ownedBy(root, { blockOwnerDeletion: true })]));
    const leaf = await client.create(
      configMap('leaf', [ownedBy(middle, { blockOwnerDeletion: true })], { finalizers: ['acme.test/cleanup'] }),
    );
    await client.delete(root, foreground);
    await cluster.settled();
    const explanation = await explained(cluster, root);
    expect(explanation).toMatchObject({ state: 'terminating', reason: 'blockedByDependents' });
    expect(explanation.since).toBeDefined();
    const [finalizer, dependent] = explanation.heldBy;
    expect(finalizer).toMatchObject({ type: 'finalizer', name: 'foregroundDeletion' });
    expect(dependent).toMatchObject({
      type: 'blockingDependent',
      ref: { name: 'middle' },
      firstCause: { ref: { name: 'leaf' } },
    });
    expect(dependent!.firstCause!.message).toContain('finalizer acme.test/cleanup');
    const held = await explained(cluster, leaf);
    expect(held.heldBy).toMatchObject([
      { type: 'finalizer', name: 'acme.test/cleanup', setBy: 'kubegc-testing', served: 'unknown' },
    ]);
    const finding = await findingOf(cluster, root, 'finalizerWithoutController');
    expect(finding.evidence).toContain('configmap/leaf waits for finalizer acme.test/cleanup');
    expect(finding.nextStep).toMatch(/^Start its controller .* again: .* Only if it never comes back, .* that leaks /);
    // The controller comes back and removes its finalizer.
    await client.removeFinalizer(leaf, 'acme.test/cleanup');
    await gone(cluster, root);
  });

  it('CAS-031 does not take kubectl, with which a person set a finalizer, for a controller', async () => {
    await using cluster = await startCluster();
    const asKubectl = cluster.client.rest.through((request, next) =>
      next({ ...request, headers: { ...request.headers, 'user-agent': 'kubectl/v1.36.0' } }),
    );
    const held = await asKubectl.create(
      { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' },
      configMap('held', [], { finalizers: ['acme.test/cleanup'] }),
    );
    await cluster.client.delete(held);
    expect((await explained(cluster, held)).heldBy).toMatchObject([{ setBy: 'kubectl' }]);
    const { nextStep } = await findingOf(cluster, held, 'finalizerWithoutController');
    expect(nextStep).toMatch(/^Start its controller again: /);
    await cluster.client.removeFinalizer(held, 'acme.test/cleanup');
    await gone(cluster, held);
  });

  it('CAS-032 a blocking self-reference: one patch frees it', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const self = await client.create(configMap('self'));
    await client.patch(self, { metadata: { ownerReferences: [ownedBy(self, { blockOwnerDeletion: true })] } });
    cluster.pause();
    await client.delete(self, foreground);
    const { evidence, nextStep } = await findingOf(cluster, self, 'blockingSelfReference');
    expect(evidence).toBe('configmap/self owns itself, and that reference blocks');
    await follow(cluster, nextStep, self);
    expect((await explained(cluster, self)).findings).toEqual([]);
    await gone(cluster, self);
  });

  it('CAS-032 a cycle below a deleted root: one patch opens it', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const a = await client.create(configMap('a'));
    const b = await client.create(configMap('b', [ownedBy(a, { blockOwnerDeletion: true })]));
    await client.patch(a, { metadata: { ownerReferences: [ownedBy(b, { blockOwnerDeletion: true })] } });
    cluster.pause();
    await client.delete(a, foreground);
    await client.delete(b, foreground);
    const { evidence, nextStep } = await findingOf(cluster, a, 'blockingCycle');
    expect(evidence).toBe('configmap/a → configmap/b → configmap/a wait for each other');
    await follow(cluster, nextStep, a);
    expect((await explained(cluster, a)).findings.map(({ code }) => code)).not.toContain('blockingCycle');
    await gone(cluster, a);
    await gone(cluster, b);
  });

  it('CAS-032 an owner in a version that is not served: the patch names one that is', async () => {
    await using cluster = await startCluster({ crds: widgetDefinition('example.com') });
    const { client } = cluster;
    const owner = await client.create(widget('owner'));
    const child = await client.create(configMap('child', [{ ...ownedBy(owner), apiVersion: 'example.com/v0' }]));
    await client.delete(owner);
    await cluster.settled({ advanceMs: 60_000 });
    const { evidence, nextStep } = await findingOf(cluster, child, 'ownerVersionNotServed');
    expect(evidence).toContain('the server serves Widget in example.com/v1, not in example.com/v0');
    await follow(cluster, nextStep, child);
    await gone(cluster, child);
  });

  it('CAS-032 a definition deleted while no collector ran: deleting the dependent is the step', async () => {
    await using cluster = await startCluster({ controllers: ['namespace-controller'] });
    const { client } = cluster;
    const definition = await client.create(widgetDefinition('late.example.com'));
    await cluster.settled({ advanceMs: 60_000 });
    const owner = await client.create({ ...widget('owner'), apiVersion: 'late.example.com/v1' });
    const child = await client.create(configMap('child', [ownedBy(owner)]));
    await client.delete(definition);
    await cluster.settled({ advanceMs: 60_000 });
    const { evidence, nextStep } = await findingOf(cluster, child, 'ownerKindGone');
    expect(evidence).toContain('the server does not serve Widget in the group of late.example.com/v1');
    expect(await explained(cluster, child)).toMatchObject({ verdict: 'requeue', reason: 'ownerKindUnknown' });
    await follow(cluster, nextStep, child);
    await gone(cluster, child);
  });

  it('CAS-032 a cluster-scoped object with a namespaced owner is never collected', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const owner = await client.create(configMap('owner'));
    const role: KubeObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'role', ownerReferences: [ownedBy(owner)] },
      rules: [],
    };
    await client.create(role);
    await client.delete(owner);
    await cluster.settled({ advanceMs: 60_000 });
    const { nextStep } = await findingOf(cluster, role, 'namespacedOwner');
    expect(await explained(cluster, role)).toMatchObject({ reason: 'namespacedOwnerOfClusterScoped' });
    await follow(cluster, nextStep, role);
    await gone(cluster, role);
  });

  it('CAS-032 an owner in another namespace', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const { client } = cluster;
    const owner = await client.create(configMap('owner', [], { namespace: 'kube-public' }));
    const child = await client.create(configMap('child', [ownedBy(owner)]));
    const { evidence, nextStep } = await findingOf(cluster, child, 'crossNamespaceOwner');
    expect(evidence).toContain('configmap/owner with this uid is in namespace kube-public');
    await follow(cluster, nextStep, child);
    await absent(cluster, child);
  });

  it('CAS-032 an object that does not fit its schema any more: mending the field frees it', async () => {
    await using cluster = await startCluster({ crds: widgetDefinition('example.com') });
    const { client } = cluster;
    const held = await client.create(widget('held', [], { finalizers: ['acme.test/x'] }));
    await client.delete(held);
    const definition = widgetDefinition('example.com');
    const versions = structuredClone(
      (definition['spec'] as { versions: { schema: { openAPIV3Schema: object } }[] }).versions,
    );
    versions[0]!.schema.openAPIV3Schema = {
      type: 'object',
      required: ['spec'],
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    await client.patch(definition, { spec: { versions } });
    await cluster.settled({ advanceMs: 60_000 });
    await expect(client.removeFinalizer(held, 'acme.test/x')).rejects.toThrow('spec: Required value');
    const { evidence, nextStep } = await findingOf(cluster, held, 'invalidAgainstSchema');
    expect(evidence).toContain('spec: Required value');
    expect(nextStep).toContain('kubectl edit widgets.example.com/held -n default');
    await client.patch(held, { spec: {} });
    await client.removeFinalizer(held, 'acme.test/x');
    await gone(cluster, held);
  });

  it('CAS-032 an admission webhook that does not answer', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const held = await client.create(configMap('held', [], { finalizers: ['acme.test/x'] }));
    await client.delete(held);
    const configuration = await client.create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'dead' },
      webhooks: [
        {
          name: 'dead.acme.test',
          clientConfig: { url: 'https://127.0.0.1:1/validate' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }],
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    const { evidence, nextStep } = await findingOf(cluster, held, 'admissionWebhookFailing');
    expect(evidence).toContain('failed calling webhook "dead.acme.test"');
    expect(nextStep).toContain('If it is gone for good, delete its configuration');
    await client.delete(configuration);
    await client.removeFinalizer(held, 'acme.test/x');
    await absent(cluster, held);
  });

  it('CAS-032 a conversion webhook that does not answer', async () => {
    await using cluster = await startCluster({ clock: 'real' });
    const { client } = cluster;
    const group = 'convert.example.com';
    const base = widgetDefinition(group);
    const spec = base['spec'] as { versions: object[] };
    const v2 = { ...spec.versions[0], name: 'v2', storage: false };
    const definition = await client.create({ ...base, spec: { ...spec, versions: [spec.versions[0], v2] } });
    await cluster.settled({ timeoutMs: 20_000 });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const held = {
      ...widget('held', [], { namespace: 'shop', finalizers: ['acme.test/x'] }),
      apiVersion: `${group}/v1`,
    };
    await client.create(held);
    const webhook = { clientConfig: { url: 'https://127.0.0.1:1/convert' }, conversionReviewVersions: ['v1'] };
    await client.patch(definition, { spec: { conversion: { strategy: 'Webhook', webhook } } });
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    await client.delete(namespace);
    // The list of the kind gets 429. A client retries it for seconds before the list counts as failed.
    const isSaid = async (): Promise<boolean> =>
      (await explained(cluster, namespace)).findings.some(({ code }) => code === 'conversionWebhookFailing');
    await until('the finding is there', isSaid);
    const { evidence, nextStep } = await findingOf(cluster, namespace, 'conversionWebhookFailing');
    expect(evidence).toContain('conversion webhook');
    expect(nextStep).toContain('set spec.conversion.strategy to None');
    await client.patch(definition, { spec: { conversion: { strategy: 'None', webhook: null } } });
    await client.removeFinalizer(held, 'acme.test/x');
    await until('the namespace is gone', async () => (await client.find(namespace)) === undefined);
    await absent(cluster, namespace);
  });

  it('CAS-032 a namespace with an object in it that waits for a finalizer', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const namespace = await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const held = await client.create(configMap('held', [], { namespace: 'shop', finalizers: ['acme.test/x'] }));
    await client.delete(namespace);
    await cluster.settled({ advanceMs: 1000 });
    const { evidence, nextStep } = await findingOf(cluster, namespace, 'namespaceContentRemaining');
    expect(evidence).toContain('configmaps. has 1 resource instances');
    expect(nextStep).toBe('kubectl cascade explain configmaps/held -n shop');
    const { heldBy } = await explained(cluster, namespace);
    const condition = heldBy.find(({ name }) => name === 'NamespaceFinalizersRemaining');
    expect(condition!.firstCause).toMatchObject({ ref: { name: 'held' } });
    await client.removeFinalizer(held, 'acme.test/x');
    await gone(cluster, namespace);
  });

  it('CAS-032 a namespace that cannot be emptied, because an aggregated server does not answer', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const apiService = await client.create({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.example.com' },
      spec: {
        group: 'metrics.example.com',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace: 'kube-system', name: 'nobody' },
      },
    });
    await cluster.settled({ advanceMs: 1000 });
    const namespace = await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await client.delete(namespace);
    await cluster.settled({ advanceMs: 60_000 });
    expect(await client.find(namespace)).toBeDefined();
    const { evidence, nextStep } = await findingOf(cluster, namespace, 'groupDiscoveryFailing');
    expect(evidence).toContain('metrics.example.com/v1beta1');
    expect(nextStep).toContain('kubectl get apiservices shows which server does not answer');
    expect(nextStep).toContain('delete its APIService if it is gone for good');
    const list = await client.list({ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' });
    expect(list.find(({ metadata }) => metadata?.name === apiService.metadata!.name)).toMatchObject({
      status: { conditions: [{ type: 'Available', status: 'False' }] },
    });
    await client.delete(apiService);
    await gone(cluster, namespace);
  });

  it('CAS-032 a namespace that cannot be emptied, because a group does not answer', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const message = 'the server is currently unable to handle the request';
    const answered = cluster.faults.add({
      match: ({ who, path }) => who === 'namespace-controller' && path === '/apis',
      answer: { status: 503, reason: 'ServiceUnavailable', message },
    });
    const namespace = await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await client.create(configMap('a', [], { namespace: 'shop' }));
    await client.delete(namespace);
    await cluster.settled({ advanceMs: 1000 });
    const { evidence, nextStep } = await findingOf(cluster, namespace, 'groupDiscoveryFailing');
    expect(evidence).toContain(message);
    expect(nextStep).toContain('kubectl get apiservices');
    // The group that did not answer is back.
    answered();
    await gone(cluster, namespace);
  });

  it('CAS-032 a controller that makes new dependents while their owner waits', async () => {
    await using cluster = await startCluster();
    const { client, clock } = cluster;
    const owner = await client.create(configMap('owner'));
    const first = await client.create(
      configMap('first', [ownedBy(owner, { blockOwnerDeletion: true })], { finalizers: ['acme.test/x'] }),
    );
    await client.delete(owner, foreground);
    await cluster.settled();
    await clock.advance(2000);
    cluster.pause();
    const again = await cluster
      .clientAs('maker')
      .create(configMap('again', [ownedBy(owner, { blockOwnerDeletion: true })]));
    const { evidence, nextStep } = await findingOf(cluster, owner, 'controllerRecreatesDependents');
    expect(evidence).toContain('1 of the dependents that block configmap/owner were created after its deletion began');
    expect(nextStep).toContain('kubectl delete configmaps/again -n default');
    await client.delete(again);
    await client.removeFinalizer(first, 'acme.test/x');
    await gone(cluster, owner);
  });

  it('CAS-032 a pod on a node that does not exist', async () => {
    // A cluster in which no controller collects such pods.
    await using cluster = await startCluster({ controllers: ['garbage-collector-controller'] });
    const { client, clock } = cluster;
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'lost', namespace: 'default' },
      spec: { nodeName: 'dead', containers: [{ name: 'c', image: 'i' }] },
    };
    await client.create(pod);
    await client.delete(pod);
    expect((await explained(cluster, pod)).findings).toEqual([]);
    await clock.advance(60_000);
    const { evidence, nextStep } = await findingOf(cluster, pod, 'podOnDeadNode');
    expect(evidence).toBe('pod/lost waits for the kubelet of node dead, but node dead does not exist');
    expect(nextStep).toContain('kubectl delete pods/lost -n default --grace-period=0 --force');
    await client.delete(pod, { gracePeriodSeconds: 0 });
    await absent(cluster, pod);
  });

  it('CAS-032 a claim that pods use, and a volume that is bound', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const size = { storage: '1Gi' };
    const volume = await client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv' },
      spec: {
        capacity: size,
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/d' },
        claimRef: { namespace: 'default', name: 'data' },
      },
    });
    const claim = await client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: size }, volumeName: 'pv', storageClassName: '' },
    });
    // Without a version: the controller of volumes writes the same object meanwhile.
    await client.patchStatus(volume, { status: { phase: 'Bound' } });
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'user', namespace: 'default' },
      spec: {
        nodeName: 'n',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
      },
    };
    await client.create(pod);
    await cluster.settled({ advanceMs: 1000 });
    await client.delete(claim);
    await client.delete(volume);
    await cluster.settled({ advanceMs: 1000 });
    const used = await findingOf(cluster, claim, 'claimInUse');
    expect(used.evidence).toBe('1 pod uses persistentvolumeclaim/data: pod/user');
    const bound = await findingOf(cluster, volume, 'volumeBound');
    expect(bound.nextStep).toContain('kubectl delete persistentvolumeclaims/data -n default');
    await client.delete(pod, { gracePeriodSeconds: 0 });
    await gone(cluster, claim);
    await gone(cluster, volume);
  });

  it('CAS-032 claimInUse: a finished pod holds a claim too, and a pod holds the claim of its ephemeral volume', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = (name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec,
    });
    const pod = (name: string, volume: object): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: 'n',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'scratch', ...volume }],
      },
    });
    await client.create(claim('data'));
    const done = await client.create(pod('done', { persistentVolumeClaim: { claimName: 'data' } }));
    await client.updateStatus({ ...done, status: { phase: 'Succeeded' } });
    await client.create(pod('user', { ephemeral: { volumeClaimTemplate: { spec } } }));
    await cluster.settled({ advanceMs: 1000 });
    const scratch = claim('user-scratch');
    await client.delete(claim('data'));
    await client.delete(scratch);
    await cluster.settled({ advanceMs: 1000 });
    const held = await findingOf(cluster, claim('data'), 'claimInUse');
    expect(held.evidence).toBe('1 pod uses persistentvolumeclaim/data: pod/done (finished)');
    const used = await findingOf(cluster, scratch, 'claimInUse');
    expect(used.evidence).toBe('1 pod uses persistentvolumeclaim/user-scratch: pod/user');
    await client.delete(done, { gracePeriodSeconds: 0 });
    await client.delete(pod('user', {}), { gracePeriodSeconds: 0 });
    await gone(cluster, claim('data'));
    await gone(cluster, scratch);
  });

  it('CAS-034b a pod that an eviction request names', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    };
    const created = await client.create(pod);
    const conditions = [
      { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' },
    ];
    await client.updateStatus({ ...created, status: { conditions } });
    await client.delete(pod);
    const { evidence } = await findingOf(cluster, pod, 'evictionRequested');
    expect(evidence).toBe('pod/p: Eviction API: evicting');
  });

  it('LIFE-822 an eviction request is stored and not acted on, and is named once its pod is being deleted', async () => {
    const kind = 'EvictionRequest';
    const plural = 'evictionrequests';
    const group = 'coordination.k8s.io';
    const definition: KubeObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test only' },
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: 'evictionrequest', kind, listKind: `${kind}List` },
        versions: [
          {
            name: 'v1alpha1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    await using cluster = await startCluster({ crds: definition });
    const { client } = cluster;
    const pod = await client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    } as KubeObject);
    const request = await client.create({
      apiVersion: `${group}/v1alpha1`,
      kind,
      metadata: { name: pod.metadata!.uid!, namespace: 'default' },
      spec: { target: { pod: { name: 'p', uid: pod.metadata!.uid } } },
    } as KubeObject);
    await cluster.settled({ advanceMs: 30_000 });
    expect([await client.get(pod), await client.get(request)]).toEqual([pod, request]);
    await client.delete(pod);
    const { evidence, nextStep } = await findingOf(cluster, pod, 'evictionRequested');
    const named = `${request.metadata!.name} asks to evict it`;
    expect(evidence).toBe(`${plural.slice(0, -1)}/${named}`);
    expect(nextStep).toContain(`kubectl get ${plural}.${group}/${request.metadata!.name} -n default -o yaml`);
    // Whoever handles the eviction has ended the pod.
    await client.delete(pod, { gracePeriodSeconds: 0 });
    await absent(cluster, pod);
  });

  it('CAS-032 every code of the catalogue was met above, and its object went after its step', () => {
    expect(Object.keys(explainCodes).filter((code) => !met.has(code))).toEqual([]);
    expect(Object.keys(explainCodes).filter((code) => !freed.has(code))).toEqual([]);
  });
});
