import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { StorageVersionController } from '../../src/lifecycle/storage-version/storage-version-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const GROUP = 'internal.apiserver.k8s.io';
const storageVersions = gvrOf('storageversions', GROUP, 'v1alpha1');
const leases = gvrOf('leases', 'coordination.k8s.io');
const namespace = 'kube-system';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = { name: 'v1alpha1', served: true, storage: true, subresources: { status: {} }, schema };
  const kind = 'StorageVersion';
  await cluster.create(
    { gvr: gvrOf('customresourcedefinitions', 'apiextensions.k8s.io') },
    {
      metadata: {
        name: `storageversions.${GROUP}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test only' },
      },
      spec: {
        group: GROUP,
        scope: 'Cluster',
        names: { plural: 'storageversions', singular: 'storageversion', kind, listKind: `${kind}List` },
        versions: [version],
      },
    },
  );
  await cluster.clock.advanceAsync(10_000);
});
afterEach(() => cluster.stop());

const lease = (name: string, identity = 'kube-apiserver') =>
  cluster.create(
    { gvr: leases, namespace },
    { metadata: { name, labels: { 'apiserver.kubernetes.io/identity': identity } } },
  );
const report = async (name: string, ...servers: string[]) => {
  const apiVersion = `${GROUP}/v1alpha1`;
  const made = await cluster.create(
    { gvr: storageVersions },
    { apiVersion, kind: 'StorageVersion', metadata: { name } },
  );
  const status = { storageVersions: servers.map((apiServerID) => ({ apiServerID, encodingVersion: 'v1' })) };
  const ref = { gvr: storageVersions, name, subresource: 'status' };
  await cluster.wait(cluster.client.update(ref, { ...made, status } as KubeObject));
};
const serversOf = async (name: string): Promise<string[] | undefined> => {
  const object = await cluster.get({ gvr: storageVersions, name });
  const { storageVersions: entries } = (object?.['status'] ?? {}) as { storageVersions?: { apiServerID: string }[] };
  return entries?.map(({ apiServerID }) => apiServerID);
};

it('LIFE-730 entries go with the lease of their server, and an object with its last entry', async () => {
  await lease('a');
  await lease('b');
  await report('core.pods', 'a', 'b');
  await report('core.nodes', 'a');
  await cluster.runShared((context) => new StorageVersionController(context));
  await cluster.clock.advanceAsync(60_000);
  expect([await serversOf('core.pods'), await serversOf('core.nodes')]).toEqual([['a', 'b'], ['a']]);
  expect(cluster.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  await cluster.wait(cluster.client.delete({ gvr: leases, namespace, name: 'a' }));
  await cluster.until(async () => (await serversOf('core.pods'))?.length === 1);
  expect(await serversOf('core.pods')).toEqual(['b']);
  await cluster.until(async () => (await cluster.get({ gvr: storageVersions, name: 'core.nodes' })) === undefined);
});

it('LIFE-730 a server that went while no controller ran leaves, and a lease that is no identity does not count', async () => {
  await lease('a');
  await lease('other', 'somebody');
  await report('core.pods', 'gone', 'a', 'other');
  await cluster.runShared((context) => new StorageVersionController(context));
  await cluster.until(async () => (await serversOf('core.pods'))?.length === 1);
  expect(await serversOf('core.pods')).toEqual(['a']);
});
