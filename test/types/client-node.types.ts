// Compiled only, by test/compat/types.test.ts: kubegc/testing with the types of @kubernetes/client-node.
import type { V1ConfigMap, V1CustomResourceDefinition, V1Deployment, V1Pod } from '@kubernetes/client-node';
import {
  assertCollected,
  type DeleteOptions,
  type Informer,
  type InformerHandler,
  type PatchType,
  type PropagationPolicy,
  type RestClient,
  startCluster,
  type Verb,
} from 'kubegc/testing';

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <T extends true>(): T => true as T;

declare const definition: V1CustomResourceDefinition;
declare const pod: V1Pod;

const deployment: V1Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', ownerReferences: [] },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
};

/** A kind of the caller's own, which says nothing of fields that it does not know. */
interface Shop {
  apiVersion: 'example.com/v1';
  kind: 'Shop';
  metadata: { name: string; namespace?: string };
  spec: { open: boolean };
}
declare const shop: Shop;

await using cluster = await startCluster({ crds: [definition], objects: [deployment, pod], fieldValidation: 'Strict' });
await cluster.load([deployment]);
await cluster.load(deployment);
const { client } = cluster;

const read = await client.get<V1Deployment>({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
same<Same<typeof read, V1Deployment>>();
const found = await client.find<V1Deployment>(deployment);
same<Same<typeof found, V1Deployment | undefined>>();
const created = await client.create(deployment);
same<Same<typeof created, V1Deployment>>();
const replicas: number | undefined = created.spec?.replicas;
const listed = await client.list<V1Pod>({ apiVersion: 'v1', kind: 'Pod' });
same<Same<typeof listed, V1Pod[]>>();
const updated = await client.update(read, { subresource: 'scale', fieldValidation: 'Warn', dryRun: ['All'] });
same<Same<typeof updated, V1Deployment>>();
const applied = await client.apply(deployment, { force: true, fieldManager: 'me' });
same<Same<typeof applied, V1Deployment>>();
same<Same<Awaited<ReturnType<typeof client.updateStatus<V1Deployment>>>, V1Deployment>>();
const patched = await client.patchStatus<V1Deployment>(read, { status: { replicas } });
same<Same<typeof patched, V1Deployment>>();
await client.patch<V1Pod>(pod, [{ op: 'remove', path: '/metadata/labels' }], 'application/json-patch+json');
const { operation, object } = await client.createOrUpdate(deployment, (wanted) => {
  wanted.spec = { ...deployment.spec!, replicas: 2 };
});
same<Same<typeof operation, 'created' | 'updated' | 'unchanged'>>();
same<Same<typeof object, V1Deployment>>();
for await (const event of client.watch<V1Pod>(
  { apiVersion: 'v1', kind: 'Pod' },
  { signal: new AbortController().signal },
)) {
  same<Same<typeof event.object, V1Pod>>();
  same<Same<typeof event.type, 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'>>();
}
await client.delete(read, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } });
await client.deleteAllOf({ apiVersion: 'v1', kind: 'Pod', namespace: 'default' }, { gracePeriodSeconds: 0 });
await client.addFinalizer(deployment, 'example.com/x');
await assertCollected(cluster, read);
cluster.trace().about(deployment);

// A type of one's own needs no index signature; a literal is answered with what every object has.
const opened = await client.create(shop);
same<Same<typeof opened, Shop>>();
const { metadata } = await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } });
const uid: string | undefined = metadata.uid;

const pods: Informer<V1Pod> = await cluster.informer<V1Pod>({ apiVersion: 'v1', kind: 'Pod' });
const handler: InformerHandler<V1Pod> = { updated: (previous, next) => void [previous.status, next.spec, uid] };
pods.addHandler(handler);
const rest: RestClient = client.rest;
await rest.get<V1ConfigMap>({ gvr: { group: '', version: 'v1', resource: 'configmaps' }, name: 'settings' });

same<Same<PropagationPolicy, 'Foreground' | 'Background' | 'Orphan'>>();
const policy: PropagationPolicy = 'Orphan';
const options: DeleteOptions = { propagationPolicy: policy };
await client.delete(pod, options);
const type: PatchType = 'application/merge-patch+json';
await client.patch(pod, {}, type, { subresource: 'status' });
const verb: Verb = 'deletecollection';
cluster.faults.add({ match: { verb, method: 'DELETE' }, drop: 'response' });

// @ts-expect-error -- no such policy
await client.delete(pod, { propagationPolicy: 'foreground' });
// @ts-expect-error -- no such verb
cluster.faults.add({ match: { verb: 'remove' }, drop: 'response' });
// @ts-expect-error -- no such type of patch
await client.patch(pod, {}, 'merge');
// @ts-expect-error -- no such validation
await client.create(pod, { fieldValidation: 'strict' });
// @ts-expect-error -- a name is a text
await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 7 } });
