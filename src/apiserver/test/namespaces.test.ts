import { beforeEach, describe, expect, it } from 'vitest';
import { HeldAdmission } from './held-admission.ts';
import { configMap, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const namespaces = '/api/v1/namespaces';

describe('namespaces', () => {
  it('API-300 created with finalizer, phase and label, also from generateName', async () => {
    const { json } = await server.post(namespaces, { metadata: { name: 'x' } });
    expect(json).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    const { json: generated } = await server.post(namespaces, { metadata: { generateName: 'g-' } });
    expect(generated.metadata?.labels).toEqual({ 'kubernetes.io/metadata.name': generated.metadata?.name });
    const updated = await server.patch(`${namespaces}/x`, { metadata: { labels: null } });
    expect(updated.json.metadata?.labels).toEqual({ 'kubernetes.io/metadata.name': 'x' });
  });

  it('API-301 API-302 API-305 API-306 from terminating to gone', async () => {
    const { json: created } = await server.post(namespaces, { metadata: { name: 'x', generation: 1 } });
    const { status, json } = await server.delete(`${namespaces}/x`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      kind: 'Namespace',
      status: { phase: 'Terminating' },
      metadata: { uid: created.metadata?.uid, generation: 1 },
    });
    expect(json.metadata?.deletionTimestamp).toBeTruthy();
    expect(json.metadata?.deletionGracePeriodSeconds).toBeUndefined();
    expect((await server.delete(`${namespaces}/x`)).json).toEqual(json);

    const main = await server.put(`${namespaces}/x`, { metadata: { name: 'x' }, spec: { finalizers: [] } });
    expect(main.json).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } });
    const viaStatus = await server.patch(`${namespaces}/x/status`, {
      metadata: { annotations: { a: 'b' } },
      status: { phase: 'Active' },
    });
    expect(viaStatus.json).toMatchObject({
      metadata: { annotations: { a: 'b' } },
      status: { phase: 'Active' },
      spec: { finalizers: ['kubernetes'] },
    });

    const finalized = await server.put(`${namespaces}/x/finalize`, {
      metadata: { name: 'x' },
      spec: { finalizers: [] },
      status: { phase: 'Terminating' },
    });
    expect(finalized.status).toBe(200);
    expect(finalized.json).toMatchObject({ kind: 'Namespace', status: { phase: 'Active' } });
    expect((await server.get(`${namespaces}/x`)).status).toBe(404);
  });

  it('API-306 metadata finalizers hold it too', async () => {
    await server.post(namespaces, { metadata: { name: 'x', finalizers: ['example.com/a'] } });
    await server.delete(`${namespaces}/x`);
    await server.put(`${namespaces}/x/finalize`, { metadata: { name: 'x' }, spec: {} });
    expect((await server.get(`${namespaces}/x`)).json).toMatchObject({ metadata: { finalizers: ['example.com/a'] } });
    await server.patch(`${namespaces}/x`, { metadata: { finalizers: null } });
    expect((await server.get(`${namespaces}/x`)).status).toBe(404);
  });

  it('API-301 preconditions in the words of the storage layer', async () => {
    const { json: created } = await server.post(namespaces, { metadata: { name: 'x' } });
    const { status, json } = await server.delete(`${namespaces}/x`, { preconditions: { uid: 'other' } });
    expect(status).toBe(409);
    expect(json.message).toContain(
      `Precondition failed: UID in precondition: other, UID in object meta: ${created.metadata?.uid}`,
    );
  });

  it('API-301 a DELETE means the namespace it found, not a later one of that name', async () => {
    const held = new HeldAdmission('DELETE', 'namespaces');
    server = await startTestServer({ admission: [held.plugin] });
    const { json: first } = await server.post(namespaces, { metadata: { name: 'x' } });
    const late = server.delete(`${namespaces}/x`);
    await held.reached;
    await server.delete(`${namespaces}/x`);
    await server.put(`${namespaces}/x/finalize`, { metadata: { name: 'x' }, spec: {} });
    const { json: second } = await server.post(namespaces, { metadata: { name: 'x' } });
    held.release();
    const { status, json } = await late;
    expect([status, json.message]).toEqual([
      409,
      `Operation cannot be fulfilled on namespaces "x": Precondition failed: UID in precondition: ${first.metadata?.uid}, UID in object meta: ${second.metadata?.uid}`,
    ]);
    expect((await server.get(`${namespaces}/x`)).json).toEqual(second);
    expect(second).toMatchObject({ status: { phase: 'Active' } });
  });

  it('API-242 a DELETE that lost against a change of the same namespace is decided anew', async () => {
    const held = new HeldAdmission('DELETE', 'namespaces');
    server = await startTestServer({ admission: [held.plugin] });
    await server.post(namespaces, { metadata: { name: 'x' } });
    const late = server.delete(`${namespaces}/x`);
    await held.reached;
    await server.patch(`${namespaces}/x`, { metadata: { labels: { a: 'b' } } });
    held.release();
    const { status, json } = await late;
    expect([status, json.metadata?.labels?.['a'], json['status']]).toEqual([200, 'b', { phase: 'Terminating' }]);
  });

  it('API-303 LIFE-505 nothing new in a terminating one; updates and deletions go on', async () => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    const target = `${namespaces}/x/configmaps`;
    await server.post(target, configMap('a'));
    await server.delete(`${namespaces}/x`);
    const { status, json } = await server.post(target, configMap('b'));
    expect(status).toBe(403);
    expect(json).toMatchObject({
      reason: 'Forbidden',
      message:
        'configmaps "b" is forbidden: unable to create new content in namespace x because it is being terminated',
      details: {
        causes: [
          { reason: 'NamespaceTerminating', message: 'namespace x is being terminated', field: 'metadata.namespace' },
        ],
      },
    });
    expect((await server.patch(`${target}/a`, { data: { k: 'v' } })).status).toBe(200);
    expect((await server.delete(`${target}/a`)).status).toBe(200);
  });

  it.each([
    ['default', 403],
    ['kube-system', 403],
    ['kube-public', 403],
    ['kube-node-lease', 200],
  ])('API-304 deleting %s is %d', async (name, expected) => {
    const { status, json } = await server.delete(`${namespaces}/${name}`);
    expect(status).toBe(expected);
    if (expected === 403)
      expect(json.message).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  });

  it('API-308 by phase', async () => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    await server.delete(`${namespaces}/x`);
    const { json } = await server.get(`${namespaces}?fieldSelector=status.phase%3DTerminating`);
    expect(json.items.map((item) => item.metadata?.name)).toEqual(['x']);
  });

  it('API-510 API-511 API-512 what a cluster starts with; a second start leaves it alone', async () => {
    const names = async (target: string) => (await server.get(target)).json.items.map((item) => item.metadata?.name);
    expect(await names(namespaces)).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    expect((await server.get(`${namespaces}/default/services/kubernetes`)).json).toMatchObject({
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] },
    });
    expect((await server.get(`${namespaces}/default/endpoints/kubernetes`)).status).toBe(200);
    expect(await names('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices')).toEqual(['kubernetes']);
    expect(await names('/apis/scheduling.k8s.io/v1/priorityclasses')).toEqual([
      'system-cluster-critical',
      'system-node-critical',
    ]);
    const before = await server.store.currentRevision();
    const again = await startTestServer({ store: server.store });
    expect(await server.store.currentRevision()).toBe(before);
    // The server wrote these objects directly to the store, in the form of its endpoints, so an update changes nothing.
    for (const target of [
      `${namespaces}/default`,
      `${namespaces}/default/services/kubernetes`,
      `${namespaces}/default/endpoints/kubernetes`,
      '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical',
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
    ]) {
      const { json } = await again.get(target);
      const put = await again.put(target, json);
      expect([target, put.status, put.json]).toEqual([target, 200, json]);
    }
  });
});

describe('API-154 API-303 a create that its namespace does not outlive', () => {
  /** Runs `happens` at the last moment before a ConfigMap is stored. */
  function beforeStored(happens: () => Promise<unknown>): void {
    const { store } = server;
    const create = store.create.bind(store);
    store.create = async (key, ...rest) => {
      if (key.includes('/configmaps/')) {
        store.create = create;
        await happens();
      }
      return create(key, ...rest);
    };
  }

  const keysLeft = async (): Promise<string[]> =>
    (await server.store.list('/registry/')).items.map(({ key }) => key).filter((key) => key.includes('/configmaps/'));

  const finalize = async (): Promise<void> => {
    await server.delete(`${namespaces}/x`);
    await server.put(`${namespaces}/x/finalize`, { metadata: { name: 'x' }, spec: {} });
  };

  it.each([
    ['removed', finalize, 404, 'namespaces "x" not found'],
    [
      'being deleted',
      () => server.delete(`${namespaces}/x`),
      403,
      'configmaps "a" is forbidden: unable to create new content in namespace x because it is being terminated',
    ],
  ])('leaves nothing when the namespace is %s in between', async (_what, happens, status, message) => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    beforeStored(happens);
    const answer = await server.post(`${namespaces}/x/configmaps`, configMap('a'));
    expect([answer.status, answer.json.message]).toEqual([status, message]);
    expect(await keysLeft()).toEqual([]);
    expect((await server.get('/api/v1/configmaps')).json.items).toEqual([]);
  });

  it('takes it back whatever others have made of it, and nothing that came later', async () => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    const { store } = server;
    const remove = store.delete.bind(store);
    beforeStored(async () => {
      await finalize();
      store.delete = async (key, revision) => {
        store.delete = remove;
        await server.patch(`${namespaces}/x/configmaps/a`, { metadata: { finalizers: ['example.com/a'] } });
        return remove(key, revision);
      };
    });
    expect((await server.post(`${namespaces}/x/configmaps`, configMap('a'))).status).toBe(404);
    expect(await keysLeft()).toEqual([]);
  });

  it('goes on as it is when the namespace was made again before it was stored', async () => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    beforeStored(async () => {
      await finalize();
      await server.post(namespaces, { metadata: { name: 'x' } });
    });
    expect((await server.post(`${namespaces}/x/configmaps`, configMap('a'))).status).toBe(201);
    expect(await keysLeft()).toHaveLength(1);
  });

  it('a dry run is judged before only', async () => {
    await server.post(namespaces, { metadata: { name: 'x' } });
    expect((await server.post(`${namespaces}/x/configmaps?dryRun=All`, configMap('a'))).status).toBe(201);
  });
});
