import { beforeEach, describe, expect, it } from 'vitest';
import { configMap, configMaps, startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';
import { samples } from '../samples.ts';

/** Section 16 through the handler. */

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const merge = 'merge' as const;
const withStatus = samples.filter(({ kind }) =>
  [
    'Deployment',
    'ReplicaSet',
    'StatefulSet',
    'DaemonSet',
    'ReplicationController',
    'Job',
    'CronJob',
    'PodDisruptionBudget',
    'Ingress',
    'Service',
    'ResourceQuota',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Node',
    'HorizontalPodAutoscaler',
  ].includes(kind),
);

describe('API-330 status', () => {
  it.each(withStatus.map((sample) => [sample.kind, sample] as const))(
    'update for a %s: spec stays, metadata is stored',
    async (_kind, { collection, object }) => {
      await server.post(collection, object);
      const target = `${collection}/${object.metadata?.name}`;
      const { json: before } = await server.get(target);
      const sent = {
        ...before,
        metadata: {
          ...before.metadata,
          labels: { l: 'x' },
          annotations: { a: 'x' },
          finalizers: ['example.com/s'],
          generation: 99,
        },
        spec: {},
      };
      const { status, json } = await server.put(`${target}/status`, sent);
      expect(status).toBe(200);
      expect(json['spec']).toEqual(before['spec']);
      expect(json.metadata).toMatchObject({
        labels: { l: 'x' },
        annotations: { a: 'x' },
        finalizers: ['example.com/s'],
      });
      expect(json.metadata?.generation).toBe(before.metadata?.generation);
      expect((await server.get(`${target}/status`)).json).toEqual((await server.get(target)).json);
    },
  );

  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const policy = { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] };
  const request = { name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } };
  it.each([
    ['/apis/networking.k8s.io/v1/servicecidrs', { cidrs: ['10.0.0.0/24'] }, {}],
    [
      '/apis/storage.k8s.io/v1/volumeattachments',
      { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
      { attached: true },
    ],
    ['/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', policy, { observedGeneration: 1 }],
    ['/apis/resource.k8s.io/v1/namespaces/default/resourceclaims', { devices: { requests: [request] } }, {}],
  ])('of %s leaves metadata alone', async (collection, spec, status) => {
    const created = await server.post(collection, { metadata: { name: 'x', labels: { l: 'old' } }, spec });
    expect(created.status).toBe(201);
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    const metadata = {
      labels: { l: 'new' },
      annotations: { a: 'x' },
      finalizers: ['example.com/s'],
      ownerReferences: [owner],
    };
    const { status: code, json } = await server.patch(`${collection}/x/status`, { metadata, status }, merge);
    expect([code, json.metadata?.labels]).toEqual([200, { l: 'old' }]);
    for (const field of ['annotations', 'finalizers', 'ownerReferences'])
      expect(json.metadata).not.toHaveProperty(field);
    expect(json).toMatchObject({ status });
  });
});

describe('API-331 API-332 scale', () => {
  const scalable = samples.filter(({ kind }) =>
    ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'].includes(kind),
  );
  it.each(scalable.map((sample) => [sample.kind, sample] as const))(
    'is read and written for a %s',
    async (_kind, { collection, object }) => {
      const { json: parent } = await server.post(collection, object);
      const target = `${collection}/${object.metadata?.name}/scale`;
      const { uid, name, namespace, creationTimestamp } = parent.metadata ?? {};
      const shape = (replicas: number) => ({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion: expect.any(String), creationTimestamp },
        spec: { replicas },
        status: { replicas: 0, selector: 'app=x' },
      });
      const { json: scale } = await server.get(target);
      expect(scale).toEqual(shape(1));
      expect((await server.patch(target, { spec: { replicas: 3 } })).json).toEqual(shape(3));
      const stale = await server.put(target, { ...scale, spec: { replicas: 4 } });
      expect([stale.status, stale.json.reason]).toEqual([409, 'Conflict']);
      const { metadata } = (await server.get(target)).json;
      expect((await server.put(target, { ...scale, metadata, spec: { replicas: 4 } })).json).toEqual(shape(4));
      const unconditional = await server.put(target, { metadata: { name }, spec: { replicas: 5 } });
      expect(unconditional.json).toEqual(shape(5));
      const { json: after } = await server.get(`${collection}/${name}`);
      expect(after).toMatchObject({ spec: { replicas: 5 }, metadata: { uid } });
    },
  );

  it('is of four kinds only', async () => {
    await server.post(configMaps, configMap('a'));
    const daemons = '/apis/apps/v1/namespaces/default/daemonsets/a/scale';
    for (const target of [`${configMaps}/a/scale`, daemons]) expect((await server.get(target)).status).toBe(404);
  });
});

describe('subresources that are not there, and tunnels', () => {
  it('API-333 events have none', async () => {
    const events = '/api/v1/namespaces/default/events';
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
    await server.post(events, { metadata: { name: 'e' }, involvedObject, reason: 'r', type: 'Normal' });
    for (const path of [`${events}/e/status`, '/apis/events.k8s.io/v1/namespaces/default/events/e/status']) {
      for (const method of ['GET', 'PUT', 'PATCH']) {
        const { status, json } = await server.request(method, path, method === 'GET' ? {} : { body: {} });
        expect([path, method, status, json.reason]).toEqual([path, method, 404, 'NotFound']);
      }
    }
  });

  it.each([
    ['nodes', '/api/v1/nodes', { metadata: { name: 'n' } }],
    ['services', '/api/v1/namespaces/default/services', { metadata: { name: 'n' }, spec: { ports: [{ port: 80 }] } }],
  ])(
    'API-333 a proxy to %s answers each method at once that there is nothing behind it',
    async (resource, collection, object) => {
      expect((await server.post(collection, object)).status).toBe(201);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const rest of ['', '/', '/metrics/cadvisor?x=y']) {
          const { status, json } = await server.request(method, `${collection}/n/proxy${rest}`);
          expect([method, rest, status, json.message]).toEqual([
            method,
            rest,
            503,
            `${resource}/proxy is not available: this cluster has no kubelet to connect to`,
          ]);
        }
      }
      expect((await server.get(`${collection}/none/proxy`)).status).toBe(404);
      expect((await server.get(`${collection}/n`)).status).toBe(200);
    },
  );
});
