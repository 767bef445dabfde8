import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { newForbidden } from '../../api/status-error.ts';
import type { AdmissionPlugin } from '../admission/chain/admission-chain.ts';
import { claimPrefix } from '../registry/strategies/services/address-claims.ts';
import type { Store, WriteResult } from '../storage/interface.ts';
import { objectKey } from '../storage/storage-keys.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import {
  StoreFailedError,
  StoreOutcomeUnknownError,
  StoreOverloadedError,
  StoreTooLargeError,
  StoreUnavailableError,
} from '../storage/store-errors.ts';
import { HeldAdmission } from './held-admission.ts';
import { type Answer, startTestServer } from './test-server.ts';

const services = '/api/v1/namespaces/default/services';
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const nodePort = (port: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort: port }] });
const told = ({ status, json }: Answer) => [status, json.message];
const taken = [422, expect.stringContaining('provided port is already allocated')];

/** A store to which several servers may write, as to etcd, and in which they claim node ports. */
function sharedStore() {
  return Object.assign(openMemoryStore({ clock: systemClock }), { writers: 'several servers' } as const);
}

async function claimedPorts(store: Store): Promise<number[]> {
  const { items } = await store.list(claimPrefix('servicenodeports'));
  return items.map(({ key }) => Number(key.slice(claimPrefix('servicenodeports').length)));
}

describe('an IPAddress for each cluster address', () => {
  const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
  const labels = {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  };
  const of = (name: string) => ({ parentRef: { group: '', resource: 'services', namespace: 'default', name } });

  it('API-513 is there from the start, comes and goes with the service, and follows its changes', async () => {
    const server = await startTestServer();
    const { json } = await server.get(addresses);
    expect(json.items.map(({ metadata, spec }) => [metadata?.name, metadata?.labels, spec])).toEqual([
      ['10.96.0.1', labels, of('kubernetes')],
    ]);
    const watch = await server.watch(`${addresses}?watch=1&resourceVersion=${json.metadata?.resourceVersion}`);
    await server.post(services, service('a', { clusterIP: '10.96.0.7' }));
    expect(await watch.next()).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: '10.96.0.7', labels }, spec: of('a') },
    });
    await server.post(services, service('none', { clusterIP: 'None' }));
    await server.patch(`${services}/a`, {
      spec: { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null },
    });
    expect(await watch.summary(1)).toEqual(['DELETED 10.96.0.7']);
    await server.post(services, service('b', { clusterIP: '10.96.0.7' }));
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { spec: of('b') } });
    await server.delete(`${addresses}/10.96.0.7`);
    expect(await watch.summary(2)).toEqual(['DELETED 10.96.0.7', 'ADDED 10.96.0.7']);
    await server.delete(`${services}/b`);
    expect(await watch.summary(1)).toEqual(['DELETED 10.96.0.7']);
    watch.close();
    await server.server.stop();
  });

  it('API-513 is compared with the services by lists at a start, and read one by one only where it differs', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const first = await startTestServer({ store });
    for (const octet of [11, 12, 13]) {
      await first.post(services, service(`s${octet}`, { clusterIP: `10.96.0.${octet}` }));
    }
    await first.get(addresses);
    await first.server.stop();
    const keyOf = (address: string): string =>
      objectKey({ group: 'networking.k8s.io', resource: 'ipaddresses', namespaced: false }, '', address);
    const get = vi.spyOn(store, 'get');
    const again = await startTestServer({ store });
    expect(get.mock.calls.map(([key]) => key).filter((key) => key.startsWith(keyOf('')))).toEqual([]);
    expect((await again.get(addresses)).json.items).toHaveLength(4);
    await again.server.stop();
  });

  it('API-513 of a service that went while no server ran goes at the next start, and what users made stays', async () => {
    const store = openMemoryStore({ clock: systemClock });
    const server = await startTestServer({ store });
    await server.post(services, service('a', { clusterIP: '10.96.0.8' }));
    const own = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: { name: '10.0.0.1' },
      spec: of('x'),
    };
    expect((await server.post(addresses, own)).status).toBe(201);
    await server.server.stop();
    const { kv } = await store.get(objectKey({ group: '', resource: 'services', namespaced: true }, 'default', 'a'));
    await store.delete(kv!.key, kv!.modRevision);
    const again = await startTestServer({ store });
    const { json } = await again.get(addresses);
    expect(json.items.map(({ metadata }) => metadata?.name)).toEqual(['10.0.0.1', '10.96.0.1']);
    await again.server.stop();
  });
});

describe('a port is one service’s', () => {
  it('API-502 also by the way of a health check port, which does not change', async () => {
    const server = await startTestServer();
    await server.post(services, service('b', nodePort(30_080)));
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    expect((await server.post(services, service('a', { ...local, healthCheckNodePort: 30_500 }))).status).toBe(201);
    for (const healthCheckNodePort of [30_080, 80]) {
      const changed = await server.patch(`${services}/a`, { spec: { healthCheckNodePort } });
      expect(told(changed)).toEqual([
        422,
        'Service "a" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable',
      ]);
    }
    // A value that is left out stays.
    expect((await server.put(`${services}/a`, service('a', local))).json['spec']).toMatchObject({
      healthCheckNodePort: 30_500,
    });
  });

  it('also through a type that has none, where nobody checks it', async () => {
    const server = await startTestServer();
    await server.post(services, service('a', nodePort(30_080)));
    const name = { ...nodePort(30_080), type: 'ExternalName', externalName: 'x.example.com' };
    expect((await server.post(services, service('b', name))).status).toBe(201);
    const typed = { spec: { type: 'NodePort', externalName: null } };
    expect(told(await server.patch(`${services}/b`, typed))).toEqual(taken);
    await server.delete(`${services}/a`);
    expect((await server.patch(`${services}/b`, typed)).status).toBe(200);
  });
});

describe('a write of which nobody knows whether it was done', () => {
  /** The answer to the first write of service a by this method is lost. */
  async function losing(method: 'create' | 'update', error: Error) {
    const store = sharedStore();
    const server = await startTestServer({ store });
    const write = store[method].bind(store);
    let lost = false;
    store[method] = async (key: string, ...rest: unknown[]) => {
      const written = await (write as (...all: unknown[]) => Promise<WriteResult>)(key, ...rest);
      if (lost || !key.endsWith('/services/default/a')) return written;
      lost = true;
      throw error;
    };
    return { server, store };
  }

  const unknown = [new StoreOutcomeUnknownError(), new StoreFailedError('disk'), new Error('a bug')];

  it.each(unknown)('an update keeps what it asked for: %s', async (error) => {
    const { server, store } = await losing('update', error);
    await server.post(services, service('a'));
    expect((await server.patch(`${services}/a`, { spec: nodePort(30_080) })).status).toBeGreaterThanOrEqual(500);
    expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual(taken);
    expect(await claimedPorts(store)).toEqual([30_080]);
    await server.server.stop();
  });

  it.each(unknown)('a create keeps what it asked for: %s', async (error) => {
    const { server, store } = await losing('create', error);
    expect((await server.post(services, service('a', nodePort(30_080)))).status).toBeGreaterThanOrEqual(500);
    expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual(taken);
    expect(await claimedPorts(store)).toEqual([30_080]);
    await server.server.stop();
  });

  it.each([
    new StoreUnavailableError('no leader'),
    new StoreOverloadedError(1, 1),
    new StoreTooLargeError('too large'),
  ])('what certainly was not written gives it back: %s', async (error) => {
    const store = sharedStore();
    const server = await startTestServer({ store });
    const { create, update } = store;
    await server.post(services, service('a'));
    store.update = () => Promise.reject(error);
    expect((await server.patch(`${services}/a`, { spec: nodePort(30_080) })).status).toBeGreaterThanOrEqual(429);
    store.update = update.bind(store);
    store.create = (key, ...rest) => (key.endsWith('/c') ? Promise.reject(error) : create.call(store, key, ...rest));
    expect((await server.post(services, service('c', nodePort(30_081)))).status).toBeGreaterThanOrEqual(429);
    for (const port of [30_080, 30_081]) {
      expect((await server.post(services, service(`b${port}`, nodePort(port)))).status).toBe(201);
    }
    await server.server.stop();
  });
});

describe('a create that is taken back', () => {
  /** When the gate opens, the request checks the stored service again, and refuses it. */
  async function judged(store: Store = openMemoryStore({ clock: systemClock })) {
    let arrive: () => void = () => undefined;
    let judge: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const gate = new Promise<void>((resolve) => (judge = resolve));
    const plugin: AdmissionPlugin = {
      name: 'Gate',
      async stored({ info, name }) {
        if (info.resource !== 'services' || name !== 'a') return;
        arrive();
        await gate;
        throw newForbidden({ group: '', resource: 'services' }, name, 'the namespace is gone');
      },
    };
    return { server: await startTestServer({ store, admission: [plugin] }), reached, judge: () => judge() };
  }

  it('releases the addresses that it had', async () => {
    const { server, judge } = await judged();
    judge();
    expect((await server.post(services, service('a', nodePort(30_080)))).status).toBe(403);
    expect((await server.post(services, service('b', nodePort(30_080)))).status).toBe(201);
  });

  it.each(['one server', 'several servers'])('gives nothing back that another one has by now: %s', async (writers) => {
    const { server, reached, judge } = await judged(writers === 'one server' ? undefined : sharedStore());
    const first = server.post(services, service('a', nodePort(30_080)));
    await reached;
    expect((await server.delete(`${services}/a`)).status).toBe(200);
    expect((await server.post(services, service('b', nodePort(30_080)))).status).toBe(201);
    judge();
    expect((await first).status).toBe(403);
    expect(told(await server.post(services, service('c', nodePort(30_080))))).toEqual(taken);
    await server.server.stop();
  });

  it.each(['one server', 'several servers'])('gives nothing back when it could not be: %s', async (writers) => {
    const store = writers === 'one server' ? openMemoryStore({ clock: systemClock }) : sharedStore();
    const { server, judge } = await judged(store);
    const remove = store.delete.bind(store);
    store.delete = (key, ...rest) =>
      key.endsWith('/services/default/a')
        ? Promise.reject(new StoreUnavailableError('no leader'))
        : remove(key, ...rest);
    judge();
    expect((await server.post(services, service('a', nodePort(30_080)))).status).toBe(503);
    expect((await server.get(`${services}/a`)).status).toBe(200);
    expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual(taken);
    await server.server.stop();
  });
});

describe('over a store that several servers write to', () => {
  it('an address that an update leaves out is free at once, also for the same service', async () => {
    const store = sharedStore();
    const server = await startTestServer({ store });
    await server.post(services, service('a', nodePort(30_080)));
    const { json } = await server.get(`${services}/a`);
    const { clusterIP } = json['spec'] as { clusterIP: string };
    const change = async (spec: object) => told(await server.patch(`${services}/a`, { spec }));
    expect(await change({ type: 'ClusterIP' })).toEqual([200, undefined]);
    expect(await change(nodePort(30_080))).toEqual([200, undefined]);
    expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual(taken);
    expect(await change({ ports: [{ port: 80, nodePort: 30_081 }] })).toEqual([200, undefined]);
    expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual([201, undefined]);
    expect(await claimedPorts(store)).toEqual([30_080, 30_081]);
    expect(await change({ type: 'ExternalName', externalName: 'x.example.com' })).toEqual([200, undefined]);
    expect(await change({ type: 'ClusterIP', externalName: null, clusterIP })).toEqual([200, undefined]);
    await server.server.stop();
  });
});

describe('a dry run', () => {
  it.each(['CREATE', 'UPDATE'] as const)('API-236 keeps nobody from a port while it waits: %s', async (operation) => {
    for (const store of [openMemoryStore({ clock: systemClock }), sharedStore()]) {
      const held = new HeldAdmission(operation, 'services');
      const server = await startTestServer({ store, admission: [held.plugin] });
      if (operation === 'UPDATE') await server.post(services, service('a'));
      const before = await store.currentRevision();
      const dry =
        operation === 'UPDATE'
          ? server.patch(`${services}/a?dryRun=All`, { spec: nodePort(30_080) })
          : server.post(`${services}?dryRun=All`, service('a', nodePort(30_080)));
      await held.reached;
      expect(await store.currentRevision()).toBe(before);
      expect(told(await server.post(services, service('b', nodePort(30_080))))).toEqual([201, undefined]);
      held.release();
      expect((await dry).status).toBeLessThan(300);
      // The update ends without releasing an address that it never had.
      expect(told(await server.post(services, service('c', nodePort(30_080))))).toEqual(taken);
      await server.server.stop();
    }
  });

  it('API-236 is refused what is taken, on this server or on another one, and writes nothing', async () => {
    const store = sharedStore();
    const [server, other] = [await startTestServer({ store }), await startTestServer({ store, seed: 2 })];
    await server.post(services, service('own'));
    await server.post(services, service('a', nodePort(30_080)));
    const before = await store.currentRevision();
    for (const one of [server, other]) {
      const post = (spec: object) => one.post(`${services}?dryRun=All`, service('b', spec));
      const patch = (spec: object) => one.patch(`${services}/own?dryRun=All`, { spec });
      expect(told(await post(nodePort(30_080)))).toEqual(taken);
      expect(told(await patch(nodePort(30_080)))).toEqual(taken);
      const local = { externalTrafficPolicy: 'Local', type: 'LoadBalancer', healthCheckNodePort: 30_081 };
      expect((await post({ ...local, ports: nodePort(30_081).ports })).json.message).toContain(
        'failed to allocate requested HealthCheck NodePort 30081: provided port is already allocated',
      );
      const made = await post({ type: 'NodePort', ports: [80, 81].map((port) => ({ name: `p${port}`, port })) });
      const { clusterIP, ports } = made.json['spec'] as { clusterIP: string; ports: { nodePort: number }[] };
      expect(clusterIP).toMatch(/^10\./);
      expect(new Set(ports.map((port) => port.nodePort)).size).toBe(2);
    }
    expect(await store.currentRevision()).toBe(before);
    await Promise.all([server.server.stop(), other.server.stop()]);
  });
});
