import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, startTestServer, type TestServer } from '../../test/test-server.ts';
import type { ImplementedPlugin } from '../plugin-selection.ts';
import type { PodSpec } from './pod-object.ts';

const core = '/api/v1/namespaces/default';
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({
    admissionPlugins: new Set<ImplementedPlugin>(['NamespaceLifecycle', 'LimitRanger', 'ResourceQuota']),
  });
});
afterEach(() => server.server.stop());

let count = 0;
const pod = (containers: object, spec: object = {}) => ({
  metadata: { name: `p${count++}` },
  spec: { containers: [{ name: 'c', image: 'i', ...containers }], ...spec },
});
const create = (object: object, resource = 'pods', query = ''): Promise<Answer> =>
  server.post(`${core}/${resource}${query}`, object);
const why = ({ status, json }: Answer) =>
  status === 403 ? (json.message ?? '').replace(/^\S+ "[^"]*" is forbidden: /, '') : status;

describe('LimitRanger', () => {
  const range = (...limits: object[]) => create({ metadata: { name: `r${count++}` }, spec: { limits } }, 'limitranges');

  it('fills in what containers do not say, and says what it filled in', async () => {
    await range({ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '500m' } });
    const { json } = await create(
      pod({ resources: { limits: { memory: '2Gi' } } }, { initContainers: [{ name: 'first', image: 'i' }] }),
    );
    const spec = json['spec'] as unknown as PodSpec;
    expect(spec.containers?.[0]?.resources).toEqual({
      limits: { cpu: '2', memory: '2Gi' },
      requests: { cpu: '500m', memory: '2Gi' },
    });
    expect(spec.initContainers?.[0]?.resources).toEqual({
      limits: { cpu: '2', memory: '1Gi' },
      requests: { cpu: '500m', memory: '1Gi' },
    });
    expect(json.metadata?.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; cpu limit for container c; cpu, memory request for init container first; cpu, memory limit for init container first',
    });
  });

  it("a range without limits stands in nobody's way, and counts again when it has some", async () => {
    const { json } = await create({ metadata: { name: 'empty' }, spec: {} }, 'limitranges');
    expect(json['spec']).toEqual({ limits: null });
    expect((await create(pod({}))).status).toBe(201);
    await server.patch(`${core}/limitranges/empty`, { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } });
    expect(why(await create(pod({ resources: { limits: { cpu: '2' } } })))).toContain('maximum cpu usage');
  });

  it.each([
    [{ requests: { cpu: '100m' } }, 'minimum cpu usage per Container is 200m, but request is 100m'],
    [
      { limits: { cpu: '100m' }, requests: { cpu: '100m' } },
      'minimum cpu usage per Container is 200m, but request is 100m',
    ],
    [{ limits: { memory: '2Gi' } }, 'maximum memory usage per Container is 1Gi, but limit is 2Gi'],
    // The default limit of the range is set first, and a request above it makes the pod invalid.
    [{ requests: { memory: '2Gi' } }, 422],
    [{ limits: { memory: '512Mi' } }, 201],
    // A range has its own defaults for the resources that it limits.
    [{}, 201],
  ])('judges containers: %j', async (resources, expected) => {
    await range({ type: 'Container', min: { cpu: '200m' }, max: { memory: '1Gi' } });
    expect(why(await create(pod({ resources })))).toBe(expected);
  });

  it('reports all violations at once', async () => {
    await range({ type: 'Pod', min: { cpu: '200m' }, max: { memory: '1Gi' } });
    expect(why(await create(pod({})))).toBe(
      '[minimum cpu usage per Pod is 200m.  No request is specified, maximum memory usage per Pod is 1Gi.  No limit is specified]',
    );
  });

  it('judges whole pods, ratios, and claims', async () => {
    await range(
      { type: 'Pod', max: { cpu: '2' } },
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
    );
    const asking = (request: string, limit: string) => ({
      resources: { requests: { cpu: request }, limits: { cpu: limit } },
    });
    const two = {
      containers: [
        { name: 'a', image: 'i', ...asking('1', '1500m') },
        { name: 'b', image: 'i', ...asking('1', '1500m') },
      ],
    };
    expect(why(await create(pod({}, two)))).toBe('maximum cpu usage per Pod is 2, but limit is 3');
    expect(why(await create(pod(asking('500m', '1500m'))))).toBe(
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    );
    expect(why(await create(pod(asking('500m', '1'))))).toBe(201);
    const claim = (storage: string) => ({
      metadata: { name: `v${count++}` },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
    expect(why(await create(claim('512Mi'), 'persistentvolumeclaims'))).toBe(
      'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi',
    );
    expect(why(await create(claim('6Gi'), 'persistentvolumeclaims'))).toBe(
      'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    );
    expect(why(await create(claim('2Gi'), 'persistentvolumeclaims'))).toBe(201);
  });

  it('is about its own namespace', async () => {
    await range({ type: 'Pod', max: { cpu: '1' } });
    expect((await server.post('/api/v1/namespaces/kube-public/pods', pod({}))).status).toBe(201);
  });
});

describe('ResourceQuota', () => {
  /** Creates a quota with the status that its controller would write. */
  async function quota(
    name: string,
    hard: Record<string, string>,
    more: { used?: Record<string, string>; spec?: object } = {},
  ): Promise<void> {
    await create({ metadata: { name }, spec: { hard, ...more.spec } }, 'resourcequotas');
    const none = Object.fromEntries(Object.keys(hard).map((key) => [key, '0']));
    const status = { hard, used: more.used ?? none };
    expect((await server.patch(`${core}/resourcequotas/${name}/status`, { status })).status).toBe(200);
  }
  const usedOf = async (name: string) =>
    ((await server.get(`${core}/resourcequotas/${name}`)).json['status'] as unknown as { used: object }).used;

  it('API-361 lets nothing beyond the quota, and says what is used up', async () => {
    await quota('q', { pods: '2', 'requests.cpu': '3' });
    const asking = (cpu: string) => pod({ resources: { requests: { cpu } } });
    expect(why(await create(asking('1')))).toBe(201);
    expect(await usedOf('q')).toEqual({ pods: '1', 'requests.cpu': '1' });
    expect(why(await create(asking('2500m')))).toBe(
      'exceeded quota: q, requested: requests.cpu=2500m, used: requests.cpu=1, limited: requests.cpu=3',
    );
    expect(why(await create(asking('1')))).toBe(201);
    expect(why(await create(asking('1500m')))).toBe(
      'exceeded quota: q, requested: pods=1,requests.cpu=1500m, used: pods=2,requests.cpu=2, limited: pods=2,requests.cpu=3',
    );
    expect(await usedOf('q')).toEqual({ pods: '2', 'requests.cpu': '2' });
    expect(why(await create(pod({})))).toBe('failed quota: q: must specify requests.cpu for: c');
  });

  it('API-361 holds when many come at once', async () => {
    await quota('q', { 'count/configmaps': '10', configmaps: '20' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => create({ metadata: { name: `m${i}` } }, 'configmaps')),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(await usedOf('q')).toEqual({ 'count/configmaps': '10', configmaps: '10' });
  });

  it('API-361 a dry run uses nothing up, and neither does what another quota refuses', async () => {
    await quota('a', { pods: '5' });
    await quota('b', { 'count/pods': '1' });
    expect(why(await create(pod({}), 'pods', '?dryRun=All'))).toBe(201);
    expect(await usedOf('a')).toEqual({ pods: '0' });
    expect(why(await create(pod({})))).toBe(201);
    expect(why(await create(pod({})))).toBe(
      'exceeded quota: b, requested: count/pods=1, used: count/pods=1, limited: count/pods=1',
    );
    expect([await usedOf('a'), await usedOf('b')]).toEqual([{ pods: '1' }, { 'count/pods': '1' }]);
  });

  it('API-361 what has not been counted yet is refused; a quota that its controller has not seen limits nothing', async () => {
    await quota('q', { pods: '2' }, { used: {} });
    expect(why(await create(pod({})))).toBe('status unknown for quota: q, resources: pods');
    expect(why(await create({ metadata: { name: 'x' } }, 'configmaps'))).toBe(201);
    await server.delete(`${core}/resourcequotas/q`);
    await create({ metadata: { name: 'fresh' }, spec: { hard: { pods: '0' } } }, 'resourcequotas');
    expect(why(await create(pod({})))).toBe(201);
  });

  it('API-361 counts what grows, and only within its scopes', async () => {
    await quota('ports', { 'services.nodeports': '2' });
    await quota('ending', { pods: '1' }, { spec: { scopes: ['Terminating'] } });
    const service = (ports: number[]) => ({
      metadata: { name: 's' },
      spec: { type: 'NodePort', ports: ports.map((port) => ({ name: `n${port}`, port })) },
    });
    const { json } = await create(service([1]), 'services');
    const grown = await server.put(`${core}/services/s`, { ...service([1, 2, 3]), metadata: json.metadata });
    expect(why(grown)).toBe(
      'exceeded quota: ports, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2',
    );
    expect((await server.put(`${core}/services/s`, { ...service([1, 2]), metadata: json.metadata })).status).toBe(200);
    expect(await usedOf('ports')).toEqual({ 'services.nodeports': '2' });
    expect(why(await create(pod({})))).toBe(201);
    expect(why(await create(pod({}, { activeDeadlineSeconds: 9 })))).toBe(201);
    expect(why(await create(pod({}, { activeDeadlineSeconds: 9 })))).toMatch(/^exceeded quota: ending/);
  });
});
