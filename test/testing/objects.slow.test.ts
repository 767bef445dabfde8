import { describe, expect, it } from 'vitest';
import { assertCollected, assertOwnedBy, type KubeObject, startCluster } from '../../src/testing/testing.ts';

const acme = { apiVersion: 'v1', kind: 'Namespace', name: 'acme' };
const inside = { apiVersion: 'v1', kind: 'ConfigMap', name: 'inside', namespace: 'acme' };
const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'tenant' };
const tenant = { apiVersion: 'example.com/v1', kind: 'Tenant', name: 'acme' };

const namespaceOf = (owner: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  uid?: string;
}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'acme', ownerReferences: [owner] },
});
const tenants: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tenants.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'tenants', kind: 'Tenant' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('an owner that stands before a namespace', () => {
  it('owns it, and takes it along when it goes', async () => {
    const objects = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: tenant }
---
apiVersion: v1
kind: Namespace
metadata:
  name: acme
  ownerReferences: [{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: tenant }]
`;
    await using cluster = await startCluster({ objects });
    await assertOwnedBy(cluster, acme, await cluster.client.get(role));
    await cluster.client.delete(role);
    await cluster.settled({ advanceMs: 60_000 });
    await assertCollected(cluster, acme);
  });

  it('may be a custom resource, and have owners itself; what is in the namespace may stand before it', async () => {
    await using cluster = await startCluster({
      crds: tenants,
      objects: [
        { apiVersion: inside.apiVersion, kind: inside.kind, metadata: { name: 'inside', namespace: 'acme' } },
        { apiVersion: role.apiVersion, kind: role.kind, metadata: { name: role.name } },
        { apiVersion: tenant.apiVersion, kind: tenant.kind, metadata: { name: tenant.name, ownerReferences: [role] } },
        namespaceOf(tenant),
      ],
    });
    await assertOwnedBy(cluster, acme, await cluster.client.get(tenant));
    await assertOwnedBy(cluster, tenant, await cluster.client.get(role));
    await cluster.client.get(inside);
  });

  it('may be meant by the uid that it was written down with', async () => {
    await using cluster = await startCluster({
      objects: [
        { apiVersion: role.apiVersion, kind: role.kind, metadata: { name: role.name, uid: 'written' } },
        namespaceOf({ ...role, uid: 'written' }),
      ],
    });
    await assertOwnedBy(cluster, acme, await cluster.client.get(role));
  });

  it('has to be there', async () => {
    await expect(startCluster({ objects: [namespaceOf(role)] })).rejects.toThrow(
      'cannot create Namespace acme: its owner ClusterRole/tenant has no uid and is not among the objects before it',
    );
  });

  it('is refused, not awaited, when it is the namespace itself', async () => {
    await expect(startCluster({ objects: [namespaceOf(acme)] })).rejects.toThrow('has no uid');
  });
});
