import { expect, it, vi } from 'vitest';
import { MemoryLogger } from '../../../../base/logs/memory-logger.ts';
import { seededRandom } from '../../../../base/random/random.ts';
import { FakeClock } from '../../../../base/time/fake-clock.ts';
import { openMemoryStore } from '../../../storage/embedded/memory-store.ts';
import { objectKey } from '../../../storage/storage-keys.ts';
import { encodeStored } from '../../../storage/stored-object.ts';
import { IpAddressKeeper } from './ip-address-keeper.ts';

it('API-513 the keeper of IPAddresses writes nothing more after a stop, even if it is started again', async () => {
  const clock = new FakeClock();
  const store = openMemoryStore({ clock });
  for (const [name, clusterIP] of [
    ['a', '10.96.0.7'],
    ['b', '10.96.0.8'],
  ] as const) {
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec: { clusterIP } };
    await store.create(
      objectKey({ group: '', resource: 'services', namespaced: true }, 'default', name),
      encodeStored(object),
    );
  }
  const keeper = new IpAddressKeeper({ store, clock, random: seededRandom(1), logger: new MemoryLogger() });
  const create = store.create.bind(store);
  vi.spyOn(store, 'create').mockImplementation(async (...write) => {
    // The server is stopped during the first write.
    keeper.stop();
    void keeper.start();
    return await create(...write);
  });
  await keeper.start();
  const { items } = await store.list('/registry/networking.k8s.io/ipaddresses/');
  expect(items).toHaveLength(1);
});
