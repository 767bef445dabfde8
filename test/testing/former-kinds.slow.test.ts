import { describe, expect, it } from 'vitest';
import {
  assertCollected,
  assertNotCollected,
  type KubeObject,
  startCluster,
  UnknownKindError,
} from '../../src/testing/testing.ts';

const finalizer = 'example.com/cleanup';
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' };
const version = { storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
const crd = (served = true): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served, ...version }],
  },
});
const objects = [
  { apiVersion: widget.apiVersion, kind: widget.kind, metadata: { name: 'w', finalizers: [finalizer] } },
];

describe('a custom resource whose definition is deleted', () => {
  it('is there until it is gone, and then gone with its kind', async () => {
    await using cluster = await startCluster({ crds: crd(), objects });
    const object = await cluster.client.get(widget);
    await cluster.client.delete(crd());
    await assertNotCollected(cluster, widget);
    await cluster.client.removeFinalizer(widget, finalizer);
    await cluster.settled({ advanceMs: 60_000 });
    expect(await cluster.client.find(crd())).toBeUndefined();
    await assertCollected(cluster, widget);
    await assertCollected(cluster, object);
    expect(await cluster.client.find(widget)).toBeUndefined();
    await cluster.client.removeFinalizer(object, finalizer);
    await expect(assertNotCollected(cluster, widget)).rejects.toThrow('found: it is gone');
    await expect(assertCollected(cluster, { ...widget, name: 'slip' })).rejects.toThrow('was ever there');
    await expect(assertCollected(cluster, { ...widget, kind: 'Wigdet' })).rejects.toThrow(UnknownKindError);
    await expect(cluster.client.find({ ...widget, apiVersion: 'example.org/v1' })).rejects.toThrow(UnknownKindError);
  });

  it('may come back with its kind', async () => {
    await using cluster = await startCluster({ crds: crd() });
    await cluster.client.delete(crd());
    await cluster.settled({ advanceMs: 60_000 });
    await cluster.load([crd(), objects[0]!]);
    await assertNotCollected(cluster, widget);
  });

  it('is not gone when it is only not served', async () => {
    await using cluster = await startCluster({ crds: crd(), objects });
    await cluster.client.patch(crd(), { spec: crd(false)['spec'] });
    await cluster.settled({ advanceMs: 60_000 });
    await expect(assertCollected(cluster, widget)).rejects.toThrow(UnknownKindError);
  });
});
