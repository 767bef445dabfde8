import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import type { Store } from '../storage/interface.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { EndpointReconciler, SERVERS_PREFIX } from '../bootstrap/endpoint-reconciler.ts';
import { startTestServer } from './test-server.ts';

const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes';
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

interface Shown {
  readonly subsets: readonly { readonly addresses: { ip: string }[]; readonly ports: { port: number }[] }[];
  readonly endpoints: readonly { readonly addresses: readonly string[] }[];
  readonly ports: readonly { readonly port: number }[];
}

/** The endpoints as clients see them, through a separate server on the store. */
async function shown(store: Store) {
  const server = await startTestServer({ store, address: () => ({ host: '10.0.0.1', port: 6443 }) });
  return async () => {
    const { subsets } = (await server.get(ENDPOINTS)).json as unknown as Shown;
    const { endpoints, ports } = (await server.get(SLICE)).json as unknown as Shown;
    return {
      endpoints: subsets.map((subset) => `${subset.addresses.map(({ ip }) => ip).join()}:${subset.ports[0]?.port}`),
      slice: `${endpoints.map(({ addresses }) => addresses.join()).join()}:${ports[0]?.port}`,
    };
  };
}

describe('the endpoints of Service default/kubernetes', () => {
  it('API-511 are the one server’s, also when it was started with another address before', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const look = await shown(store);
    expect(await look()).toEqual({ endpoints: ['10.0.0.1:6443'], slice: '10.0.0.1:6443' });
    const before = await store.currentRevision();
    const again = new EndpointReconciler({
      store,
      clock,
      logger: silentLogger,
      address: () => ({ host: '10.0.0.1', port: 6443 }),
    });
    await again.start();
    expect(await store.currentRevision()).toBe(before);
    await startTestServer({ store, address: () => ({ host: '127.0.0.1', port: 7443 }) });
    expect(await look()).toEqual({ endpoints: ['127.0.0.1:7443'], slice: '127.0.0.1:7443' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('API-511 are those of the servers that live, where several write to the store', async () => {
    const clock = new FakeClock();
    const memory = openMemoryStore({ clock });
    const look = await shown(memory);
    const store = Object.assign(memory, { writers: 'several servers', expiry: 'leases' } as const);
    const server = (host: string, port = 6443): EndpointReconciler =>
      new EndpointReconciler({ store, clock, logger: silentLogger, address: () => ({ host, port }) });
    const [one, two, odd] = [server('10.0.0.1'), server('10.0.0.2'), server('10.0.0.3', 7443)];
    await one.start();
    await two.start();
    await odd.start();
    expect(await look()).toEqual({
      endpoints: ['10.0.0.1,10.0.0.2:6443', '10.0.0.3:7443'],
      slice: '10.0.0.1,10.0.0.2:6443',
    });
    await two.stop();
    expect(await look()).toEqual({ endpoints: ['10.0.0.1:6443', '10.0.0.3:7443'], slice: '10.0.0.1:6443' });
    // A killed server: its key expires, and the next round of another server removes it.
    const { kv } = await store.get(`${SERVERS_PREFIX}10.0.0.3:7443`);
    await store.delete(kv?.key ?? '', kv?.modRevision ?? 0);
    await one.reconcile();
    expect(await look()).toEqual({ endpoints: ['10.0.0.1:6443'], slice: '10.0.0.1:6443' });
    // The last server leaves the object unchanged, because an empty one would be no better.
    await one.stop();
    expect((await look()).endpoints).toEqual(['10.0.0.1:6443']);
    expect((await store.list(SERVERS_PREFIX)).items.map(({ key }) => key)).toEqual([]);
    await odd.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are left alone when somebody has deleted them', async () => {
    const store = openMemoryStore({ clock: new FakeClock() });
    const server = await startTestServer({ store });
    await server.delete(ENDPOINTS);
    const address = (): { host: string; port: number } => ({ host: '10.0.0.9', port: 1 });
    await new EndpointReconciler({ store, clock: new FakeClock(), logger: silentLogger, address }).start();
    expect((await server.get(ENDPOINTS)).status).toBe(404);
    expect(((await server.get(SLICE)).json as unknown as Shown).endpoints[0]?.addresses).toEqual(['10.0.0.9']);
  });
});
