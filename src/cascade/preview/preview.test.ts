import { describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import { planDrawing } from '../report/plan-drawing.ts';
import { planNames, planText } from '../report/plan-text.ts';
import { PLAIN } from '../report/style.ts';
import { NOW, snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import { namesDigest } from './digest.ts';
import { planCascade } from './preview.ts';

const owner = (kind: string, name: string, apiVersion = 'apps/v1'): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: uidOf(name),
  controller: true,
  blockOwnerDeletion: true,
});

function object(apiVersion: string, kind: string, name: string, metadata: KubeObject['metadata'] = {}): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop', ...metadata } };
}

const scene = (): KubeObject[] => [
  object('apps/v1', 'Deployment', 'web'),
  object('apps/v1', 'Deployment', 'api'),
  object('apps/v1', 'ReplicaSet', 'web-7d', { ownerReferences: [owner('Deployment', 'web')] }),
  ...[0, 1, 2].map((i) => object('v1', 'Pod', `web-7d-${i}`, { ownerReferences: [owner('ReplicaSet', 'web-7d')] })),
  object('v1', 'ConfigMap', 'shared', { ownerReferences: [owner('Deployment', 'web'), owner('Deployment', 'api')] }),
  object('v1', 'Secret', 'tls', { ownerReferences: [owner('Deployment', 'web')] }),
  object('v1', 'Service', 'lb', {
    ownerReferences: [owner('Deployment', 'web')],
    finalizers: ['example.com/lb'],
  }),
  object('batch/v1', 'Job', 'once'),
  object('v1', 'Pod', 'once-1', { ownerReferences: [owner('Job', 'once', 'batch/v1')] }),
];

const plan = (name: string, objects = scene(), assumeFinalizers: 'removed' | 'kept' = 'removed') =>
  planCascade(snapshotOf(objects), { roots: [{ uid: uidOf(name) }], assumeFinalizers }).plan;

describe('a plan', () => {
  it('CAS-010 CAS-016 says of a tree in a cascade of thousands what it says of the tree alone, and changes no snapshot', () => {
    const tree = (n: number): KubeObject[] => [
      object('v1', 'ConfigMap', `tree-${n}`, { ownerReferences: [owner('ConfigMap', 'root', 'v1')] }),
      object('v1', 'Secret', `leaf-${n}`, { ownerReferences: [owner('ConfigMap', `tree-${n}`, 'v1')] }),
    ];
    const trees = Array.from({ length: 1000 }, (_, n) => tree(n));
    const snapshot = snapshotOf([object('v1', 'ConfigMap', 'root'), ...trees.flat()]);
    const planned = (name: string): CascadePlan =>
      planCascade(snapshot, { roots: [{ uid: uidOf(name) }], assumeFinalizers: 'removed' }).plan;
    const whole = planned('root');
    expect(whole.objects.map(({ sequence }) => sequence)).toEqual(whole.objects.map((_, i) => i + 1));
    expect(whole.summary.byKind).toEqual({ configmaps: { deleted: 1001 }, secrets: { deleted: 1000 } });
    const alone = planned('tree-7').objects.find(({ ref }) => ref.name === 'leaf-7')!;
    const among = whole.objects.find(({ ref }) => ref.name === 'leaf-7')!;
    expect({ ...among, sequence: 2 }).toEqual(alone);
    expect(planned('root')).toEqual(whole);
    expect(snapshot.graph.counts.observed).toBe(2001);
  });

  it('CAS-012 CAS-091 gives every object that is touched one outcome with one reason, and no other object', () => {
    const outcomes = plan('web').objects.map(({ ref, outcome, reason }) => `${ref.name} ${outcome} ${reason}`);
    expect(outcomes.toSorted()).toEqual([
      'lb waits finalizer',
      'shared kept otherOwner',
      'tls deleted ownersAbsent',
      'web deleted requested',
      'web-7d deleted ownersAbsent',
      'web-7d-0 deleted ownersAbsent',
      'web-7d-1 deleted ownersAbsent',
      'web-7d-2 deleted ownersAbsent',
    ]);
  });

  it('CAS-011 takes the policy of the type when none is given: a Job orphans its pods', () => {
    const { policy, roots, objects } = plan('once');
    expect({ policy, from: roots[0]?.policyFrom }).toEqual({ policy: 'Orphan', from: 'default' });
    expect(objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`)).toEqual(['once deleted', 'once-1 orphaned']);
  });

  it('CAS-013 says whom each deletion waits for, and numbers them accordingly', () => {
    const { objects } = plan('web');
    const sequence = new Map(objects.map(({ ref, sequence: number }) => [ref.uid, number ?? 0]));
    const waits = objects.flatMap(({ ref, waitsFor = [] }) =>
      waitsFor.map((uid) => [sequence.get(uid)!, sequence.get(ref.uid)!]),
    );
    expect(waits.length).toBeGreaterThan(0);
    for (const [before, after] of waits) expect(before).toBeLessThan(after!);
  });

  it('CAS-013 an owner in the foreground waits for a dependent only if the blocking reference cannot go before the object', () => {
    const objects = [
      ...scene(),
      object('v1', 'Secret', 'owned-twice', {
        ownerReferences: [owner('Deployment', 'web'), owner('ReplicaSet', 'web-7d')],
      }),
    ];
    const waitsFor = (assumeFinalizers: 'removed' | 'kept'): string[] => {
      const roots = [{ uid: uidOf('web'), policy: 'Foreground' as const }];
      const { plan: made } = planCascade(snapshotOf(objects), { roots, assumeFinalizers });
      const found = made.objects.find(({ ref }) => ref.name === 'web')?.waitsFor ?? [];
      return objects.map(({ metadata }) => metadata?.name ?? '').filter((name) => found.includes(uidOf(name)));
    };
    // `shared` and `owned-twice` may lose the reference to `web`, as their other owner is solid when `web` begins to wait.
    expect(waitsFor('removed')).toEqual(['web-7d', 'tls', 'lb']);
    expect(waitsFor('kept')).toEqual(['web-7d', 'tls', 'lb']);
  });

  it('CAS-013 an owner in the foreground waits in vain for a dependent whose other owner went first and that a finalizer holds', () => {
    const web = object('apps/v1', 'Deployment', 'web');
    const { blockOwnerDeletion: _, ...plain } = owner('Deployment', 'web');
    const first = object('v1', 'Secret', 'first', { ownerReferences: [plain] });
    const held = object('v1', 'Secret', 'held', {
      ownerReferences: [owner('Deployment', 'web'), owner('Secret', 'first', 'v1')],
      finalizers: ['example.com/hold'],
    });
    const waitsFor = (objects: readonly KubeObject[]): readonly string[] => {
      const roots = [{ uid: uidOf('web'), policy: 'Foreground' as const }];
      const { plan: made } = planCascade(snapshotOf(objects), { roots, assumeFinalizers: 'kept' });
      return made.objects.find(({ ref }) => ref.name === 'web')?.waitsFor ?? [];
    };
    // The simulation takes one of the two orders, by the order of the list.
    expect([waitsFor([web, first, held]), waitsFor([web, held, first])].toSorted()).toEqual([[], [uidOf('held')]]);
  });

  it('CAS-014 CAS-092 counts per outcome, kind and namespace, and names what holds data', () => {
    const { summary } = plan('web');
    expect(summary.byOutcome).toEqual({ deleted: 6, kept: 1, waits: 1 });
    expect(summary.byKind['pods']).toEqual({ deleted: 3 });
    expect(summary.byNamespace['shop']).toEqual(summary.byOutcome);
    expect(summary.dataBearing.map(({ ref }) => ref.name)).toEqual(['tls']);
  });

  it('CAS-016 CAS-090 has the same digest for the same state, and another when anything it rests on changes', () => {
    const { digest } = plan('web');
    expect(plan('web').digest).toBe(digest);
    const changed = scene();
    changed[5] = object('v1', 'Pod', 'web-7d-2', {
      ownerReferences: [owner('ReplicaSet', 'web-7d')],
      resourceVersion: '99',
    });
    expect(plan('web', changed).digest).not.toBe(digest);
    expect(namesDigest(digest.slice(0, 12), digest)).toBe(true);
    expect(namesDigest(digest.slice(0, 8), digest)).toBe(false);
  });

  it('CAS-017 keeps finalizers when asked to: then the object stays', () => {
    const lb = plan('web', scene(), 'kept').objects.find(({ ref }) => ref.name === 'lb');
    expect(lb).toMatchObject({ outcome: 'waits', finalizers: [{ name: 'example.com/lb' }] });
    expect(lb).not.toHaveProperty('sequence');
  });

  it('CAS-002 CAS-003 says what could not be read, when, and from where; a namespace is then not known to go', () => {
    const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, ...scene()];
    const incomplete = [{ resource: 'jobs.batch', reason: 'forbidden' }];
    const { plan: made } = planCascade(snapshotOf(objects, { incomplete }), {
      roots: [{ uid: uidOf('shop') }],
      assumeFinalizers: 'removed',
    });
    expect(made).toMatchObject({ readAt: new Date(NOW).toISOString().replace('.000', ''), source: 'list', incomplete });
    expect(made.objects[0]).toMatchObject({ outcome: 'unknown', reason: 'resourceUnread' });
  });

  it('is shown as one sentence, a tree, what holds data, and the command that does it', () => {
    const made = plan('web');
    const text = planText(made, {
      style: PLAIN,
      all: false,
      wide: false,
      command: 'kubectl cascade delete deployment/web',
    });
    const lines = text.split('\n');
    expect(lines[0]).toBe(
      'Deleting deployment.apps/web (background) removes 6 objects in 1 namespace; 1 is kept; 1 waits for a finalizer.',
    );
    expect(lines.filter((line) => line.includes('web-7d-1'))).toEqual([
      expect.stringMatching(/^│ {2}├─ pod\/web-7d-1 +deleted +its only owner is gone$/),
    ]);
    expect(lines.find((line) => line.startsWith('DATA'))).toMatch(/secret\/tls {2}its data are lost$/);
    expect(text.endsWith('Run it:    kubectl cascade delete deployment/web\n')).toBe(true);
    expect(planNames(made).split('\n')[0]).toBe('deployment.apps/web');
  });
});

describe('the reason of an object that is deleted after one that waits', () => {
  const finalizers = ['example.com/hold'];
  const why = (name: string, objects: readonly KubeObject[], policy: 'Background' | 'Foreground' = 'Background') => {
    const roots = [{ uid: uidOf(name), policy }];
    const made = planCascade(snapshotOf(objects), { roots, assumeFinalizers: 'removed' }).plan;
    const text = planText(made, { style: PLAIN, all: true, wide: false });
    return /deleted +(requested.*)$/m.exec(text)?.[1];
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const held = (name: string, metadata: KubeObject['metadata'] = {}) =>
    object('v1', 'ConfigMap', name, { finalizers, ...metadata });

  it('names the object in a namespace, and counts the others', () => {
    const objects = [namespace, object('v1', 'ConfigMap', 'free')];
    expect(why('shop', objects)).toBe('requested');
    expect(why('shop', [...objects, held('a')])).toBe('requested; waits for configmap/a');
    expect(why('shop', [...objects, held('a'), held('b')])).toBe('requested; waits for configmap/a and 1 other');
    expect(why('shop', [...objects, ...['a', 'b', 'c'].map((name) => held(name))])).toBe(
      'requested; waits for configmap/a and 2 others',
    );
  });

  it('names the dependent that a root waits for in the foreground, and none in the background', () => {
    const objects = [
      object('apps/v1', 'Deployment', 'web'),
      held('a', { ownerReferences: [owner('Deployment', 'web')] }),
    ];
    expect(why('web', objects, 'Foreground')).toBe('requested; waits for configmap/a');
    expect(why('web', objects)).toBe('requested');
  });

  it('names the object of a definition', () => {
    const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', names: { plural: 'widgets' } },
    };
    const widget = object('example.com/v1', 'Widget', 'w', { finalizers });
    const made = planCascade(
      snapshotOf([definition, widget], {
        kinds: [
          {
            ...kind,
            singular: 'widget',
            shortNames: [],
            categories: [],
            verbs: ['list', 'delete', 'get'],
            subresources: [],
          },
        ],
      }),
      { roots: [{ uid: uidOf('widgets.example.com') }], assumeFinalizers: 'removed' },
    ).plan;
    const text = planText(made, { style: PLAIN, all: true, wide: false });
    expect(text).toMatch(/deleted +requested; waits for widget\.example\.com\/w$/m);
    expect(planDrawing(made).nodes[0]?.label).toMatch(/deleted: requested; waits for widget\.example\.com\/w$/);
  });
});

describe('LIFE-157 a plan for a VolumeAttributesClass', () => {
  const finalizers = ['kubernetes.io/vac-protection'];
  const gold: KubeObject = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'gold', uid: uidOf('gold'), finalizers },
  };
  const claim: KubeObject = {
    ...object('v1', 'PersistentVolumeClaim', 'data', { uid: uidOf('data') }),
    spec: { volumeAttributesClassName: 'gold' },
  };
  const planOf = (roots: readonly string[], claims: readonly KubeObject[]) =>
    planCascade(
      snapshotOf([gold, ...claims], { bodies: { 'persistentvolumeclaims//': claims, 'persistentvolumes//': [] } }),
      { roots: roots.map((name) => ({ uid: uidOf(name) })), assumeFinalizers: 'removed' },
    ).plan;
  const outcomes = (roots: readonly string[], claims: readonly KubeObject[]) =>
    Object.fromEntries(planOf(roots, claims).objects.map(({ ref, outcome }) => [ref.name, outcome]));

  it('deletes it when nothing names it', () => {
    expect(outcomes(['gold'], [])).toEqual({ gold: 'deleted' });
    expect(outcomes(['gold'], [{ ...claim, spec: {} }])).toEqual({ gold: 'deleted' });
  });

  it('says that it waits for the claim that names it', () => {
    const [found] = planOf(['gold'], [claim]).objects;
    expect(found).toMatchObject({
      ref: { name: 'gold' },
      outcome: 'waits',
      reason: 'finalizer',
      waitsFor: [uidOf('data')],
    });
  });

  it('deletes it after the last claim that names it', () => {
    const { objects } = planOf(['gold', 'data'], [claim]);
    expect(objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`).toSorted()).toEqual([
      'data deleted',
      'gold deleted',
    ]);
    const sequence = (name: string) => objects.find(({ ref }) => ref.name === name)?.sequence ?? 0;
    expect(sequence('data')).toBeLessThan(sequence('gold'));
  });

  it('deletes one that was terminating already with its last claim', () => {
    const leaving = { ...gold, metadata: { ...gold.metadata, deletionTimestamp: new Date(NOW).toISOString() } };
    const bodies = { 'persistentvolumeclaims//': [claim], 'persistentvolumes//': [] };
    const { objects } = planCascade(snapshotOf([leaving, claim], { bodies }), {
      roots: [{ uid: uidOf('data') }],
      assumeFinalizers: 'removed',
    }).plan;
    expect(objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`)).toContain('gold deleted');
  });

  it('CAS-012 names one that loses its protection with its last claim, and that another finalizer holds', () => {
    const held: KubeObject = {
      ...gold,
      metadata: {
        ...gold.metadata,
        finalizers: [...finalizers, 'example.com/hold'],
        deletionTimestamp: new Date(NOW).toISOString(),
      },
    };
    const bodies = { 'persistentvolumeclaims//': [claim], 'persistentvolumes//': [] };
    const { objects } = planCascade(snapshotOf([held, claim], { bodies }), {
      roots: [{ uid: uidOf('data') }],
      assumeFinalizers: 'kept',
    }).plan;
    expect(objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`)).toContain('gold waits');
  });

  it('asks for the claims and volumes of the cluster', () => {
    const { needs } = planCascade(snapshotOf([gold]), { roots: [{ uid: uidOf('gold') }], assumeFinalizers: 'removed' });
    expect(needs.map(({ resource }) => resource).toSorted()).toEqual(['persistentvolumeclaims', 'persistentvolumes']);
  });
});

describe('a claim that a finished pod names', () => {
  const claim = object('v1', 'PersistentVolumeClaim', 'data', {
    uid: uidOf('data'),
    finalizers: ['kubernetes.io/pvc-protection'],
  });
  const pod: KubeObject = {
    ...object('v1', 'Pod', 'done', { uid: uidOf('done') }),
    spec: { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    status: { phase: 'Succeeded' },
  };
  const outcomeOf = (options: { readonly ignoreFinishedPods?: boolean }): string[] => {
    const bodies = { 'pods/shop/': [pod], 'persistentvolumeclaims/shop/': [claim], 'persistentvolumes//': [] };
    const roots = [{ uid: uidOf('data') }];
    const request = { roots, assumeFinalizers: 'removed', ...options } as const;
    const { plan: made } = planCascade(snapshotOf([claim, pod], { bodies }), request);
    return made.objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`);
  };

  it('CAS-015 LIFE-152 waits for the pod, as the controllers of Kubernetes have it', () => {
    expect(outcomeOf({})).toEqual(['data waits']);
  });

  it('CAS-015 LIFE-155 is deleted where the cluster ignores finished pods', () => {
    expect(outcomeOf({ ignoreFinishedPods: true })).toEqual(['data deleted']);
  });
});

describe('a plan for a claim whose volume is terminating', () => {
  const claim: KubeObject = object('v1', 'PersistentVolumeClaim', 'data', { uid: uidOf('data') });
  const volumeWith = (finalizers: readonly string[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'volume',
      uid: uidOf('volume'),
      finalizers: [...finalizers],
      deletionTimestamp: new Date(NOW).toISOString(),
    },
    spec: { claimRef: { uid: uidOf('data') }, persistentVolumeReclaimPolicy: 'Retain' },
    status: { phase: 'Bound' },
  });
  const planOf = (finalizers: readonly string[]) => {
    const volume = volumeWith(finalizers);
    const bodies = { 'persistentvolumeclaims/shop/': [claim], 'persistentvolumes//': [volume] };
    const request = { roots: [{ uid: uidOf('data') }], assumeFinalizers: 'kept' } as const;
    return planCascade(snapshotOf([volume, claim], { bodies }), request).plan.objects;
  };

  it('CAS-012 CAS-015 names the volume, which loses its protection, if another finalizer holds it', () => {
    expect(planOf(['kubernetes.io/pv-protection', 'example.com/hold'])).toMatchObject([
      { ref: { name: 'data' }, outcome: 'deleted' },
      { ref: { name: 'volume' }, outcome: 'waits', reason: 'finalizer', waitsFor: [uidOf('data')], via: 'volume' },
    ]);
  });

  it('CAS-012 deletes the volume after the claim if nothing else holds it', () => {
    expect(planOf(['kubernetes.io/pv-protection'])).toMatchObject([
      { ref: { name: 'data' }, outcome: 'deleted', sequence: 1 },
      { ref: { name: 'volume' }, outcome: 'deleted', sequence: 2, waitsFor: [uidOf('data')], via: 'volume' },
    ]);
  });

  it('CAS-012 does not name a volume that the deletion leaves as it is', () => {
    expect(planOf(['example.com/hold'])).toMatchObject([{ ref: { name: 'data' }, outcome: 'deleted' }]);
  });
});

describe('a root that terminates already', () => {
  const deletionTimestamp = '2026-11-28T15:12:43Z';
  const held = object('v1', 'ConfigMap', 'held', { finalizers: ['example.com/hold'] });
  const outcomes = (name: string, objects: readonly KubeObject[], bodies: Record<string, KubeObject[]> = {}) =>
    planCascade(snapshotOf(objects, { bodies }), { roots: [{ uid: uidOf(name) }], assumeFinalizers: 'kept' })
      .plan.objects.map(({ ref, outcome }) => `${ref.name} ${outcome}`)
      .toSorted();

  it('CAS-010 a namespace is emptied, and waits for what its objects wait for', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', uid: uidOf('shop'), deletionTimestamp },
      spec: { finalizers: ['kubernetes'] },
    };
    const objects = [namespace, object('v1', 'ConfigMap', 'free'), held];
    expect(outcomes('shop', objects, { 'namespaces//': [namespace] })).toEqual([
      'free deleted',
      'held waits',
      'shop waits',
    ]);
  });

  it('CAS-010 an owner in the foreground waits for the dependents that block it', () => {
    const web = object('apps/v1', 'Deployment', 'web', { deletionTimestamp, finalizers: ['foregroundDeletion'] });
    const owned = (name: string, finalizers: string[]) =>
      object('v1', 'ConfigMap', name, { finalizers, ownerReferences: [owner('Deployment', 'web')] });
    expect(outcomes('web', [web, owned('free', []), owned('held', ['example.com/hold'])])).toEqual([
      'free deleted',
      'held waits',
      'web waits',
    ]);
  });
});
