import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { planUndo, type UndoOptions } from './plan-undo.ts';
import { restoreWaves } from './restore-order.ts';
import { asRecorded, said, undoDefaults } from './undo.fixture.ts';
import { coordinatesOf, type LiveObject, type ServedKind, type UndoFacts } from './undo-facts.ts';

const clusterScoped = new Set([
  'Namespace',
  'PersistentVolume',
  'CustomResourceDefinition',
  'ValidatingWebhookConfiguration',
]);

function served(apiVersion: string, kind: string): ServedKind | undefined {
  if (kind === 'Unserved') return undefined;
  const builtIn = !apiVersion.includes('example.com');
  return { resource: `${kind.toLowerCase()}s`, namespaced: !clusterScoped.has(kind), statusSubresource: true, builtIn };
}

interface Sketch {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
  readonly owners?: readonly KubeObject[];
  readonly controller?: boolean;
  readonly fields?: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
}

function object({
  kind,
  name,
  apiVersion = 'v1',
  owners = [],
  controller = false,
  fields,
  metadata,
}: Sketch): KubeObject {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: owner.apiVersion!,
    kind: owner.kind!,
    name: owner.metadata!.name!,
    uid: owner.metadata!.uid!,
    ...(controller ? { controller } : {}),
  }));
  const uid = `uid-${kind}-${name}`;
  const namespace = clusterScoped.has(kind) ? {} : { namespace: 'shop' };
  return { apiVersion, kind, metadata: { name, ...namespace, uid, ownerReferences, ...metadata }, ...fields };
}

const live = (of: KubeObject, values: Partial<LiveObject> = {}): [string, LiveObject] => [
  coordinatesOf(of.apiVersion!, of.kind!, of.metadata!.namespace, of.metadata!.name!),
  { uid: `new-${of.metadata!.name}`, resourceVersion: '7', terminating: false, ownerReferences: [], ...values },
];

function planOf(objects: KubeObject[], there: [string, LiveObject][] = [], options: Partial<UndoOptions> = {}) {
  const facts: UndoFacts = { objects: asRecorded(objects), live: new Map(there), served, finalizerServed: () => false };
  return planUndo(facts, { ...undoDefaults, ...options }).plan;
}

const reasonsOf = (plan: ReturnType<typeof planOf>) =>
  said(plan.objects, ({ action, reason }) => `${action}: ${reason}`);

const deployment = object({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
const replicaSet = (name: string, replicas: number): KubeObject =>
  object({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name,
    owners: [deployment],
    controller: true,
    fields: { spec: { replicas } },
  });
const current = replicaSet('web-2', 3);
const old = replicaSet('web-1', 0);
const pod = object({ kind: 'Pod', name: 'web-2-a', owners: [current], controller: true });

describe('the plan of an undo', () => {
  it('CAS-063 leaves out what a controller makes again, and brings back the history that none makes', () => {
    expect(reasonsOf(planOf([deployment, current, old, pod]))).toEqual({
      'Deployment/web': 'create: recorded',
      'ReplicaSet/web-2': 'leave: rebuiltByController',
      'ReplicaSet/web-1': 'create: recorded',
      'Pod/web-2-a': 'leave: rebuiltByController',
    });
  });

  it('CAS-063 restores managed objects too when asked to', () => {
    const { summary } = planOf([deployment, current, old, pod], [], { managed: 'restore' });
    expect(summary).toEqual({ create: 4, present: 0, leave: 0, conflict: 0, impossible: 0 });
  });

  it('CAS-063 restores a managed object whose controller does not come back, and says that it lost its owner', () => {
    const plan = planOf([pod]);
    expect(reasonsOf(plan)).toEqual({ 'Pod/web-2-a': 'create: recorded' });
    expect(plan.objects[0]!.notes).toEqual([
      'restored without its owner replicaset/web-2, which does not exist and is not restored',
    ]);
  });

  it('CAS-063 leaves out what a controller that is still there makes again', () => {
    expect(reasonsOf(planOf([pod], [live(current, { uid: current.metadata!.uid! })]))).toEqual({
      'Pod/web-2-a': 'leave: rebuiltByController',
    });
  });

  it('CAS-063 distinguishes a restored object from one that took its name', () => {
    const cm = object({ kind: 'ConfigMap', name: 'a' });
    const states: [Partial<LiveObject>, string][] = [
      [{ uid: cm.metadata!.uid! }, 'present: neverDeleted'],
      [{ uid: cm.metadata!.uid!, terminating: true }, 'conflict: stillTerminating'],
      [{ restoredFromUid: cm.metadata!.uid! }, 'present: alreadyRestored'],
      [{ restoredFromUid: 'another' }, 'conflict: replaced'],
      [{ terminating: true }, 'conflict: stillTerminating'],
      [{}, 'conflict: replaced'],
    ];
    for (const [state, expected] of states) {
      expect(reasonsOf(planOf([cm], [live(cm, state)]))).toEqual({ 'ConfigMap/a': expected });
    }
  });

  it('CAS-063 knows what its restored controller has made again', () => {
    const ownerReferences = [{ ...current.metadata!.ownerReferences![0]!, uid: 'new-web' }];
    const there = [
      live(deployment, { restoredFromUid: deployment.metadata!.uid! }),
      live(current, { ownerReferences }),
    ];
    expect(reasonsOf(planOf([deployment, current], there))).toEqual({
      'Deployment/web': 'present: alreadyRestored',
      'ReplicaSet/web-2': 'present: rebuilt',
    });
  });

  it('CAS-063 lets the object that has the name stand in for an owner, and says so', () => {
    const cm = object({ kind: 'ConfigMap', name: 'a', owners: [deployment] });
    const plan = planOf([cm], [live(deployment)]);
    expect(plan.objects[0]!.notes).toEqual(['its owner is now the deployment/web that has the name, with another uid']);
  });

  it('CAS-064 brings back neither Events nor mirror pods, nor what the namespace gets anyway', () => {
    const event = object({ kind: 'Event', name: 'e' });
    const mirror = object({
      kind: 'Pod',
      name: 'm',
      metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } },
    });
    const account = object({ kind: 'ServiceAccount', name: 'default' });
    expect(reasonsOf(planOf([event, mirror, account], [live(account)]))).toEqual({
      'Event/e': 'leave: pastEvent',
      'Pod/m': 'leave: mirrorPod',
      'ServiceAccount/default': 'present: rebuilt',
    });
  });

  it('CAS-064 leaves the address of a Service to the Service, with either policy', () => {
    const address = object({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      name: '10.96.0.7',
      metadata: { labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
    });
    for (const managed of ['rebuild', 'restore'] as const) {
      expect(reasonsOf(planOf([address], [], { managed }))).toEqual({
        'IPAddress/10.96.0.7': 'leave: rebuiltByController',
      });
      expect(reasonsOf(planOf([address], [live(address)], { managed }))).toEqual({
        'IPAddress/10.96.0.7': 'present: rebuilt',
      });
    }
  });

  it('CAS-064 does not run a finished Job again', () => {
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    const job = object({ apiVersion: 'batch/v1', kind: 'Job', name: 'j', fields: { status } });
    expect(reasonsOf(planOf([job]))).toEqual({ 'Job/j': 'leave: finishedJob' });
    const restored = planOf([job], [], { managed: 'restore' });
    expect(restored.objects[0]!.notes).toEqual([
      'the Job had finished; it is restored suspended, so that it does not run again',
    ]);
  });

  it('CAS-064 cannot restore a Secret without its data, or a kind that nobody serves', () => {
    const secret = object({ kind: 'Secret', name: 's' });
    const facts: UndoFacts = {
      objects: [{ body: secret, dataOmitted: true }, { body: object({ kind: 'Unserved', name: 'u' }) }],
      live: new Map(),
      served,
      finalizerServed: () => false,
    };
    expect(reasonsOf(planUndo(facts, undoDefaults).plan)).toEqual({
      'Secret/s': 'impossible: dataNotRecorded',
      'Unserved/u': 'impossible: kindNotServed',
    });
  });

  it('CAS-064 lists finalizers that nothing was found to serve', () => {
    const cm = object({
      kind: 'ConfigMap',
      name: 'a',
      metadata: { finalizers: ['example.com/x', 'foregroundDeletion'] },
    });
    expect(planOf([cm]).objects[0]!.notes).toEqual([
      'finalizer example.com/x is left out: nothing was found that serves it',
    ]);
  });

  it('CAS-064 says when the volume of a claim is gone with its data, or belongs to another claim', () => {
    const claim = object({ kind: 'PersistentVolumeClaim', name: 'd', fields: { spec: { volumeName: 'pv-1' } } });
    const volume = object({ kind: 'PersistentVolume', name: 'pv-1' });
    const gone = ['volume pv-1 is gone and its data with it; the claim gets a new volume'];
    expect(planOf([claim]).objects[0]!.notes).toEqual(gone);
    expect(planOf([claim], [live(volume, { claim: 'shop/other' })]).objects[0]!.notes).toEqual(gone);
    expect(planOf([claim], [live(volume, { claim: 'shop/d' })]).objects[0]!.notes).toBeUndefined();
    expect(planOf([volume, claim]).objects[1]!.notes).toBeUndefined();
  });
});

describe('the order of an undo', () => {
  it('CAS-065 puts namespaces and definitions first, owners before dependents, and webhooks last', () => {
    const definition = object({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'widgets.example.com',
      fields: { spec: { group: 'example.com', names: { kind: 'Widget', plural: 'widgets' } } },
    });
    const widget = object({ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' });
    const below = object({ kind: 'ConfigMap', name: 'below', owners: [widget] });
    const namespace = object({ kind: 'Namespace', name: 'shop' });
    const webhook = object({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      name: 'hook',
    });
    const waves = restoreWaves([webhook, below, widget, namespace, definition]);
    expect(waves).toEqual([6, 3, 2, 0, 0]);
  });

  it('CAS-065 ends on ownership cycles and on a chain of 100,000 owners', () => {
    const a = object({ kind: 'ConfigMap', name: 'a' });
    const b = object({ kind: 'ConfigMap', name: 'b', owners: [a] });
    a.metadata!.ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: b.metadata!.uid! }];
    const [first, second] = restoreWaves([a, b]);
    expect(first).not.toBe(second);
    const chain: KubeObject[] = [];
    for (let i = 0; i < 100_000; i++) {
      chain.push(object({ kind: 'ConfigMap', name: `c${i}`, owners: i === 0 ? [] : [chain[i - 1]!] }));
    }
    const waves = restoreWaves(chain.toReversed());
    expect(waves[0]).toBe(100_000);
    expect(waves.at(-1)).toBe(1);
  });
});
