import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Store } from '../storage/interface.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const apiService = (group: string, version: string, spec: object = {}) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `${version}.${group}` },
  spec: {
    group,
    version,
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { namespace: 'kube-system', name: 'metrics-server' },
    insecureSkipTLSVerify: true,
    ...spec,
  },
});
const metrics = apiService('metrics.k8s.io', 'v1beta1');

let store: Store;
let server: TestServer;
beforeEach(async () => {
  store = openMemoryStore({ clock: systemClock });
  server = await startTestServer({ store });
});

async function groupOf(group: string): Promise<unknown> {
  const { json } = await server.get('/apis', { accept: AGGREGATED });
  return json.items.find(({ metadata }) => metadata?.name === group)?.['versions'];
}

describe('an APIService that names a Service', () => {
  it('API-606 is not available, and says why', async () => {
    const watch = await server.watch(`${apiServices}?watch=1`);
    expect((await server.post(apiServices, metrics)).status).toBe(201);
    await watch.next();
    const { object } = (await watch.next()) ?? {};
    expect(object?.['status']).toEqual({
      conditions: [
        {
          type: 'Available',
          status: 'False',
          lastTransitionTime: expect.stringMatching(/Z$/),
          reason: 'ProxyNotSupported',
          message:
            'this server does not proxy requests to other API servers: requests for metrics.k8s.io/v1beta1 are answered with 503',
        },
      ],
    });
    watch.close();
  });

  it('API-606 answers requests of its group version with 503, which is no proof of absence', async () => {
    const paths = ['', '/nodes', '/namespaces/default/pods/a'].map((rest) => `/apis/metrics.k8s.io/v1beta1${rest}`);
    for (const path of paths) expect((await server.get(path)).status, path).toBe(404);
    await server.post(apiServices, metrics);
    for (const path of paths) {
      const { status, text } = await server.get(path);
      expect([status, text], path).toEqual([503, 'service unavailable\n']);
    }
    expect((await server.delete(paths[2] ?? '')).status).toBe(503);
    expect((await server.get('/apis/metrics.k8s.io/v1')).status).toBe(404);
    await server.delete(`${apiServices}/v1beta1.metrics.k8s.io`);
    for (const path of paths) expect((await server.get(path)).status, path).toBe(404);
  });

  it('API-606 is listed by discovery, stale and without resources, for as long as it is there', async () => {
    expect(await groupOf('metrics.k8s.io')).toBeUndefined();
    await server.post(apiServices, metrics);
    expect(await groupOf('metrics.k8s.io')).toEqual([{ version: 'v1beta1', resources: [], freshness: 'Stale' }]);
    expect((await server.get('/apis/metrics.k8s.io')).json).toMatchObject({
      kind: 'APIGroup',
      versions: [{ groupVersion: 'metrics.k8s.io/v1beta1' }],
    });
    await server.delete(`${apiServices}/v1beta1.metrics.k8s.io`);
    expect(await groupOf('metrics.k8s.io')).toBeUndefined();
  });

  it('API-606 takes nothing from what this server serves itself', async () => {
    const before = await groupOf('apps');
    await server.post(apiServices, apiService('apps', 'v1'));
    expect((await server.get('/apis/apps/v1/deployments')).status).toBe(200);
    expect(await groupOf('apps')).toEqual(before);
  });

  it('API-606 has no condition of another server if this server serves the group version itself', async () => {
    await server.post(apiServices, apiService('apps', 'v1'));
    await server.post(apiServices, metrics);
    const statusOf = async (name: string) => (await server.get(`${apiServices}/${name}`)).json['status'];
    await expect.poll(() => statusOf('v1beta1.metrics.k8s.io')).toMatchObject({ conditions: [{ status: 'False' }] });
    expect(await statusOf('v1.apps')).toEqual({});
  });

  it('API-606 without a Service is none of another server', async () => {
    const { spec, ...rest } = metrics;
    const { service: _, insecureSkipTLSVerify: __, ...local } = spec;
    await server.post(apiServices, { ...rest, spec: local });
    expect((await server.get('/apis/metrics.k8s.io/v1beta1')).status).toBe(404);
  });

  it('API-606 is known from the start of the next server on', async () => {
    await server.post(apiServices, metrics);
    await server.server.stop();
    server = await startTestServer({ store });
    expect((await server.get('/apis/metrics.k8s.io/v1beta1/nodes')).status).toBe(503);
  });
});
