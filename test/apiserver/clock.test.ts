import { beforeEach, describe, expect, it } from 'vitest';
import { EventExpiry } from '../../src/apiserver/registry/event-expiry.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { SetClock } from './set-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let clock: SetClock;
let server: TestServer;
beforeEach(async () => {
  clock = new SetClock();
  server = await startTestServer({ clock });
});

const ns = '/api/v1/namespaces/default';
const nameOf = ({ metadata }: { metadata?: { name?: string } }): string => metadata?.name ?? '';

describe.each([
  ['forwards', DAY],
  ['backwards', -DAY],
])('a clock that jumps %s', (_direction, jump) => {
  it('API-060 API-259 later objects have later versions, whatever their times say', async () => {
    const before = await server.post(configMaps, configMap('a'));
    clock.jump(jump);
    const after = await server.post(configMaps, configMap('b'));
    expect(after.json.metadata?.creationTimestamp).toBe(
      new Date(Date.parse('2026-11-21T12:00:00Z') + jump).toISOString().replace('.000', ''),
    );
    expect(Number(after.json.metadata?.resourceVersion)).toBeGreaterThan(Number(before.json.metadata?.resourceVersion));
    const patched = await server.patch(`${configMaps}/a`, { data: { k: 'v' } });
    expect(patched.json.metadata?.creationTimestamp).toBe('2026-11-21T12:00:00Z');
    const table = await server.get(configMaps, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' });
    expect(table.json.rows).toHaveLength(2);
  });

  it('API-249 API-252 an object that is being deleted stays so, with the same uid, and its finalizer can be removed', async () => {
    const finalizers = ['example.com/f'];
    const made = await server.post(configMaps, configMap('a', { metadata: { finalizers } }));
    const deleted = await server.delete(`${configMaps}/a`);
    expect(deleted.json.metadata?.deletionTimestamp).toBe('2026-11-21T12:00:00Z');
    clock.jump(jump);
    const again = await server.delete(`${configMaps}/a`);
    expect(again.status).toBe(200);
    expect(again.json.metadata).toMatchObject({
      uid: made.json.metadata?.uid,
      finalizers,
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 0,
    });
    expect((await server.patch(`${configMaps}/a`, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await server.get(`${configMaps}/a`)).status).toBe(404);
  });

  it('API-311 API-312 API-313 a pod that is shutting down can be shortened and ended', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' };
    await server.post(`${ns}/pods`, { metadata: { name: 'p' }, spec });
    const started = await server.delete(`${ns}/pods/p`, { gracePeriodSeconds: 300 });
    expect(started.json.metadata).toMatchObject({
      deletionTimestamp: '2026-11-21T12:05:00Z',
      deletionGracePeriodSeconds: 300,
    });
    clock.jump(jump);
    expect((await server.delete(`${ns}/pods/p`)).json).toEqual(started.json);
    const shorter = await server.delete(`${ns}/pods/p`, { gracePeriodSeconds: 10 });
    expect(shorter.json.metadata?.deletionGracePeriodSeconds).toBe(jump > 0 ? 1 : 10);
    expect(Date.parse(shorter.json.metadata?.deletionTimestamp ?? '')).toBeGreaterThanOrEqual(
      jump > 0 ? clock.now() : Date.parse('2026-11-21T12:00:10Z'),
    );
    expect((await server.delete(`${ns}/pods/p`, { gracePeriodSeconds: 0 })).status).toBe(200);
    expect((await server.get(`${ns}/pods/p`)).status).toBe(404);
  });

  it('API-127 API-128 a watch lasts as long as it was asked for, and its bookmarks come in time', async () => {
    const watch = await server.watch(
      `${configMaps}?watch=1&timeoutSeconds=120&allowWatchBookmarks=true&resourceVersion=1`,
    );
    const events: string[] = [];
    const reading = (async () => {
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
        events.push(`${event.type} ${nameOf(event.object)}`);
      }
      events.push('end');
    })();
    await clock.fake.advanceAsync(MINUTE - 1);
    clock.jump(jump);
    await server.post(configMaps, configMap('a'));
    await clock.fake.advanceAsync(1);
    expect(events).toEqual(['ADDED a', 'BOOKMARK ']);
    clock.jump(-jump);
    await clock.fake.advanceAsync(MINUTE - 1);
    expect(events).toEqual(['ADDED a', 'BOOKMARK ', 'BOOKMARK ']);
    await clock.fake.advanceAsync(1);
    await reading;
    expect(events.at(-1)).toBe('end');
  });

  it('API-006 a request has the time it has', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = await startTestServer({ clock, admission: [{ name: 'Slow', admit: () => held }] });
    const post = slow.post(configMaps, configMap('a'));
    await clock.fake.settle();
    clock.jump(jump);
    await clock.fake.advanceAsync(33_999);
    let answered = false;
    void post.then(() => (answered = true));
    await clock.fake.settle();
    expect(answered).toBe(false);
    await clock.fake.advanceAsync(1);
    expect((await post).status).toBe(504);
    release();
  });

  it('API-564 LIFE-508 events live an hour from their last write', async () => {
    const event = (name: string, extra: object = {}) => ({
      metadata: { name, namespace: 'default' },
      involvedObject: { namespace: 'default' },
      ...extra,
    });
    const left = async (): Promise<string[]> => (await server.get(`${ns}/events`)).json.items.map(nameOf);
    // The server's own sweep runs once a minute.
    await clock.fake.advanceAsync(5 * MINUTE);
    await server.post(`${ns}/events`, event('quiet'));
    await server.post(`${ns}/events`, event('written'));
    await server.post(`${ns}/events`, event('future', { lastTimestamp: '2099-01-01T00:00:00Z' }));
    clock.jump(jump);
    await clock.fake.advanceAsync(40 * MINUTE);
    expect(await left()).toEqual(['future', 'quiet', 'written']);
    await server.patch(`${ns}/events/written`, { count: 2 });
    await clock.fake.advanceAsync(22 * MINUTE);
    expect(await left()).toEqual(['written']);
    clock.jump(-jump);
    await clock.fake.advanceAsync(17 * MINUTE);
    expect(await left()).toEqual(['written']);
    await clock.fake.advanceAsync(25 * MINUTE);
    expect(await left()).toEqual([]);
  });
});

describe('events of an earlier run', () => {
  it('API-564 go an hour after their own times, or after an hour of this one', async () => {
    const event = (name: string, extra: object = {}) => ({
      metadata: { name },
      involvedObject: { namespace: 'default' },
      ...extra,
    });
    await server.post(`${ns}/events`, event('old'));
    await server.post(`${ns}/events`, event('future', { lastTimestamp: '2099-01-01T00:00:00Z' }));
    await server.server.stop();
    clock.fake.advance(2 * HOUR);
    const expiry = new EventExpiry({ store: server.store, clock, logger: silentLogger });
    expect(await expiry.sweep()).toBe(1);
    clock.fake.advance(HOUR - 1);
    expect(await expiry.sweep()).toBe(0);
    clock.fake.advance(1);
    expect(await expiry.sweep()).toBe(1);
  });
});
