import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../base/time/clock.ts';
import { FakeClock } from '../../../../base/time/fake-clock.ts';
import { silentLogger } from '../../../../base/logs/logger.ts';
import { seededRandom } from '../../../../base/random/random.ts';
import type { Store } from '../../../storage/interface.ts';
import { openMemoryStore } from '../../../storage/embedded/memory-store.ts';
import { objectKey } from '../../../storage/storage-keys.ts';
import { encodeStored } from '../../../storage/stored-object.ts';
import { EtcdMember } from '../../../storage/etcd/etcd-member.fixture.ts';
import { claimPrefix, StoredAddressClaims } from './address-claims.ts';
import { ClaimSweep } from './claim-sweep.ts';
import { ServiceAddresses } from './service-addresses.ts';

const services = { group: '', resource: 'services', namespaced: true };

function gate(): { readonly open: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const open = new Promise<void>((done) => (resolve = done));
  return { open, resolve };
}

describe('addresses of services over a store that several servers write to', () => {
  let clock: FakeClock;
  let store: Store;
  beforeEach(() => {
    clock = new FakeClock();
    store = Object.assign(openMemoryStore({ clock }), { writers: 'several servers' } as const);
  });

  /** A server in another process would share the store and nothing else. */
  async function server(seed: number): Promise<ServiceAddresses> {
    const addresses = new ServiceAddresses({ store, clock, random: seededRandom(seed) });
    await addresses.load();
    return addresses;
  }

  async function settle<T>(work: Promise<T>): Promise<T> {
    const state = { done: false };
    void work.finally(() => (state.done = true));
    while (!state.done) {
      await new Promise((next) => setImmediate(next));
      clock.advance(10);
    }
    return work;
  }

  async function save(name: string, spec: object): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec };
    await store.create(objectKey(services, 'default', name), encodeStored(object));
  }

  const claims = async (): Promise<string[]> =>
    [
      ...(await store.list(claimPrefix('serviceips'))).items,
      ...(await store.list(claimPrefix('servicenodeports'))).items,
    ].map(({ key }) => key.slice('/registry/ranges/'.length));

  const service = (spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec });
  const dns = service({
    type: 'NodePort',
    ports: [
      { port: 53, protocol: 'TCP', nodePort: 30_053 },
      { port: 53, protocol: 'UDP', nodePort: 30_053 },
    ],
  });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 1));

  const web = service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_053 }] });

  it('two servers that choose the same never give it out twice', async () => {
    // The same seed: both try the same addresses in the same order.
    const [a, b] = await Promise.all([server(7), server(7)]);
    const given = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? a : b).allocateAddress()));
    expect(new Set(given).size).toBe(40);
    const ports = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? a : b).allocatePort()));
    expect(new Set(ports).size).toBe(40);
  });

  it('one address asked for on two servers goes to one of them', async () => {
    const [a, b] = await Promise.all([server(1), server(2)]);
    const findings = await settle(
      Promise.all([a.reserveAddress('10.96.0.50', 'p'), b.reserveAddress('10.96.0.50', 'p')]),
    );
    expect(findings.filter((finding) => finding === undefined)).toHaveLength(1);
    expect(findings.find((finding) => finding !== undefined)?.message).toContain('already allocated');
    const ports = await settle(Promise.all([a.reservePort(30_100, 'p'), b.reservePort(30_100, 'p')]));
    expect(ports.filter((finding) => finding === undefined)).toHaveLength(1);
  });

  it('an address that one server releases can belong to another one a moment later', async () => {
    const [a, b] = await Promise.all([server(1), server(2)]);
    expect(await a.reserveAddress('10.96.0.50', 'p')).toBeUndefined();
    const waiting = b.reserveAddress('10.96.0.50', 'p');
    a.release(service({ clusterIP: '10.96.0.50' }));
    expect(await settle(waiting)).toBeUndefined();
    expect(await claims()).toEqual(['serviceips/10.96.0.50']);
  });

  it('a port of two protocols is released once, so that another service’s claim stays', async () => {
    const [a, b] = await Promise.all([server(1), server(2)]);
    await a.reservePort(30_053, 'p');
    const opened = gate();
    const get = store.get.bind(store);
    store.get = async (key) => {
      await opened.open;
      return get(key);
    };
    a.release(dns);
    const waiting = b.reservePort(30_053, 'p');
    opened.resolve();
    expect(await settle(waiting)).toBeUndefined();
    await settled();
    expect(await claims()).toEqual(['servicenodeports/30053']);
  });

  it('every claim of a stored service is released, whichever server made it', async () => {
    const [a, b, c] = await Promise.all([server(1), server(2), server(3)]);
    await a.reservePort(30_053, 'p');
    b.release(web);
    expect(await settle(b.reservePort(30_053, 'p'))).toBeUndefined();
    a.release(web);
    await settled();
    expect(await claims()).toEqual([]);
    expect(await settle(c.reservePort(30_053, 'p'))).toBeUndefined();
  });

  it('a service that was not stored releases only its own claims', async () => {
    const [a, b] = await Promise.all([server(1), server(2)]);
    const next = service({});
    await a.reservePort(30_053, 'p', a.begin(next));
    // As the sweep does when a request takes very long.
    b.release(web);
    expect(await settle(b.reservePort(30_053, 'p'))).toBeUndefined();
    a.ended(next, 'not stored');
    await settled();
    expect(await claims()).toEqual(['servicenodeports/30053']);
  });

  it('two servers never both get the same claim, also when the answer to an attempt was lost', async () => {
    const member = await EtcdMember.start();
    const [one, two] = [1, 2].map(
      (seed) => new StoredAddressClaims({ store: member.store(seed), clock: systemClock, random: seededRandom(seed) }),
    );
    let given: unknown;
    member.next(['lost'], async () => {
      given = await two?.claim('servicenodeports', '30080');
    });
    await expect(one?.claim('servicenodeports', '30080')).rejects.toThrow('is not known');
    expect(given).toBe(2);
    await member.close();
  });

  it('a full range is reported, also when it is full of claims without services', async () => {
    for (let port = 30_000; port <= 32_767; port++) {
      await store.create(`${claimPrefix('servicenodeports')}${port}`, Buffer.from('{}'));
    }
    expect(await (await server(1)).allocatePort()).toBeUndefined();
  });

  it('the sweep returns what two rounds found without a service, and nothing younger or used', async () => {
    const addresses = await server(1);
    for (const last of [1, 2, 3]) await addresses.reserveAddress(`10.96.1.${last}`, 'p');
    await addresses.reservePort(30_001, 'p');
    const ports = [{ port: 1, nodePort: 30_001 }];
    await save('used', { type: 'NodePort', clusterIP: '10.96.1.1', clusterIPs: ['10.96.1.1'], ports });
    const sweep = new ClaimSweep({ store, clock, logger: silentLogger });
    expect(await sweep.sweep()).toEqual({ returned: 0, made: 0 });
    // Released and taken again in between: another request is in progress.
    addresses.release(service({ clusterIP: '10.96.1.3' }));
    expect(await settle(addresses.reserveAddress('10.96.1.3', 'p'))).toBeUndefined();
    expect(await sweep.sweep()).toEqual({ returned: 1, made: 0 });
    expect(await claims()).toEqual(['serviceips/10.96.1.1', 'serviceips/10.96.1.3', 'servicenodeports/30001']);
  });

  it('the sweep makes claims for services that have none; headless ones need none', async () => {
    await save('kubernetes', { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'] });
    await save('headless', { clusterIP: 'None', clusterIPs: ['None'] });
    const sweep = new ClaimSweep({ store, clock, logger: silentLogger });
    expect(await sweep.sweep()).toEqual({ returned: 0, made: 1 });
    expect(await claims()).toEqual(['serviceips/10.96.0.1']);
  });

  it('the sweep makes no claim for what stands in a service whose type cannot have it', async () => {
    await save('name', { type: 'ExternalName', clusterIP: '10.96.1.1', ports: [{ port: 1, nodePort: 30_001 }] });
    expect(await new ClaimSweep({ store, clock, logger: silentLogger }).sweep()).toEqual({ returned: 0, made: 0 });
  });

  it('one server alone claims nothing in the store', async () => {
    const alone = openMemoryStore({ clock });
    const addresses = new ServiceAddresses({ store: alone, clock, random: seededRandom(1) });
    await addresses.load();
    const before = await alone.currentRevision();
    await addresses.allocateAddress();
    await addresses.reservePort(30_000, 'p');
    expect(await alone.currentRevision()).toBe(before);
  });
});
