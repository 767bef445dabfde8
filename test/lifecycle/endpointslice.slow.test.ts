import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { EndpointSliceController } from '../../src/lifecycle/endpointslice/endpointslice-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';
import { merge, NAMESPACE, strategic, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
let work: Workloads;
const services = gvrOf('services');
const slices = gvrOf('endpointslices', 'discovery.k8s.io');

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
  await cluster.runShared((context) => new EndpointSliceController(context));
});
afterEach(() => cluster.stop());

interface Slice extends KubeObject {
  endpoints: { addresses: string[]; conditions: object; targetRef: { name: string } }[] | null;
  ports: { name: string; port: number }[] | null;
}
const service = (spec: object = {}) =>
  work.create(services, 'web', {
    metadata: { labels: { team: 'a' } },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }], ...spec },
  });
async function pod(name: string, podIP: string): Promise<void> {
  const container = { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080 }] };
  await work.create(pods, name, { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } });
  const ref = { gvr: pods, namespace: NAMESPACE, name, subresource: 'status' };
  const status = { podIP, podIPs: [{ ip: podIP }] };
  await cluster.wait(cluster.client.patch(ref, { type: strategic, body: { status } }));
}
const all = () => work.list<Slice>(slices, 'kubernetes.io/service-name=web');
const addresses = async () =>
  (await all()).flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses)).toSorted();

describe('EndpointSlices of a Service', () => {
  it('LIFE-720 name its pods with an address, each with its state, and belong to the Service', async () => {
    const { metadata } = await service();
    await work.until(async () => (await all()).length === 1);
    expect((await all())[0]!.endpoints ?? []).toEqual([]);
    await pod('one', '10.0.0.1');
    await pod('two', '10.0.0.2');
    await work.until(async () => (await addresses()).length === 2);
    const [slice] = await all();
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      metadata: {
        generateName: 'web-',
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: 'web',
            uid: metadata!.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
    expect(slice!.endpoints![0]!.conditions).toEqual({ ready: false, serving: false, terminating: false });
    await work.ready();
    await work.until(async () => JSON.stringify((await all())[0]!.endpoints).includes('"ready":true'));
    await work.delete(pods, 'one', { gracePeriodSeconds: 0 });
    await work.until(async () => (await addresses()).length === 1);
    expect(await addresses()).toEqual(['10.0.0.2']);
  });

  it('hold a hundred endpoints each, and cost nothing while nothing changes', async () => {
    await service();
    for (let number = 0; number < 101; number++) await pod(`p${number}`, `10.0.1.${number}`);
    await work.until(async () => (await addresses()).length === 101);
    expect((await all()).map(({ endpoints }) => endpoints!.length).toSorted()).toEqual([1, 100]);
    await cluster.clock.advanceAsync(10_000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });

  it('come back when they are deleted or changed by hand, and are not made for a Service without selector', async () => {
    await service();
    await pod('one', '10.0.0.1');
    await work.until(async () => (await addresses()).length === 1);
    const name = (await all())[0]!.metadata!.name!;
    await work.patch(slices, name, { endpoints: [] }, merge);
    await work.until(async () => (await addresses()).length === 1);
    await work.delete(slices, name);
    await work.until(async () => (await addresses()).length === 1);
    await work.create(services, 'bare', { spec: { ports: [{ port: 80 }] } });
    await cluster.clock.advanceAsync(1000);
    expect(await all()).toHaveLength(1);
  });
});
