import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { lintManifests, type ManifestKind } from './lint-manifests.ts';
import { cyclesOf } from './owner-cycles.ts';

const builtIn: Readonly<Record<string, ManifestKind>> = {
  'v1/ConfigMap': { resource: 'configmaps', namespaced: true },
  'v1/Namespace': { resource: 'namespaces', namespaced: false },
  'apps/v1/Deployment': { resource: 'deployments', namespaced: true },
};
const lint = (objects: KubeObject[]) =>
  lintManifests(objects, { kindOf: (apiVersion, kind) => builtIn[`${apiVersion}/${kind}`], now: 0 }).findings;
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' };
const configMap = (ownerReferences: object[], metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop', ownerReferences: ownerReferences as never, ...metadata },
});
const codesOf = (objects: KubeObject[]) => lint(objects).map(({ code }) => code);

describe('lint of manifests', () => {
  it('CAS-041 finds wrong references without a cluster', () => {
    expect(codesOf([configMap([])])).toEqual([]);
    expect(codesOf([configMap([{ ...owner, uid: '' }])])).toEqual(['missingOwnerField']);
    expect(codesOf([configMap([owner])])).toEqual(['uidInManifest']);
    expect(codesOf([configMap([owner, owner])])).toEqual(['uidInManifest', 'uidInManifest', 'duplicateOwner']);
    expect(codesOf([configMap([{ ...owner, name: 'a' }])])).toEqual(['uidInManifest', 'selfOwner']);
    const controllers = [
      { ...owner, controller: true },
      { ...owner, uid: 'v', name: 'second', controller: true },
    ];
    expect(codesOf([configMap(controllers)])).toEqual(['uidInManifest', 'uidInManifest', 'twoControllers']);
    const elsewhere = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'other' } };
    expect(codesOf([elsewhere, configMap([owner])])).toEqual(['uidInManifest', 'crossNamespaceOwner']);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ownerReferences: [owner] } };
    expect(codesOf([namespace])).toEqual(['uidInManifest', 'namespacedOwner']);
  });

  it('CAS-041 knows the scope of definitions among the manifests', () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: { group: 'example.com', scope: 'Cluster', names: { kind: 'Fleet', plural: 'fleets' } },
    };
    const fleet = { apiVersion: 'example.com/v1', kind: 'Fleet', metadata: { name: 'f', ownerReferences: [owner] } };
    expect(codesOf([definition, fleet])).toEqual(['uidInManifest', 'namespacedOwner']);
  });

  it('CAS-041 derives the right that blockOwnerDeletion needs, unless a role grants it', () => {
    const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', blockOwnerDeletion: true };
    const [, right] = lint([configMap([reference])]);
    expect(right).toMatchObject({ code: 'blockOwnerDeletionRight', severity: 'info' });
    expect(right!.fix).toBe(
      'Add to the role of its controller:\n- apiGroups: ["apps"]\n  resources: ["deployments/finalizers"]\n  verbs: ["update"]',
    );
    const role = (resources: string[], verbs: string[]): KubeObject => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'r' },
      rules: [{ apiGroups: ['apps'], resources, verbs }],
    });
    expect(codesOf([configMap([reference]), role(['deployments/finalizers'], ['update'])])).toEqual(['uidInManifest']);
    expect(codesOf([configMap([reference]), role(['*'], ['*'])])).toEqual(['uidInManifest']);
    expect(codesOf([configMap([reference]), role(['deployments'], ['update'])])).toContain('blockOwnerDeletionRight');
  });
});

describe('cycles', () => {
  it('CAS-005 are found in one pass, and a long chain does not exceed the stack', () => {
    const edges: Record<number, number[]> = { 0: [1], 1: [2], 2: [0, 3], 3: [4], 4: [3], 5: [5], 6: [0] };
    const found = cyclesOf(7, (node) => edges[node] ?? []).map((cycle) => cycle.toSorted((a, b) => a - b));
    expect(found.toSorted((a, b) => a[0]! - b[0]!)).toEqual([
      [0, 1, 2],
      [3, 4],
    ]);
    expect(cyclesOf(200_000, (node) => (node + 1 < 200_000 ? [node + 1] : []))).toEqual([]);
    expect(cyclesOf(200_000, (node) => [(node + 1) % 200_000])).toHaveLength(1);
  });
});
