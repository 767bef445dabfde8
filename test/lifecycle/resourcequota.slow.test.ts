import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ResourceQuotaController } from '../../src/lifecycle/resourcequota/resourcequota-controller.ts';
import { configMaps, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const quotas = gvrOf('resourcequotas');
const namespace = 'default';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.run((environment) => new ResourceQuotaController(environment));
});
afterEach(() => cluster.stop());

const statusOf = async (name: string) => (await cluster.get({ gvr: quotas, namespace, name }))?.['status'];
const shows = (name: string, hard: object, used: object) => async () =>
  JSON.stringify(await statusOf(name)) === JSON.stringify({ hard, used });
const quota = (name: string, hard: Record<string, string>) =>
  cluster.create({ gvr: quotas, namespace }, { metadata: { name }, spec: { hard } });
const pod = (name: string) =>
  cluster.create({ gvr: pods, namespace }, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });

describe('the status of quotas', () => {
  it('API-361 counts what is there, what admission lets in, what goes and what ends', async () => {
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'before' } });
    await quota('q', { configmaps: '2', 'count/deployments.apps': '5', pods: '1' });
    const hard = { configmaps: '2', 'count/deployments.apps': '5', pods: '1' };
    await cluster.until(shows('q', hard, { configmaps: '1', 'count/deployments.apps': '0', pods: '0' }));
    await pod('a');
    await expect(pod('b')).rejects.toThrow('exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1');
    await cluster.wait(cluster.client.delete({ gvr: configMaps, namespace, name: 'before' }));
    await cluster.until(shows('q', hard, { configmaps: '0', 'count/deployments.apps': '0', pods: '1' }));
    const ended = { type: 'application/merge-patch+json', body: { status: { phase: 'Succeeded' } } } as const;
    await cluster.wait(cluster.client.patch({ gvr: pods, namespace, name: 'a', subresource: 'status' }, ended));
    await cluster.until(shows('q', hard, { configmaps: '0', 'count/deployments.apps': '0', pods: '0' }));
    await pod('b');
    // At rest it asks for nothing until everything is counted again.
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(60_000);
    expect(cluster.requests).toEqual([]);
  });

  it('API-361 refunds a charge for an object that was not created', async () => {
    await quota('q', { configmaps: '3' });
    await cluster.until(shows('q', { configmaps: '3' }, { configmaps: '0' }));
    const create = () => cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'same' } });
    await create();
    await expect(create()).rejects.toThrow('already exists');
    await expect(create()).rejects.toThrow('already exists');
    await cluster.until(shows('q', { configmaps: '3' }, { configmaps: '1' }));
  });

  it('API-361 misses nothing that is on its way while it counts', async () => {
    await quota('q', { configmaps: '50' });
    await cluster.until(shows('q', { configmaps: '50' }, { configmaps: '0' }));
    await cluster.create({ gvr: configMaps, namespace }, { metadata: { name: 'first' } });
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await cluster.wait(
      Promise.all([
        ...names.map((name) => cluster.client.create({ gvr: configMaps, namespace }, { metadata: { name } })),
        cluster.client.delete({ gvr: configMaps, namespace, name: 'first' }),
      ]),
    );
    await cluster.until(shows('q', { configmaps: '50' }, { configmaps: '20' }));
  });

  it('API-361 follows a changed limit; what nobody serves is not counted', async () => {
    await quota('q', { pods: '1', 'count/widgets.example.com': '1', 'count/nonsense': '1' });
    await cluster.until(
      shows('q', { 'count/nonsense': '1', 'count/widgets.example.com': '1', pods: '1' }, { pods: '0' }),
    );
    const body = { spec: { hard: { pods: '3', 'count/widgets.example.com': null, 'count/nonsense': null } } };
    await cluster.wait(
      cluster.client.patch({ gvr: quotas, namespace, name: 'q' }, { type: 'application/merge-patch+json', body }),
    );
    await cluster.until(shows('q', { pods: '3' }, { pods: '0' }));
  });

  it('API-361 counts a claim of volumes when it moves into the scope of a VolumeAttributesClass', async () => {
    const claims = gvrOf('persistentvolumeclaims');
    const hard = { persistentvolumeclaims: '1' };
    const spec = { hard, scopes: ['VolumeAttributesClass'] };
    await cluster.create({ gvr: quotas, namespace }, { metadata: { name: 'q' }, spec });
    const claim = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'standard',
    };
    await cluster.create({ gvr: claims, namespace }, { metadata: { name: 'plain' }, spec: claim });
    await cluster.until(shows('q', hard, { persistentvolumeclaims: '0' }));
    const reported = (status: object) =>
      cluster.wait(
        cluster.client.patch(
          { gvr: claims, namespace, name: 'plain', subresource: 'status' },
          { type: 'application/merge-patch+json', body: { status } },
        ),
      );
    await reported({ currentVolumeAttributesClassName: 'gold' });
    await cluster.until(shows('q', hard, { persistentvolumeclaims: '1' }));
    const second = { ...claim, volumeAttributesClassName: 'silver' };
    await expect(
      cluster.create({ gvr: claims, namespace }, { metadata: { name: 'other' }, spec: second }),
    ).rejects.toThrow('exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1');
    await reported({ currentVolumeAttributesClassName: null });
    await cluster.until(shows('q', hard, { persistentvolumeclaims: '0' }));
  });

  it('API-361 counts the devices of resource claims by their class', async () => {
    const claims = gvrOf('resourceclaims', 'resource.k8s.io');
    const hard = { 'gpu.deviceclass.resource.k8s.io/devices': '3' };
    await quota('q', hard);
    await cluster.until(shows('q', hard, { 'gpu.deviceclass.resource.k8s.io/devices': '0' }));
    const claim = (name: string, count: number) =>
      cluster.create(
        { gvr: claims, namespace },
        {
          metadata: { name },
          spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', count } }] } },
        },
      );
    await claim('two', 2);
    await expect(claim('more', 2)).rejects.toThrow('exceeded quota: q');
    await cluster.until(shows('q', hard, { 'gpu.deviceclass.resource.k8s.io/devices': '2' }));
    await cluster.wait(cluster.client.delete({ gvr: claims, namespace, name: 'two' }));
    await cluster.until(shows('q', hard, { 'gpu.deviceclass.resource.k8s.io/devices': '0' }));
  });
});
