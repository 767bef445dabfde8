import { describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { type BodyNeed, bodyNeedKey } from '../simulate/body-need.ts';
import { NOW, snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import type { GuardRequest } from './guard-request.ts';
import { DeletionLedger, NOTHING } from './budget.ts';
import { DEFAULT_EXEMPT_GROUPS, DEFAULT_EXEMPT_USERS, type GuardFacts, type GuardVerdict, judge } from './judge.ts';
import { PROTECT } from '../../api/meta/annotations.ts';
import { PROTECT_DEPENDENTS } from './protection.ts';

const reference = (kind: string, name: string, apiVersion = 'v1'): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: uidOf(name),
});
const nowhere: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nowhere', uid: uidOf('nowhere') };
const configMap = (name: string, metadata: KubeObject['metadata'] = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', uid: uidOf(name), ...metadata },
});
const namespace: KubeObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', uid: uidOf('shop') },
  spec: { finalizers: ['kubernetes'] },
};
const protecting = { annotations: { [PROTECT]: 'holds orders' } };

const rules = { exemptUsers: DEFAULT_EXEMPT_USERS, exemptGroups: DEFAULT_EXEMPT_GROUPS, budgets: [] };

/** The objects that a list for a need gives. */
function bodiesFor({ resource, namespace }: BodyNeed, objects: readonly KubeObject[]): KubeObject[] {
  return objects.filter(
    ({ kind, metadata }) =>
      `${kind?.toLowerCase()}s` === resource && (namespace === undefined || metadata?.namespace === namespace),
  );
}

/** Answers the judge's questions, as the guard does. */
function judged(
  request: GuardRequest,
  objects: readonly KubeObject[],
  more: Partial<GuardFacts> = {},
): GuardVerdict & { readonly asked: readonly string[] } {
  const snapshot = snapshotOf(objects);
  const asked: string[] = [];
  let facts: GuardFacts = { rules, spent: NOTHING, now: NOW };
  for (;;) {
    const step = judge(request, facts);
    if ('verdict' in step) return { ...step, asked };
    asked.push(step.need);
    if (step.need === 'right') facts = { ...facts, mayUnprotect: more.mayUnprotect ?? false };
    else if (step.need === 'snapshot') facts = { ...facts, ...more, snapshot };
    else for (const need of step.bodies) snapshot.addBodies(bodyNeedKey(need), bodiesFor(need, objects));
    if (asked.length > 20) throw new Error(`asked without an end: ${asked.join(' ')}`);
  }
}

function request(operation: GuardRequest['operation'], more: Partial<GuardRequest>): GuardRequest {
  return {
    operation,
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: 'shop',
    name: more.oldObject?.metadata?.name ?? '',
    user: { username: 'ann', groups: ['system:authenticated'] },
    dryRun: false,
    ...more,
  };
}

/** Ways to protect the object `child`. */
const protections = {
  nothing: () => ({ owner: {}, child: {} }),
  itself: () => ({ owner: {}, child: protecting }),
  'its owner': () => ({ owner: protecting, child: {} }),
  'its owner, not what that owns': () => ({
    owner: { annotations: { ...protecting.annotations, [PROTECT_DEPENDENTS]: 'false' } },
    child: {},
  }),
} as const;

interface Scene {
  readonly objects: readonly KubeObject[];
  readonly owner: KubeObject;
  readonly child: KubeObject;
}

function scene({ owner, child }: { readonly owner: object; readonly child: object }): Scene {
  const parent = configMap('owner', owner);
  const dependent = configMap('child', { ownerReferences: [reference('ConfigMap', 'owner')], ...child });
  return { objects: [namespace, parent, dependent], owner: parent, child: dependent };
}

/** Each request that deletes `child`. `terminating`: the child is already being deleted and has one finalizer. */
const paths: Readonly<Record<string, (scene: Scene) => GuardRequest>> = {
  'DELETE of it': ({ child }) => request('DELETE', { oldObject: child }),
  'DELETE of a collection': ({ child }) => request('DELETE', { oldObject: child, name: '' }),
  'DELETE as a dry run': ({ child }) => request('DELETE', { oldObject: child, dryRun: true }),
  'DELETE of its owner': ({ owner }) => request('DELETE', { oldObject: owner }),
  'DELETE of its owner in foreground': ({ owner }) =>
    request('DELETE', { oldObject: owner, options: { propagationPolicy: 'Foreground' } }),
  'DELETE of its namespace': () => request('DELETE', { oldObject: namespace, resource: 'namespaces' }),
  'a namespace finalize': () =>
    request('UPDATE', {
      oldObject: namespace,
      object: { ...namespace, spec: { finalizers: [] } },
      resource: 'namespaces',
      subresource: 'finalize',
    }),
  'an owner reference that points at nothing': ({ child }) =>
    request('UPDATE', {
      oldObject: child,
      object: { ...child, metadata: { ...child.metadata, ownerReferences: [nowhere] } },
    }),
  'the same through status': ({ child }) =>
    request('UPDATE', {
      subresource: 'status',
      oldObject: child,
      object: { ...child, metadata: { ...child.metadata, ownerReferences: [nowhere] } },
    }),
};

describe('each path that deletes, against each protection', () => {
  for (const [path, requestOf] of Object.entries(paths)) {
    for (const [by, parts] of Object.entries(protections)) {
      const isProtected = by === 'itself' || by === 'its owner';
      // Here the owner is the request's own object, whose own protection counts in any case, or part of the namespace.
      const reachesOwner = by === 'its owner, not what that owns' && /its owner|namespace/.test(path);
      const expected = isProtected || reachesOwner ? 'deny' : 'allow';
      it(`CAS-070 CAS-071 ${path}, protected by ${by}: ${expected}`, () => {
        const built = scene(parts());
        const { verdict, message } = judged(requestOf(built), built.objects);
        expect([verdict, message]).toEqual([
          expected,
          expected === 'deny' ? expect.stringMatching(/\nDETAIL: .+\nHINT: ./s) : '',
        ]);
      });
    }
  }
});

describe('what makes an object garbage', () => {
  it('CAS-070 denies that the last owner that exists is removed, and names the object with the reason', () => {
    const owner = configMap('owner');
    const child = configMap('child', { ...protecting, ownerReferences: [reference('ConfigMap', 'owner'), nowhere] });
    const object = { ...child, metadata: { ...child.metadata, ownerReferences: [nowhere] } };
    const { reason, message } = judged(request('UPDATE', { oldObject: child, object }), [owner, child]);
    expect(reason).toBe('reachesProtected');
    expect(message).toContain('DETAIL: configmaps shop/child: holds orders');
  });

  it('CAS-070 denies that the last finalizer of a terminating object is taken away when that takes a protected one along', () => {
    const owner = configMap('owner', { finalizers: ['example.com/hold'], deletionTimestamp: '2026-11-26T11:00:00Z' });
    const child = configMap('child', { ...protecting, ownerReferences: [reference('ConfigMap', 'owner')] });
    const object = { ...owner, metadata: { ...owner.metadata, finalizers: [] } };
    expect(judged(request('UPDATE', { oldObject: owner, object }), [owner, child]).reason).toBe('reachesProtected');
    const unprotectedChild = configMap('child', { ownerReferences: [reference('ConfigMap', 'owner')] });
    expect(judged(request('UPDATE', { oldObject: owner, object }), [owner, unprotectedChild]).verdict).toBe('allow');
  });

  it('CAS-070 denies that an owner goes which no list shows, as of a kind that cannot be read', () => {
    const owner = configMap('owner');
    const child = configMap('child', { ...protecting, ownerReferences: [reference('ConfigMap', 'owner')] });
    const deleting = request('DELETE', { oldObject: owner });
    expect(judged(deleting, [child]).reason).toBe('reachesProtected');
    const other = configMap('other');
    const references = [reference('ConfigMap', 'owner'), reference('ConfigMap', 'other')];
    const twice = configMap('child', { ...protecting, ownerReferences: references });
    expect(judged(deleting, [twice, other]).verdict).toBe('allow');
  });

  it('CAS-070 lets an owner go with policy Orphan when only what it owns is protected', () => {
    const { objects, owner } = scene({ owner: {}, child: protecting });
    const orphaning = request('DELETE', { oldObject: owner, options: { propagationPolicy: 'Orphan' } });
    expect(judged(orphaning, objects).verdict).toBe('allow');
  });

  it('CAS-070 denies an eviction of a protected pod, and allows one of another', () => {
    const pod = (name: string, metadata: object = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'shop', uid: uidOf(name), ...metadata },
    });
    const evict = (name: string) => request('CREATE', { resource: 'pods', subresource: 'eviction', name });
    const objects = [pod('kept', protecting), pod('other')];
    expect(judged(evict('kept'), objects).message).toMatch(/^pods "kept" in namespace "shop" is not evicted/);
    expect(judged(evict('other'), objects).verdict).toBe('allow');
  });

  it('CAS-073 denies a DELETE of which the server does not say what it deletes', () => {
    expect(judged(request('DELETE', { name: 'x' }), []).reason).toBe('unidentified');
  });
});

it('CAS-071 does not count the annotation that a Deployment copied to its ReplicaSet once the Deployment has none', () => {
  const deployment = (annotations: object): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', uid: uidOf('web'), ...annotations },
  });
  const replicaSet: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: uidOf('web-1'),
      ...protecting,
      ownerReferences: [reference('Deployment', 'web', 'apps/v1')],
    },
  };
  const deleting = (oldObject: KubeObject) => request('DELETE', { group: 'apps', resource: 'deployments', oldObject });
  const free = deployment({});
  expect(judged(deleting(free), [free, replicaSet]).verdict).toBe('allow');
  const kept = deployment(protecting);
  expect(judged(deleting(kept), [kept, replicaSet]).message).toContain(
    'HINT: keep it, or take the protection off first (needs the verb "unprotect"): kubectl annotate deployments.apps/web -n shop kubegc.io/protect-',
  );
});

describe('who takes protection away', () => {
  const child = configMap('child', protecting);
  const bare = { ...child, metadata: { ...child.metadata, annotations: {} } };
  it.each(['', 'status', 'scale'])('CAS-071 needs the verb unprotect, through subresource "%s" too', (subresource) => {
    const taking = request('UPDATE', { oldObject: child, object: bare, subresource });
    expect(judged(taking, [child]).reason).toBe('unprotectForbidden');
    expect(judged(taking, [child], { mayUnprotect: true }).verdict).toBe('allow');
  });

  it('CAS-071 counts a switch to unprotected dependents as taking away, and a changed reason not', () => {
    const with_ = (annotations: Record<string, string>) => ({ ...child, metadata: { ...child.metadata, annotations } });
    const weaker = with_({ [PROTECT]: 'holds orders', [PROTECT_DEPENDENTS]: 'false' });
    expect(judged(request('UPDATE', { oldObject: child, object: weaker }), [child]).verdict).toBe('deny');
    const other = with_({ [PROTECT]: 'other words' });
    expect(judged(request('UPDATE', { oldObject: child, object: other }), [child])).toMatchObject({
      verdict: 'allow',
      asked: [],
    });
  });

  it('CAS-071 needs the verb to cut an object off the owner that protects it', () => {
    const { objects, child: dependent } = scene({ owner: protecting, child: {} });
    const object = { ...dependent, metadata: { ...dependent.metadata, ownerReferences: [] } };
    const cutting = request('UPDATE', { oldObject: dependent, object });
    expect(judged(cutting, objects)).toMatchObject({ reason: 'unprotectForbidden', asked: ['snapshot', 'right'] });
    expect(judged(cutting, objects, { mayUnprotect: true }).verdict).toBe('allow');
  });

  it('CAS-071 protects with an empty reason, and by what the request says although the lists are older', () => {
    const fresh = configMap('child', { annotations: { [PROTECT]: '' } });
    const { verdict, message } = judged(request('DELETE', { oldObject: fresh }), [configMap('child')]);
    expect([verdict, message]).toEqual(['deny', expect.stringContaining('no reason given')]);
  });
});

describe('who is not asked', () => {
  it.each([
    ['system:serviceaccount:kube-system:generic-garbage-collector', ['system:serviceaccounts:kube-system']],
    ['system:kube-controller-manager', []],
    ['system:node:a', ['system:nodes']],
  ])('CAS-073 lets %s end what was begun, without a read', (username, groups) => {
    const child = configMap('child', protecting);
    const answer = judged(request('DELETE', { oldObject: child, user: { username, groups } }), [child]);
    expect(answer).toMatchObject({ verdict: 'allow', reason: 'exempt', asked: [] });
  });

  it('CAS-071 asks about a name that only looks exempt', () => {
    const child = configMap('child', protecting);
    const user = {
      username: 'system:serviceaccount:kube-system-2:x',
      groups: ['system:serviceaccounts:kube-system-2'],
    };
    expect(judged(request('DELETE', { oldObject: child, user }), [child]).verdict).toBe('deny');
  });

  it('CAS-073 reads nothing for a write that deletes nothing', () => {
    const child = configMap('child');
    const labelled = { ...child, metadata: { ...child.metadata, labels: { a: 'b' } } };
    expect(judged(request('UPDATE', { oldObject: child, object: labelled }), [child]).asked).toEqual([]);
    expect(judged(request('CREATE', { object: child }), []).asked).toEqual([]);
  });
});

describe('a budget', () => {
  const { objects, owner } = scene({ owner: {}, child: {} });
  const budgeted = (budget: object) => ({ rules: { ...rules, budgets: [budget] } });
  const deleting = (more: Partial<GuardRequest> = {}) => request('DELETE', { oldObject: owner, ...more });
  const ask = (budget: object, more: Partial<GuardFacts> = {}, of = deleting()) =>
    judged(of, objects, { ...budgeted(budget), ...more });

  it('CAS-071 limits objects per delete, per kind and per hour', () => {
    expect(ask({ perDelete: 2 })).toMatchObject({ reason: 'withinBudget', deletes: { total: 2 } });
    expect(ask({ perDelete: 1 }).message).toContain('2 objects would go, and the budget of one deletion is 1');
    expect(ask({ perDeleteOf: { configmaps: 1 } }).message).toContain('2 configmaps would go');
    const spent = (total: number) => ({ spent: { total, byResource: new Map([['configmaps', total]]) } });
    expect(ask({ perHour: 10 }, spent(8)).verdict).toBe('allow');
    expect(ask({ perHour: 10 }, spent(9)).message).toContain('9 objects went within an hour, 2 more would go');
    expect(ask({ perHourOf: { configmaps: 10, pods: 0 } }, spent(8)).verdict).toBe('allow');
    expect(ask({ perHourOf: { configmaps: 10 } }, spent(9)).message).toContain('9 configmaps went within an hour');
  });

  it('CAS-071 limits what goes by an owner reference that points at nothing, too', () => {
    const child = objects.find(({ metadata }) => metadata?.ownerReferences !== undefined)!;
    const metadata = { ...child.metadata, ownerReferences: [reference('ConfigMap', 'nowhere')] };
    const patched = request('UPDATE', { oldObject: child, object: { ...child, metadata } });
    const refused = ask({ perDelete: 0 }, {}, patched);
    expect(refused.reason).toBe('exceedsBudget');
    // The message names no command to approve, because only a DELETE can be approved.
    expect(refused.message).toMatch(
      /^configmaps "child" in namespace "shop" is not changed: the budget is exceeded\nDETAIL: .*\nHINT: make fewer objects go/,
    );
    expect(refused.message).not.toContain('kubectl annotate');
    expect(ask({ perDelete: 1 }, {}, patched).reason).toBe('withinBudget');
  });

  it('CAS-071 remembers what each user deleted within an hour, by kind', () => {
    const ledger = new DeletionLedger();
    const pods = (total: number) => ({ total, byResource: new Map([['pods', total]]) });
    ledger.note('ann', pods(2), NOW);
    ledger.note('ann', pods(3), NOW + 1_800_000);
    ledger.note('ben', pods(9), NOW);
    expect(ledger.spent('ann', NOW + 1_800_000)).toEqual(pods(5));
    expect(ledger.spent('ann', NOW + 3_700_000)).toEqual(pods(3));
    expect(ledger.spent('ann', NOW + 7_300_000)).toEqual(NOTHING);
  });

  it('CAS-071 counts for the users and groups that it names', () => {
    expect(ask({ perDelete: 1, users: ['ben'] }).verdict).toBe('allow');
    expect(ask({ perDelete: 1, users: ['ann'] }).verdict).toBe('deny');
    expect(ask({ perDelete: 1, groups: ['system:authenticated'] }).verdict).toBe('deny');
  });

  it('CAS-072 is passed by an approved plan for ten minutes, as long as the plan is the same', () => {
    const { message } = ask({ perDelete: 1 });
    const approval = /kubegc\.io\/approved-plan=(\S+)/.exec(message)?.[1] ?? '';
    const annotated = {
      ...owner,
      metadata: { ...owner.metadata, resourceVersion: '99', annotations: { 'kubegc.io/approved-plan': approval } },
    };
    const approved = deleting({ oldObject: annotated });
    expect(ask({ perDelete: 1 }, {}, approved).reason).toBe('planApproved');
    expect(ask({ perDelete: 1 }, { now: NOW + 601_000 }, approved).reason).toBe('exceedsBudget');
    const more = [...objects, configMap('third', { ownerReferences: [reference('ConfigMap', 'owner')] })];
    expect(judged(approved, more, budgeted({ perDelete: 1 })).reason).toBe('exceedsBudget');
  });

  it('CAS-072 an approved plan passes no protection', () => {
    const built = scene({ owner: {}, child: protecting });
    const { verdict, reason } = judged(
      request('DELETE', { oldObject: built.owner }),
      built.objects,
      budgeted({ perDelete: 9 }),
    );
    expect([verdict, reason]).toEqual(['deny', 'reachesProtected']);
  });
});

describe('a claim whose volume is protected, and that a finished pod names', () => {
  const claim: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data',
      namespace: 'shop',
      uid: uidOf('data'),
      finalizers: ['kubernetes.io/pvc-protection'],
    },
    spec: { volumeName: 'volume' },
  };
  const volume: KubeObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'volume', uid: uidOf('volume'), ...protecting },
    spec: {
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { namespace: 'shop', name: 'data', uid: uidOf('data') },
    },
    status: { phase: 'Bound' },
  };
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'done', namespace: 'shop', uid: uidOf('done') },
    spec: { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    status: { phase: 'Succeeded' },
  };
  const deletion = request('DELETE', { resource: 'persistentvolumeclaims', oldObject: claim });

  it('CAS-073 LIFE-152 is deleted: the pod keeps the claim, and with it the volume', () => {
    expect(judged(deletion, [namespace, claim, volume, pod])).toMatchObject({ verdict: 'allow' });
  });

  it('CAS-073 LIFE-155 is refused where the cluster ignores finished pods: the volume would go', () => {
    const ignoring = { rules: { ...rules, ignoreFinishedPods: true } };
    expect(judged(deletion, [namespace, claim, volume, pod], ignoring)).toMatchObject({
      verdict: 'deny',
      reason: 'reachesProtected',
      message: expect.stringContaining('DETAIL: persistentvolumes volume: holds orders') as string,
    });
    const running = { ...pod, status: { phase: 'Running' } };
    expect(judged(deletion, [namespace, claim, volume, running], ignoring)).toMatchObject({ verdict: 'allow' });
  });
});
