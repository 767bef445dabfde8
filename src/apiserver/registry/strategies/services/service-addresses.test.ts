import { expect, it } from 'vitest';
import { FakeClock } from '../../../../base/time/fake-clock.ts';
import { seededRandom } from '../../../../base/random/random.ts';
import type { Store } from '../../../storage/interface.ts';
import { openMemoryStore } from '../../../storage/embedded/memory-store.ts';
import { objectKey } from '../../../storage/storage-keys.ts';
import { encodeStored } from '../../../storage/stored-object.ts';
import { ServiceAddresses } from './service-addresses.ts';

const services = { group: '', resource: 'services', namespaced: true };

it('an address stored during a read of an older state stays taken', async () => {
  const clock = new FakeClock();
  const memory = openMemoryStore({ clock });
  let held: Promise<void> | undefined;
  const store: Store = Object.assign(Object.create(memory) as Store, {
    create: memory.create.bind(memory),
    async list(prefix: string) {
      const found = await memory.list(prefix);
      await held;
      return found;
    },
  });
  const addresses = new ServiceAddresses({ store, clock, random: seededRandom(1) });
  await addresses.load();
  const metadata = { name: 'a', namespace: 'default' };
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_100 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec };
  expect(await addresses.reservePort(30_100, 'p', addresses.begin(service))).toBeUndefined();

  // Reserves a port for no service; because of this mark the next request for the port reads the store.
  await addresses.reservePort(30_080, 'p');
  let open: () => void = () => undefined;
  held = new Promise((resolve) => (open = resolve));
  const looking = addresses.reservePort(30_080, 'p');
  await new Promise((resolve) => setImmediate(resolve));
  await store.create(objectKey(services, 'default', 'a'), encodeStored(service));
  addresses.ended(service, 'stored');
  await new Promise((resolve) => setImmediate(resolve));
  open();
  expect(await looking).toBeUndefined();
  expect((await addresses.reservePort(30_100, 'p'))?.message).toContain('provided port is already allocated');

  const { kv } = await memory.get(objectKey(services, 'default', 'a'));
  await memory.delete(objectKey(services, 'default', 'a'), kv?.modRevision ?? 0);
  addresses.release({ ...service });
  expect(await addresses.reservePort(30_100, 'p')).toBeUndefined();
});

it('a deletion frees no address that another service has by then', async () => {
  const store = openMemoryStore({ clock: new FakeClock() });
  const addresses = new ServiceAddresses({ store, clock: new FakeClock(), random: seededRandom(1) });
  await addresses.load();
  const named = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_100 }] },
  });
  const [a, b] = [named('a'), named('b')];
  expect(await addresses.reservePort(30_100, 'p', addresses.begin(a))).toBeUndefined();
  // Service a was stored, and is deleted already.
  addresses.ended(a, 'stored');
  await new Promise((resolve) => setImmediate(resolve));
  expect(await addresses.reservePort(30_100, 'p', addresses.begin(b))).toBeUndefined();
  addresses.release({ ...a });
  expect((await addresses.reservePort(30_100, 'p'))?.message).toContain('provided port is already allocated');
});

it('marks of what nobody has any more are forgotten when there are many', async () => {
  const store = openMemoryStore({ clock: new FakeClock() });
  const list = store.list.bind(store);
  let looks = 0;
  store.list = (...asked) => {
    looks++;
    return list(...asked);
  };
  const addresses = new ServiceAddresses({ store, clock: new FakeClock(), random: seededRandom(1) });
  for (let i = 0; i < 10_000; i++) {
    await addresses.load();
    const clusterIP = await addresses.allocateAddress();
    addresses.release({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { clusterIP } });
  }
  // One at the start, and one for each 4096 released addresses.
  expect(looks).toBe(3);
});

it('a store that could not be read the first time is read the next time', async () => {
  const clock = new FakeClock();
  const memory = openMemoryStore({ clock });
  let broken = true;
  const store: Store = Object.assign(Object.create(memory) as Store, {
    list: (prefix: string) => (broken ? Promise.reject(new Error('no leader')) : memory.list(prefix)),
  });
  const addresses = new ServiceAddresses({ store, clock, random: seededRandom(1) });
  await expect(addresses.load()).rejects.toThrow('no leader');
  broken = false;
  await expect(addresses.load()).resolves.toBeUndefined();
});
