import { beforeEach, describe, expect, it } from 'vitest';
import {
  configMap,
  configMaps,
  type Json,
  startTestServer,
  type TestServer,
} from '../../../src/apiserver/test/test-server.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';

/** The requests of client-go and kubectl, in their order. */

let clock: FakeClock;
let server: TestServer;
beforeEach(async () => {
  clock = new FakeClock();
  server = await startTestServer({ clock });
});

const ns = '/api/v1/namespaces/default';
const namesOf = (list: Json): unknown[] => list.items.map(({ metadata }) => metadata?.name);

describe('leader election', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const lease = (holderIdentity: string, metadata: object = { name: 'l' }, leaseTransitions = 0) => ({
    metadata,
    spec: {
      holderIdentity,
      leaseTransitions,
      leaseDurationSeconds: 15,
      acquireTime: '2026-11-21T12:00:00.5Z',
      renewTime: '2026-11-21T12:00:00.123456Z',
    },
  });

  it('API-563 one candidate makes the lease, renewals carry its version, who comes late gets a conflict', async () => {
    expect((await server.get(`${leases}/l`)).status).toBe(404);
    const [first, second] = await Promise.all([server.post(leases, lease('a')), server.post(leases, lease('b'))]);
    expect([first.status, second.status].toSorted()).toEqual([201, 409]);
    const { json: held } = await server.get(`${leases}/l`);
    expect(held['spec']).toMatchObject({
      acquireTime: '2026-11-21T12:00:00.500000Z',
      renewTime: '2026-11-21T12:00:00.123456Z',
    });
    const renewed = await server.put(`${leases}/l`, { ...held, ...lease('a', held.metadata, 1) });
    expect(renewed.status).toBe(200);
    const late = await server.put(`${leases}/l`, { ...held, ...lease('b', held.metadata, 1) });
    expect([late.status, late.json.reason]).toEqual([409, 'Conflict']);
    expect((await server.put(`${leases}/l`, lease('b'))).status).toBe(422);
  });
});

describe('reflectors', () => {
  it('API-560 list any state, watch from it, list anew after 410, without a version', async () => {
    for (const name of ['a', 'b']) await server.post(configMaps, configMap(name));
    const { json: list } = await server.get(`${configMaps}?limit=500&resourceVersion=0`);
    expect(namesOf(list)).toEqual(['a', 'b']);
    const query = `allowWatchBookmarks=true&timeout=8m1s&timeoutSeconds=481&watch=true`;
    const watch = await server.watch(`${configMaps}?${query}&resourceVersion=${list.metadata?.resourceVersion}`);
    await server.delete(`${configMaps}/a`);
    await server.post(configMaps, configMap('c'));
    expect(await watch.summary(2)).toEqual(['DELETED a', 'ADDED c']);
    watch.close();
    await server.post(configMaps, configMap('d'));
    await server.store.compact(await server.store.currentRevision());
    // A server that starts now remembers nothing; one that ran would still know.
    const restarted = await startTestServer({ clock, store: server.store });
    const expired = await restarted.watch(`${configMaps}?${query}&resourceVersion=${list.metadata?.resourceVersion}`);
    expect(await expired.next()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    expect(namesOf((await server.get(`${configMaps}?limit=500&resourceVersion=`)).json)).toEqual(['b', 'c', 'd']);
  });

  it('API-560 WatchList gives the same state and the same changes', async () => {
    for (const name of ['a', 'b']) await server.post(configMaps, configMap(name));
    const query = 'allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true';
    const watch = await server.watch(`${configMaps}?${query}`);
    expect(await watch.summary(3)).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK ']);
    await server.delete(`${configMaps}/a`);
    expect(await watch.summary(1)).toEqual(['DELETED a']);
    watch.close();
  });

  it('API-566 metadata of everything that can be listed, with what deletion rests on', async () => {
    const owner = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'o',
      uid: 'u',
      blockOwnerDeletion: true,
      controller: true,
    };
    const metadata = {
      name: 'a',
      labels: { l: 'x' },
      annotations: { a: 'x' },
      finalizers: ['example.com/f'],
      ownerReferences: [owner],
    };
    await server.post(`${configMaps}?fieldManager=m`, { metadata, data: { k: 'v' } });
    await server.delete(`${configMaps}/a`);
    const as = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
    const { json: list } = await server.get(configMaps, { accept: as('PartialObjectMetadataList') });
    expect(list.items[0]).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata: {
        ...metadata,
        deletionTimestamp: expect.any(String),
        deletionGracePeriodSeconds: 0,
        managedFields: [{ manager: 'm' }],
      },
    });
    expect(list.items[0]).not.toHaveProperty('data');
    for (const info of server.server.resources.resources().filter(({ verbs }) => verbs.includes('list'))) {
      const group = info.group === '' ? '/api' : `/apis/${info.group}`;
      const { status, json } = await server.get(`${group}/${info.version}/${info.resource}`, {
        accept: as('PartialObjectMetadataList'),
      });
      expect([info.resource, status, json.kind]).toEqual([info.resource, 200, 'PartialObjectMetadataList']);
    }
  });
});

describe('small things', () => {
  it('API-079 selfLink is never set, clusterName unknown', async () => {
    const body = { metadata: { name: 'a', selfLink: '/x', clusterName: 'c' } };
    const { status, json, headers } = await server.post(configMaps, body);
    expect([status, headers['warning']]).toEqual([201, [String.raw`299 - "unknown field \"metadata.clusterName\""`]]);
    for (const field of ['selfLink', 'clusterName']) expect(json.metadata).not.toHaveProperty(field);
    const updated = await server.patch(`${configMaps}/a`, { metadata: { selfLink: '/y' } });
    expect(updated.json.metadata).not.toHaveProperty('selfLink');
  });

  it('API-258 an option that only helps broken stores changes nothing', async () => {
    await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/f'] } }));
    const option = 'ignoreStoreReadErrorWithClusterBreakingPotential';
    for (const [target, body] of [
      [`${configMaps}/a?${option}=true`, undefined],
      [`${configMaps}/a`, { [option]: true }],
    ] as const) {
      const { status, json } = await server.delete(target, body);
      expect([status, json.metadata?.finalizers]).toEqual([200, ['example.com/f']]);
    }
  });

  it('API-316 API-320 what kubectl asks of a pod that no node runs', async () => {
    await server.post(`${ns}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    expect((await server.get(`${ns}/pods/p/log`)).status).toBe(204);
    const refused = await server.get(`${ns}/pods/p/exec?command=ls`);
    expect([refused.status, refused.json.message]).toEqual([400, 'pod p does not have a host assigned']);
    await server.post(`${ns}/pods/p/binding`, { metadata: { name: 'p' }, target: { name: 'n' } });
    for (const what of ['log', 'exec', 'attach', 'portforward', 'proxy']) {
      expect([what, (await server.get(`${ns}/pods/p/${what}`)).json.reason]).toEqual([what, 'ServiceUnavailable']);
    }
  });
});
