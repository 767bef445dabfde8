import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logs/logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { IdentityLease, isExpiredIdentity } from '../bootstrap/identity-lease.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import type { Store } from '../storage/interface.ts';
import { startTestServer } from './test-server.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const HOUR = 3_600_000;

interface Lease {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: Record<string, string> };
  readonly spec: { readonly holderIdentity: string; readonly leaseDurationSeconds: number; readonly renewTime: string };
}

let clock: FakeClock;
let memory: Store;
let look: () => Promise<readonly Lease[]>;

beforeEach(async () => {
  clock = new FakeClock();
  memory = openMemoryStore({ clock });
  // This server shows the leases to clients, and has none: the store is its own.
  const server = await startTestServer({ store: memory });
  look = async () => ((await server.get(LEASES)).json as unknown as { items: Lease[] }).items;
});

const random = seededRandom(1);
const shared = (): Store => Object.assign(memory, { writers: 'several servers' } as const);
const server = (identity: string, store = shared()): IdentityLease =>
  new IdentityLease({ store, clock, random, logger: silentLogger, identity: () => identity });

describe('LIFE-204 the leases of API servers', () => {
  it('are written, renewed every 10 s and valid for an hour, one for each server of a store', async () => {
    await Promise.all([server('one:6443').start(), server('two:6443').start()]);
    const before = await look();
    expect(before).toHaveLength(2);
    for (const { metadata, spec } of before) {
      expect(metadata.name).toMatch(/^apiserver-[0-9a-f]{32}$/);
      expect(metadata.labels).toEqual({ 'apiserver.kubernetes.io/identity': 'kube-apiserver' });
      expect(spec.leaseDurationSeconds).toBe(3600);
      expect(spec.holderIdentity.startsWith(`${metadata.name}_`)).toBe(true);
    }
    await clock.advanceAsync(10_000);
    const after = await look();
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
    const renewals = after.map(
      ({ spec }, index) => Date.parse(spec.renewTime) - Date.parse(before[index]!.spec.renewTime),
    );
    expect(renewals).toEqual([10_000, 10_000]);
  });

  it('do not exist where a server has its store for itself, which writes nothing while nothing changes', async () => {
    await server('one:6443', memory).start();
    const revision = await memory.currentRevision();
    await clock.advanceAsync(2 * HOUR);
    expect(await look()).toEqual([]);
    expect(await memory.currentRevision()).toBe(revision);
  });

  it('are replaced by a server that starts again, and deleted by one that stops', async () => {
    await server('one:6443').start();
    const [first] = await look();
    const again = server('one:6443');
    await again.start();
    const [second, ...more] = await look();
    expect(more).toEqual([]);
    expect(second?.metadata.name).toBe(first?.metadata.name);
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
    await again.stop();
    expect(await look()).toEqual([]);
  });

  it('are created again when somebody deletes them', async () => {
    await server('one:6443').start();
    const { items } = await memory.list('/registry/coordination.k8s.io/leases/kube-system/');
    await memory.delete(items[0]!.key, items[0]!.modRevision);
    await clock.advanceAsync(10_000);
    expect(await look()).toHaveLength(1);
  });

  it('are deleted within two hours after their server died, by another one', async () => {
    const died = server('died:6443');
    await died.start();
    const lives = server('lives:6443');
    await lives.start();
    const names = async () => (await look()).map(({ metadata }) => metadata.name);
    expect(await names()).toHaveLength(2);
    // The process of the first dies: its timers fire no longer.
    const [dead] = (await memory.list('/registry/coordination.k8s.io/leases/kube-system/')).items;
    await died.stop();
    await memory.create(dead!.key, dead!.value);
    expect(await names()).toHaveLength(2);
    await clock.advanceAsync(HOUR);
    expect(await names()).toHaveLength(2);
    await clock.advanceAsync(HOUR);
    expect(await names()).toHaveLength(1);
    await lives.stop();
    expect(await names()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('stay if their server renews them while another one deletes what is over', async () => {
    const slow = server('slow:6443');
    await slow.start();
    const { items } = await memory.list('/registry/coordination.k8s.io/leases/kube-system/');
    const { key, value } = items[0]!;
    await slow.stop();
    await memory.create(key, value);
    const lives = server('lives:6443');
    await lives.start();
    let renewed = 0;
    const get = memory.get.bind(memory);
    Object.assign(memory, {
      get: async (name: string) => {
        const { kv } = await get(name);
        if (name === key && kv !== undefined && renewed++ === 0) {
          const lease = JSON.parse(Buffer.from(value).toString()) as Lease;
          const spec = { ...lease.spec, renewTime: new Date(clock.now()).toISOString() };
          await memory.update(key, Buffer.from(JSON.stringify({ ...lease, spec })), kv.modRevision);
        }
        return get(name);
      },
    });
    await clock.advanceAsync(2 * HOUR);
    expect(renewed).toBe(1);
    expect((await look()).map(({ metadata }) => metadata.name)).toContain(key.split('/').at(-1));
    await lives.stop();
  });

  it('go on after a failure of the store', async () => {
    let broken = false;
    const get = memory.get.bind(memory);
    Object.assign(memory, {
      get: (key: string) => (broken ? Promise.reject(new Error('no quorum')) : get(key)),
    });
    await server('one:6443').start();
    broken = true;
    await clock.advanceAsync(30_000);
    broken = false;
    await clock.advanceAsync(10_000);
    expect(Date.parse((await look())[0]!.spec.renewTime)).toBe(clock.now());
  });
});

describe('LIFE-204 the expiry of such a lease', () => {
  const lease = (
    spec: Record<string, unknown>,
    labels: Record<string, string> = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' },
  ) => ({
    metadata: { name: 'x', labels },
    spec,
  });
  const now = Date.UTC(2026, 0, 1, 12);
  it.each([
    ['renewed in time', lease({ leaseDurationSeconds: 3600, renewTime: '2026-01-01T11:00:00.000000Z' }), false],
    ['over', lease({ leaseDurationSeconds: 3600, renewTime: '2026-01-01T10:59:59.999000Z' }), true],
    ['never renewed', lease({ leaseDurationSeconds: 3600 }), true],
    ['without a duration', lease({ renewTime: '2026-01-01T11:59:59.000000Z' }), true],
    ['of another program', lease({}, { 'apiserver.kubernetes.io/identity': 'other' }), false],
    ['without the label', lease({}, {}), false],
  ])('%s', (_, object, expected) => {
    expect(isExpiredIdentity(object, now)).toBe(expected);
  });
});
