import { describe, expect, it } from 'vitest';
import { PROTECT } from '../../api/meta/annotations.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { GuardRequest } from './guard-request.ts';
import { guardVerdict } from './guard-verdict.ts';

const NOW = Date.UTC(2026, 10, 26, 12);
const user = { username: 'ann', groups: ['system:authenticated'] };
const protecting = { annotations: { [PROTECT]: 'holds orders' } };

function object(kind: string, name: string, metadata: KubeObject['metadata'] = {}, apiVersion = 'v1'): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...metadata } };
}

const ownedBy = ({ apiVersion = '', kind = '', metadata }: KubeObject) => ({
  ownerReferences: [{ apiVersion, kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '' }],
});

function deletionOf(oldObject: KubeObject, resource: string, more: Partial<GuardRequest> = {}): GuardRequest {
  const name = oldObject.metadata?.name ?? '';
  const place = { group: '', version: 'v1', resource, subresource: '', namespace: 'shop', name };
  return { operation: 'DELETE', ...place, user, dryRun: false, oldObject, ...more };
}

describe('CAS-080 the verdict of a guard', () => {
  const owner = object('ConfigMap', 'owner');
  const child = object('ConfigMap', 'child', ownedBy(owner));
  const kept = { ...child, metadata: { ...child.metadata, ...protecting } };
  const deletion = deletionOf(owner, 'configmaps');

  it('is plain data, and rests on protections, over owner references', () => {
    const refused = guardVerdict(deletion, {}, { objects: [owner, kept], now: NOW });
    expect(refused).toMatchObject({ allowed: false, reason: 'reachesProtected' });
    expect(refused.message).toContain('DETAIL: configmaps shop/child: holds orders');
    expect(JSON.parse(JSON.stringify(refused))).toEqual(refused);
    expect(guardVerdict(deletion, {}, { objects: [owner, child], now: NOW })).toEqual({
      allowed: true,
      reason: 'nothingProtected',
      message: '',
      deletes: { total: 0, byResource: {} },
    });
  });

  it('counts the hour of the user, and passes an approved plan for ten minutes', () => {
    const policy = { budgets: [{ perHour: 3 }] };
    const objects = [owner, child];
    const spent = (total: number) => ({ total, byResource: { configmaps: total } });
    expect(guardVerdict(deletion, policy, { objects, now: NOW, spent: spent(1) })).toMatchObject({
      allowed: true,
      deletes: { total: 2, byResource: { configmaps: 2 } },
    });
    const refused = guardVerdict(deletion, policy, { objects, now: NOW, spent: spent(2) });
    expect(refused).toMatchObject({ allowed: false, reason: 'exceedsBudget', deletes: { total: 0 } });
    const plan = /approved-plan=(\S+)/.exec(refused.message)?.[1] ?? '';
    const agreed = { ...owner, metadata: { ...owner.metadata, annotations: { 'kubegc.io/approved-plan': plan } } };
    const again = (now: number) =>
      guardVerdict(deletionOf(agreed, 'configmaps'), policy, { objects, now, spent: spent(2) }).reason;
    expect([again(NOW + 599_000), again(NOW + 601_000)]).toEqual(['planApproved', 'exceedsBudget']);
  });

  it('asks whether the user may unprotect, and exempts the users of the policy', () => {
    const update = deletionOf(kept, 'configmaps', { operation: 'UPDATE', object: child });
    const objects = [owner, kept];
    expect(guardVerdict(update, {}, { objects, now: NOW }).reason).toBe('unprotectForbidden');
    expect(guardVerdict(update, {}, { objects, now: NOW, mayUnprotect: true }).allowed).toBe(true);
    expect(guardVerdict(update, { exemptUsers: ['ann'] }, { objects, now: NOW }).reason).toBe('exempt');
    const system = deletionOf(kept, 'configmaps', { user: { username: 'system:apiserver', groups: [] } });
    expect(guardVerdict(system, {}, { objects, now: NOW }).reason).toBe('exempt');
  });

  it('finds a volume that goes with its claim, unless a pod keeps the claim', () => {
    const claim = {
      ...object('PersistentVolumeClaim', 'data', { finalizers: ['kubernetes.io/pvc-protection'] }),
      spec: { volumeName: 'volume' },
    };
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'volume', uid: 'uid-volume', ...protecting },
      spec: {
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: 'shop', name: 'data', uid: 'uid-data' },
      },
      status: { phase: 'Bound' },
    };
    const pod = {
      ...object('Pod', 'web'),
      spec: { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    };
    const asked = deletionOf(claim, 'persistentvolumeclaims');
    expect(guardVerdict(asked, {}, { objects: [claim, volume], now: NOW }).reason).toBe('reachesProtected');
    expect(guardVerdict(asked, {}, { objects: [claim, volume, pod], now: NOW }).allowed).toBe(true);
    const done = { ...pod, status: { phase: 'Succeeded' } };
    const ignoring = { ignoreFinishedPods: true };
    expect(guardVerdict(asked, ignoring, { objects: [claim, volume, done], now: NOW }).allowed).toBe(false);
  });

  it('knows the kinds that are given, and refuses objects of others, and those without a uid', () => {
    const widget = object('Widget', 'w', protecting, 'example.com/v1');
    const kinds = [{ group: 'example.com', version: 'v1', kind: 'Widget', resource: 'widgets', namespaced: true }];
    const asked = deletionOf(widget, 'widgets', { group: 'example.com' });
    expect(guardVerdict(asked, {}, { objects: [widget], kinds, now: NOW }).reason).toBe('reachesProtected');
    const from = (objects: readonly KubeObject[]) => () => guardVerdict(asked, {}, { objects, now: NOW });
    expect(from([widget])).toThrow('Widget in example.com/v1 is not a kind that is served');
    expect(from([object('ConfigMap', 'c', { uid: '' })])).toThrow('ConfigMap c has no uid');
  });
});
