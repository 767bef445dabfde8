import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { EventExpiry } from '../registry/event-expiry.ts';
import type { Revision, WriteOptions } from '../storage/interface.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const HOUR_MS = 3_600_000;

describe('how long the store keeps a written object', () => {
  let server: TestServer;
  /** The last segment of the key, the operation, and the time to live. */
  let told: [string, string, number | undefined][];
  beforeEach(async () => {
    told = [];
    const memory = openMemoryStore({ clock: systemClock });
    const { create, update } = memory;
    const note = (key: string, what: string, options?: WriteOptions): void => {
      if (key.includes('/default/e')) told.push([key.split('/').at(-1) ?? '', what, options?.ttlMs]);
    };
    memory.create = (key: string, value: Uint8Array, options?: WriteOptions) => {
      note(key, 'create', options);
      return create.call(memory, key, value, options);
    };
    memory.update = (key: string, value: Uint8Array, expected: Revision, options?: WriteOptions) => {
      note(key, 'update', options);
      return update.call(memory, key, value, expected, options);
    };
    server = await startTestServer({ store: memory });
  });

  it.each([
    ['/api/v1/namespaces/default/events', { involvedObject: { namespace: 'default' }, reason: 'Tried' }],
    [
      '/apis/events.k8s.io/v1/namespaces/default/events',
      {
        eventTime: '2026-01-01T00:00:00.000000Z',
        action: 'Try',
        reason: 'Tried',
        type: 'Normal',
        reportingController: 'example.org/test',
        reportingInstance: 'test',
        regarding: { namespace: 'default' },
      },
    ],
  ])('API-564 an hour for each write of an Event, by %s', async (path, fields) => {
    const made = await server.post(path, { metadata: { name: 'e1', finalizers: ['example.org/keep'] }, ...fields });
    expect(made.status).toBe(201);
    await server.patch(`${path}/e1`, { metadata: { labels: { a: 'b' } } });
    await server.delete(`${path}/e1`);
    expect(told).toEqual([
      ['e1', 'create', HOUR_MS],
      ['e1', 'update', HOUR_MS],
      ['e1', 'update', HOUR_MS],
    ]);
  });

  it('for ever for everything else', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await server.post(path, { metadata: { name: 'e2' } });
    await server.patch(`${path}/e2`, { data: { a: 'b' } });
    expect(told).toEqual([
      ['e2', 'create', undefined],
      ['e2', 'update', undefined],
    ]);
  });

  it('API-564 nobody sweeps Events over a store that lets them go by itself', () => {
    const clock = new FakeClock();
    const sweeping = new EventExpiry({ store: openMemoryStore({ clock }), clock, logger: silentLogger });
    sweeping.start();
    expect(clock.pendingTimers).toBe(1);
    sweeping.stop();
    const store = Object.assign(openMemoryStore({ clock }), { expiry: 'leases' } as const);
    new EventExpiry({ store, clock, logger: silentLogger }).start();
    expect(clock.pendingTimers).toBe(0);
  });
});
