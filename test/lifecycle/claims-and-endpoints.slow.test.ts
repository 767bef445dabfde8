import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { EndpointsController } from '../../src/lifecycle/endpoints/endpoints-controller.ts';
import { EphemeralVolumeController } from '../../src/lifecycle/ephemeral-volume/ephemeral-volume-controller.ts';
import { ResourceClaimController } from '../../src/lifecycle/resourceclaim/resourceclaim-controller.ts';
import { TokenCleanerController } from '../../src/lifecycle/token-cleaner/token-cleaner-controller.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const namespace = 'default';
const strategic = 'application/strategic-merge-patch+json';
const merge = 'application/merge-patch+json';
const services = gvrOf('services');
const endpoints = gvrOf('endpoints');
const volumeClaims = gvrOf('persistentvolumeclaims');
const claims = gvrOf('resourceclaims', 'resource.k8s.io');
const templates = gvrOf('resourceclaimtemplates', 'resource.k8s.io');
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const makePod = (name: string, spec: object = {}, labels: Record<string, string> = {}) =>
  cluster.create(
    { gvr: pods, namespace },
    { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
  );
const setStatus = (name: string, status: object) =>
  cluster.wait(
    cluster.client.patch({ gvr: pods, namespace, name, subresource: 'status' }, { type: strategic, body: { status } }),
  );
const remove = (gvr: typeof pods, name: string) => cluster.wait(cluster.client.delete({ gvr, namespace, name }));
const get = (gvr: typeof pods, name: string) => cluster.get({ gvr, namespace, name });
const isGone = (gvr: typeof pods, name: string) => async () => (await get(gvr, name)) === undefined;

describe('the Endpoints of a Service', () => {
  const subsets = async () => ((await get(endpoints, 'web')) as { subsets?: object[] } | undefined)?.subsets ?? [];

  it('LIFE-720 name its pods, ready and not, and are deleted with the Service', async () => {
    await cluster.runShared((context) => new EndpointsController(context));
    await cluster.create(
      { gvr: services, namespace },
      { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] } },
    );
    await makePod('one', {}, { app: 'web' });
    await makePod('two', {}, { app: 'web' });
    await setStatus('one', {
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    await setStatus('two', { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] });
    await cluster.until(async () => JSON.stringify(await subsets()).includes('10.0.0.2'));
    expect(await subsets()).toMatchObject([
      {
        addresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'one' } }],
        notReadyAddresses: [{ ip: '10.0.0.2' }],
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      },
    ]);
    await cluster.clock.advanceAsync(5000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(600_000);
    expect(cluster.requests).toEqual([]);
    await remove(services, 'web');
    await cluster.until(isGone(endpoints, 'web'));
  });

  it('LIFE-720 that others wrote are left alone', async () => {
    await cluster.create({ gvr: endpoints, namespace }, { metadata: { name: 'mine' }, subsets: [] });
    await cluster.runShared((context) => new EndpointsController(context));
    await cluster.clock.advanceAsync(60_000);
    expect(await get(endpoints, 'mine')).toBeDefined();
  });
});

describe('a generic ephemeral volume', () => {
  const template = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const spec = { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }] };

  it('LIFE-700 gets a claim, and another when that is deleted early', async () => {
    await cluster.runShared((context) => new EphemeralVolumeController(context));
    await makePod('p', spec);
    await cluster.until(async () => (await get(volumeClaims, 'p-v')) !== undefined);
    const first = await get(volumeClaims, 'p-v');
    expect(first?.metadata?.ownerReferences).toMatchObject([{ kind: 'Pod', name: 'p', controller: true }]);
    await cluster.wait(
      cluster.client.patch(
        { gvr: volumeClaims, namespace, name: 'p-v' },
        { type: merge, body: { metadata: { finalizers: null } } },
      ),
    );
    await remove(volumeClaims, 'p-v');
    await cluster.until(async () => {
      const again = await get(volumeClaims, 'p-v');
      return again !== undefined && again.metadata?.uid !== first?.metadata?.uid;
    });
  });

  it('LIFE-700 whose claim is of another is reported, without a hot loop', async () => {
    await cluster.create({ gvr: volumeClaims, namespace }, { metadata: { name: 'p-v' }, ...template });
    await cluster.runShared((context) => new EphemeralVolumeController(context));
    await makePod('p', spec);
    await cluster.clock.advanceAsync(600_000);
    const { items } = await cluster.wait(cluster.client.list<{ reason: string }>({ gvr: gvrOf('events') }));
    expect(items.map(({ reason }) => reason)).toContain('FailedBinding');
    expect(cluster.requests.length).toBeLessThan(40);
  });
});

describe('a resource claim', () => {
  const claimSpec = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } };
  const made = async () =>
    (await cluster.wait(cluster.client.list({ gvr: claims, namespace }))).items as (KubeObject & {
      status?: { allocation?: unknown; reservedFor?: { name: string }[] };
    })[];

  it('LIFE-701 is made for a pod from a template, and deleted when the pod has ended', async () => {
    await cluster.runShared((context) => new ResourceClaimController(context));
    await makePod('p', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] });
    await cluster.create({ gvr: templates, namespace }, { metadata: { name: 't' }, spec: { spec: claimSpec } });
    await cluster.until(async () => (await made()).length === 1);
    const [claim] = await made();
    await cluster.until(async () =>
      JSON.stringify(await get(pods, 'p')).includes(`"resourceClaimName":"${claim?.metadata?.name ?? ''}"`),
    );
    await setStatus('p', { phase: 'Succeeded' });
    await cluster.until(async () => (await made()).length === 0);
  });

  it('LIFE-701 loses the pods that are gone, and then its allocation when it is deleted', async () => {
    await cluster.create(
      { gvr: claims, namespace },
      { metadata: { name: 'c', finalizers: ['resource.kubernetes.io/delete-protection'] }, spec: claimSpec },
    );
    const here = (await makePod('here', { resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] })) as KubeObject;
    const reservedFor = [
      { resource: 'pods', name: 'gone', uid: 'old' },
      { resource: 'pods', name: 'here', uid: here.metadata?.uid },
    ];
    const allocation = { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'x' }] } };
    const ref = { gvr: claims, namespace, name: 'c', subresource: 'status' };
    await cluster.wait(cluster.client.patch(ref, { type: merge, body: { status: { allocation, reservedFor } } }));
    await cluster.runShared((context) => new ResourceClaimController(context));
    await cluster.until(async () => (await made())[0]?.status?.reservedFor?.length === 1);
    expect((await made())[0]?.status?.allocation).toBeDefined();
    await remove(claims, 'c');
    await remove(pods, 'here');
    await cluster.until(isGone(claims, 'c'));
  });
});

describe('a bootstrap token', () => {
  it('LIFE-682 is deleted at its expiration', async () => {
    const secrets = gvrOf('secrets');
    const expiration = new Date(cluster.clock.now() + 60_000).toISOString().replace(/\.\d+/, '');
    await cluster.create(
      { gvr: secrets, namespace: 'kube-system' },
      {
        metadata: { name: 'bootstrap-token-abcdef' },
        type: 'bootstrap.kubernetes.io/token',
        stringData: { expiration, 'token-id': 'abcdef', 'token-secret': '0123456789abcdef' },
      },
    );
    const there = () => cluster.get({ gvr: secrets, namespace: 'kube-system', name: 'bootstrap-token-abcdef' });
    await cluster.runShared((context) => new TokenCleanerController(context));
    await cluster.clock.advanceAsync(55_000);
    expect(await there()).toBeDefined();
    await cluster.until(async () => (await there()) === undefined);
  });
});
