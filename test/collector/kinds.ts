import type { GroupVersionResource } from '../../src/api/meta/group-version-kind.ts';
import { apiVersionOf } from '../../src/api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';

/** A kind as a test names it: where it is served, and what an object of it needs beside its metadata. */
export interface TestKind {
  readonly gvr: GroupVersionResource;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

function kindOf(
  kind: string,
  gvr: Partial<GroupVersionResource> & { readonly resource: string },
  more: Partial<Pick<TestKind, 'namespaced' | 'body'>> = {},
): TestKind {
  return { kind, gvr: { group: '', version: 'v1', ...gvr }, namespaced: true, body: {}, ...more };
}

export const configMap = kindOf('ConfigMap', { resource: 'configmaps' });
export const secret = kindOf('Secret', { resource: 'secrets' });
export const event = kindOf('Event', { resource: 'events' });
const podSpec = { containers: [{ name: 'c', image: 'i' }] };
export const pod = kindOf('Pod', { resource: 'pods' }, { body: { spec: podSpec } });
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
export const replicationController = kindOf(
  'ReplicationController',
  { resource: 'replicationcontrollers' },
  { body: { spec: { replicas: 0, selector: { a: 'b' }, template } } },
);
const selector = { matchLabels: { a: 'b' } };
export const deployment = kindOf(
  'Deployment',
  { group: 'apps', resource: 'deployments' },
  { body: { spec: { replicas: 0, selector, template } } },
);
export const replicaSet = kindOf(
  'ReplicaSet',
  { group: 'apps', resource: 'replicasets' },
  { body: { spec: { replicas: 0, selector, template } } },
);
export const namespace = kindOf('Namespace', { resource: 'namespaces' }, { namespaced: false });
export const clusterRole = kindOf(
  'ClusterRole',
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { namespaced: false, body: { rules: [] } },
);
export const persistentVolume = kindOf(
  'PersistentVolume',
  { resource: 'persistentvolumes' },
  {
    namespaced: false,
    body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } } },
  },
);
/** Custom: served without a type, so that strategic merge patches are answered with 415 (COL-161). */
export const widget = kindOf('Widget', { group: 'example.com', resource: 'widgets' });
export const clusterWidget = kindOf(
  'ClusterWidget',
  { group: 'example.com', resource: 'clusterwidgets' },
  { namespaced: false },
);

/** Served as plain objects: none of them registers anything. */
export const apiService = kindOf(
  'APIService',
  { group: 'apiregistration.k8s.io', resource: 'apiservices' },
  { namespaced: false },
);

/** The kinds that most tests need; a server of few resources starts sooner. */
export const usualKinds: readonly TestKind[] = [
  configMap,
  secret,
  pod,
  replicationController,
  deployment,
  replicaSet,
  namespace,
  clusterRole,
  persistentVolume,
];

export interface ReferenceFlags {
  readonly block?: boolean;
  readonly controller?: boolean;
}

/** A reference to an object as it is, or with some wrong fields. */
export function refTo(
  owner: KubeObject,
  { block, controller, ...wrong }: ReferenceFlags & Partial<OwnerReference> = {},
): OwnerReference {
  return {
    apiVersion: owner.apiVersion ?? '',
    kind: owner.kind ?? '',
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    ...(controller === undefined ? {} : { controller }),
    ...(block === undefined ? {} : { blockOwnerDeletion: block }),
    ...wrong,
  };
}

/** A reference to something that never was. */
export function refToNothing(kind: TestKind, name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind.gvr),
    kind: kind.kind,
    name,
    uid: `00000000-0000-4000-8000-${hexOf(name)}`,
    ...more,
  };
}

/** Twelve hexadecimal digits, different for different short names. */
function hexOf(name: string): string {
  return Buffer.from(name.slice(0, 6)).toString('hex').padStart(12, '0');
}
